#include "chainerx/io/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "chainerx/core/error.h"

namespace chainerx::io {
namespace {

std::string FollowLinks(const std::string& path) {
    char* found = realpath(path.c_str(), nullptr);
    if (found == nullptr) return path;
    std::string target{found};
    std::free(found);
    return target;
}

// A name that nothing has, in the same folder, so that renaming moves no data.
std::string NameBeside(const std::string& path, int attempt) {
    const size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
    return StrCat(folder, ".chainerx-", getpid(), "-", attempt, ".tmp");
}

constexpr int kMaxAttempts = 1000;  // names that other threads of the process have

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_{path}, target_{FollowLinks(path)} {
    struct stat old{};
    const bool is_there = stat(target_.c_str(), &old) == 0;
    if (is_there && !S_ISREG(old.st_mode)) {
        fd_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
        if (fd_ < 0) ThrowErrno();
        return;
    }
    for (int attempt = 0; fd_ < 0; ++attempt) {
        const std::string name = NameBeside(target_, attempt);
        fd_ = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd_ >= 0) {
            temporary_ = name;
        } else if (errno != EEXIST || attempt == kMaxAttempts) {
            ThrowErrno();
        }
    }
    if (is_there) fchmod(fd_, old.st_mode & 07777);  // where it can't, it stays as new files are
}

OutputFile::~OutputFile() {
    if (fd_ >= 0) close(fd_);
    if (!temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::Write(const void* bytes, uint64_t n) {
    const char* p = static_cast<const char*>(bytes);
    while (n != 0) {
        const size_t most = std::min<uint64_t>(n, uint64_t{1} << 30);
        const ssize_t written = write(fd_, p, most);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) ThrowErrno();
        p += written;
        size_ += static_cast<uint64_t>(written);
        n -= static_cast<uint64_t>(written);
    }
}

void OutputFile::Close() {
    // Some file systems tell only now that the disk is full.
    const int result = close(fd_);
    fd_ = -1;
    if (result != 0) ThrowErrno();
    if (temporary_.empty()) return;
    if (rename(temporary_.c_str(), target_.c_str()) != 0) ThrowErrno();
    temporary_.clear();
}

void OutputFile::ThrowErrno() const {
    throw ValueError{"io: \"", path_, "\" can't be written: ", std::strerror(errno)};
}

}  // namespace chainerx::io
