#include "chainerx/io/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "chainerx/core/error.h"

namespace chainerx::io {

InputFile::InputFile(const std::string& path)
    : path_{path}, fd_{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)} {
    if (fd_ < 0) throw ValueError{what(), " can't be read: ", std::strerror(errno)};
    struct stat info{};
    const bool is_known = fstat(fd_, &info) == 0;
    if (!is_known || !S_ISREG(info.st_mode)) {
        close(fd_);
        throw ValueError{what(), " is no regular file"};
    }
    size_ = static_cast<uint64_t>(info.st_size);
}

InputFile::~InputFile() { close(fd_); }

std::string InputFile::what() const { return StrCat("io: \"", path_, "\""); }

void InputFile::ReadAt(uint64_t offset, void* to, uint64_t n) const {
    char* p = static_cast<char*>(to);
    while (n != 0) {
        const size_t most = std::min<uint64_t>(n, uint64_t{1} << 30);
        const ssize_t got = pread(fd_, p, most, static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw ValueError{what(), " can't be read: ", std::strerror(errno)};
        if (got == 0) {
            throw ValueError{what(), " ends after ", offset, " bytes, expected ", n, " more"};
        }
        p += got;
        offset += static_cast<uint64_t>(got);
        n -= static_cast<uint64_t>(got);
    }
}

std::string InputFile::ReadAt(uint64_t offset, uint64_t n) const {
    if (offset > size_ || n > size_ - offset) {
        throw ValueError{what(), " has ",       size_,  " bytes, expected ",
                         n,      " from byte ", offset, " on"};
    }
    std::string bytes(n, '\0');
    ReadAt(offset, bytes.data(), n);
    return bytes;
}

}  // namespace chainerx::io
