// The bytes of a whole file, in memory that is given back part by part: while weights are copied
// out of it, a model needs the memory of its file once, not twice. No mapping of the file itself,
// which another program may cut off meanwhile.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace chainerx::onnx {

class FileBytes {
 public:
    // ValueError if it can't be read.
    explicit FileBytes(const std::string& path);
    ~FileBytes();
    FileBytes(const FileBytes&) = delete;
    FileBytes& operator=(const FileBytes&) = delete;

    std::string_view view() const { return {data_, size_}; }
    // Gives memory back. The part must be one of view(), and not be read any more.
    void Release(std::string_view part);

 private:
    char* data_{nullptr};
    size_t size_{0};
};

}  // namespace chainerx::onnx
