// A file that is read at any place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace chainerx::io {

class InputFile {
 public:
    // ValueError if there is no such file, or it is no regular one, whose size is known.
    explicit InputFile(const std::string& path);
    ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    const std::string& path() const { return path_; }
    // What errors begin with.
    std::string what() const;
    uint64_t size() const { return size_; }
    // ValueError if the file has fewer bytes.
    void ReadAt(uint64_t offset, void* to, uint64_t n) const;
    std::string ReadAt(uint64_t offset, uint64_t n) const;

 private:
    std::string path_;
    int fd_;
    uint64_t size_{0};
};

}  // namespace chainerx::io
