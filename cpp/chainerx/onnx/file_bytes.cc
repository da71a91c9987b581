#include "chainerx/onnx/file_bytes.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>

#include "chainerx/core/error.h"

namespace chainerx::onnx {

FileBytes::FileBytes(const std::string& path) {
    std::ifstream file{path, std::ios::binary | std::ios::ate};
    const auto size = file.tellg();
    if (!file || size < 0 || std::filesystem::is_directory(path)) {
        throw ValueError{"onnx: \"", path, "\" can't be read"};
    }
    if (size == 0) return;
    const auto n = static_cast<size_t>(size);
    void* const data = mmap(nullptr, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) {
        throw OutOfMemoryError{"out of memory: \"", path, "\" has ", n, " bytes"};
    }
    file.seekg(0);
    if (!file.read(static_cast<char*>(data), size)) {
        munmap(data, n);
        throw ValueError{"onnx: \"", path, "\" can't be read"};
    }
    data_ = static_cast<char*>(data);
    size_ = n;
}

FileBytes::~FileBytes() {
    if (data_ != nullptr) munmap(data_, size_);
}

void FileBytes::Release(std::string_view part) {
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<uintptr_t>(part.data());
    const uintptr_t first = (begin + page - 1) / page * page;  // pages of this part alone
    const uintptr_t last = (begin + part.size()) / page * page;
    if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace chainerx::onnx
