// A file that is written in order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace chainerx::io {

// It is written beside the path, and takes its place when Close() is called: a reader sees the old
// file or the new one. What is no regular file, such as a pipe, is written directly.
class OutputFile {
 public:
    // ValueError if the file can't be made.
    explicit OutputFile(const std::string& path);
    ~OutputFile();  // without Close(), nothing is left behind
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    void Write(const void* bytes, uint64_t n);
    void Write(std::string_view bytes) { Write(bytes.data(), bytes.size()); }
    // The bytes written so far.
    uint64_t size() const { return size_; }
    void Close();

 private:
    [[noreturn]] void ThrowErrno() const;

    std::string path_;       // as it was given
    std::string target_;     // what a symbolic link leads to
    std::string temporary_;  // "" if it is written directly
    int fd_{-1};
    uint64_t size_{0};
};

}  // namespace chainerx::io
