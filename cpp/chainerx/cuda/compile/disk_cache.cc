#include "chainerx/cuda/compile/disk_cache.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "chainerx/core/error.h"

namespace chainerx::cuda {
namespace {

namespace fs = std::filesystem;

// In front of the code in a file.
struct Header {
    char magic[8];
    uint64_t size;
    DiskCache::Key checksum;
};
constexpr char kMagic[9] = "CXCUBIN1";
constexpr int kWritesPerCheck = 64;

// FNV-1a of 128 bits.
struct Hash {
    unsigned __int128 h{(static_cast<unsigned __int128>(0x6c62272e07bb0142) << 64) |
                        0x62b821756295c58d};
    void Add(std::string_view text) {
        constexpr auto kPrime = (static_cast<unsigned __int128>(1) << 88) | 0x13b;
        for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * kPrime;
    }
    DiskCache::Key key() const {
        return {static_cast<uint64_t>(h >> 64), static_cast<uint64_t>(h)};
    }
};

// An empty variable is none.
const char* VariableOr(const char* name, const char* otherwise) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != 0 ? value : otherwise;
}

fs::path PathOf(const DiskCache::Key& key) {
    char name[40];
    std::snprintf(name, sizeof(name), "%016llx%016llx", static_cast<unsigned long long>(key.high),
                  static_cast<unsigned long long>(key.low));
    return fs::path{DiskCache::Folder()} / "cuda" / std::string{name, 2} / (name + 2);
}

bool ReadAll(const fs::path& path, std::string& bytes) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return false;  // a pipe would wait, a device never end
    std::FILE* file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) return false;
    char buffer[1 << 16];
    size_t n;
    while ((n = std::fread(buffer, 1, sizeof(buffer), file)) != 0) bytes.append(buffer, n);
    std::fclose(file);
    return true;
}

void WriteAll(const fs::path& path, const Header& header, std::string_view code,
              std::error_code& error) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    const bool is_written = file != nullptr && std::fwrite(&header, sizeof(header), 1, file) == 1 &&
                            std::fwrite(code.data(), 1, code.size(), file) == code.size();
    if (!is_written) error = {errno, std::generic_category()};
    // A full disk may show only when the file is closed.
    if (file != nullptr && std::fclose(file) != 0 && is_written) {
        error = {errno, std::generic_category()};
    }
}

int64_t LimitInBytes() {
    const char* text = VariableOr("CHAINERX_CACHE_MB", "512");
    char* end = nullptr;
    const long megabytes = std::strtol(text, &end, 10);
    if (*end != 0 || megabytes < 0) {
        throw ValueError{"CHAINERX_CACHE_MB is '", text,
                         "', expected a number of megabytes, at least 0"};
    }
    return std::min(megabytes, 1l << 40) * 1000000;
}

// Deletes the oldest files until three quarters of the limit are in use.
void Shrink() {
    struct File {
        fs::path path;
        int64_t size;
        fs::file_time_type time;
    };
    std::error_code error;
    std::vector<File> files;
    int64_t total = 0;
    for (fs::recursive_directory_iterator it{fs::path{DiskCache::Folder()} / "cuda", error}, end;
         !error && it != end; it.increment(error)) {
        std::error_code gone;  // another process may be faster
        if (!it->is_regular_file(gone)) continue;
        const auto size = static_cast<int64_t>(it->file_size(gone));
        const auto time = it->last_write_time(gone);
        if (gone) continue;
        files.push_back({it->path(), size, time});
        total += size;
    }
    const int64_t limit = LimitInBytes();
    if (total <= limit) return;
    std::ranges::sort(files, {}, &File::time);
    for (const File& file : files) {
        if (total <= limit / 4 * 3) break;
        fs::remove(file.path, error);
        total -= file.size;
    }
}

}  // namespace

DiskCache::Key DiskCache::KeyOf(std::string_view circumstances, std::string_view text) {
    Hash hash;
    hash.Add(circumstances);
    hash.Add(std::string_view{"\0", 1});
    hash.Add(text);
    return hash.key();
}

std::string DiskCache::Folder() {
    if (const char* folder = VariableOr("CHAINERX_CACHE_DIR", nullptr)) return folder;
    if (const char* folder = VariableOr("XDG_CACHE_HOME", nullptr)) {
        return StrCat(folder, "/chainerx");
    }
    return StrCat(VariableOr("HOME", ""), "/.cache/chainerx");
}

std::string DiskCache::Find(const Key& key) {
    const fs::path path = PathOf(key);
    std::string bytes;
    if (!ReadAll(path, bytes)) return "";
    Header header{};
    if (bytes.size() > sizeof(header)) {
        std::memcpy(&header, bytes.data(), sizeof(header));
        const std::string_view code = std::string_view{bytes}.substr(sizeof(header));
        const Key checksum = KeyOf("", code);
        if (std::memcmp(header.magic, kMagic, sizeof(header.magic)) == 0 &&
            header.size == code.size() && header.checksum.high == checksum.high &&
            header.checksum.low == checksum.low) {
            return std::string{code};
        }
    }
    std::error_code error;
    fs::remove(path, error);
    return "";
}

void DiskCache::Put(const Key& key, std::string_view code) {
    static std::atomic<bool> has_failed{false};
    if (LimitInBytes() == 0 || has_failed) return;
    const fs::path path = PathOf(key);
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    Header header{{}, code.size(), KeyOf("", code)};
    std::memcpy(header.magic, kMagic, sizeof(header.magic));
    static std::atomic<int> count{0};
    const int number = count.fetch_add(1);
    const fs::path temporary = StrCat(path.string(), ".", getpid(), ".", number);
    if (!error) WriteAll(temporary, header, code, error);
    if (!error) fs::rename(temporary, path, error);
    if (error) {
        std::error_code ignored;
        fs::remove(temporary, ignored);
        if (has_failed.exchange(true)) return;
        std::fprintf(stderr,
                     "chainerx: compiled CUDA kernels can't be kept in %s (%s): every process "
                     "compiles them anew; $CHAINERX_CACHE_DIR names another folder\n",
                     Folder().c_str(), error.message().c_str());
        return;
    }
    if (number % kWritesPerCheck == 0) Shrink();
}

}  // namespace chainerx::cuda
