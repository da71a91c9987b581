#include "chainerx/io/inflate.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <type_traits>

#include "chainerx/core/error.h"

namespace chainerx::io {
namespace {

// The interface of zlib 1.x, of which no header is needed to build.
struct Stream {
    const unsigned char* next_in;
    unsigned avail_in;
    unsigned long total_in;  // NOLINT: zlib's type
    unsigned char* next_out;
    unsigned avail_out;
    unsigned long total_out;  // NOLINT
    const char* msg;
    void* state;
    void* (*zalloc)(void* opaque, unsigned items, unsigned size);
    void (*zfree)(void* opaque, void* address);
    void* opaque;
    int data_type;
    unsigned long adler;     // NOLINT
    unsigned long reserved;  // NOLINT
};

constexpr int kOk = 0;
constexpr int kStreamEnd = 1;
constexpr int kBufferError = -5;
constexpr int kNoFlush = 0;
constexpr int kRawWindowBits = -15;  // no header, the largest window

const char* LibraryName() {
    const char* name = std::getenv("CHAINERX_ZLIB");
    return name != nullptr && *name != '\0' ? name : "libz.so.1";
}

}  // namespace

struct Zlib::Functions {
    const char* (*version)();
    int (*init)(Stream* stream, int window_bits, const char* version, int size);
    int (*inflate)(Stream* stream, int flush);
    int (*end)(Stream* stream);
};

Zlib::Zlib(const std::string& what)
    : handle_{dlopen(LibraryName(), RTLD_NOW | RTLD_LOCAL)},
      functions_{std::make_unique<Functions>()} {
    if (handle_ == nullptr) {
        const char* error = dlerror();
        throw ValueError{what, " is compressed, which needs zlib ($CHAINERX_ZLIB may name it): ",
                         error != nullptr ? error : "it can't be loaded"};
    }
    const auto find = [this](auto& function, const char* name) {
        function =
            reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle_, name));
        return function != nullptr;
    };
    if (!find(functions_->version, "zlibVersion") || !find(functions_->init, "inflateInit2_") ||
        !find(functions_->inflate, "inflate") || !find(functions_->end, "inflateEnd")) {
        dlclose(handle_);
        throw ValueError{what, " is compressed, but ", LibraryName(), " is not zlib"};
    }
}

Zlib::~Zlib() { dlclose(handle_); }

struct InflatedSource::State {
    Stream stream{};
    bool is_ended{false};
    std::array<unsigned char, 1 << 16> input;
};

InflatedSource::InflatedSource(const Zlib& zlib, const InputFile& file, uint64_t offset,
                               uint64_t compressed, uint64_t size, std::string what)
    : Source{std::move(what), size},
      state_{std::make_unique<State>()},
      zlib_{zlib},
      file_{file},
      offset_{offset},
      compressed_left_{compressed} {
    const Zlib::Functions& z = zlib.functions();
    const int result = z.init(&state_->stream, kRawWindowBits, z.version(), sizeof(Stream));
    if (result != kOk) {
        throw ValueError{this->what(), ": zlib ", z.version(), " can't begin: error ", result};
    }
}

InflatedSource::~InflatedSource() { zlib_.functions().end(&state_->stream); }

void InflatedSource::RunOnce() {
    Stream& s = state_->stream;
    if (s.avail_in == 0 && compressed_left_ != 0) {
        const uint64_t n = std::min<uint64_t>(compressed_left_, state_->input.size());
        file_.ReadAt(offset_, state_->input.data(), n);
        offset_ += n;
        compressed_left_ -= n;
        s.next_in = state_->input.data();
        s.avail_in = static_cast<unsigned>(n);
    }
    const int result = zlib_.functions().inflate(&s, kNoFlush);
    if (result == kStreamEnd) {
        state_->is_ended = true;
    } else if (result == kBufferError) {
        throw ValueError{what(), ": its compressed data has no end"};
    } else if (result != kOk) {
        throw ValueError{what(),
                         ": its compressed data is broken: ", s.msg != nullptr ? s.msg : "unknown"};
    }
}

void InflatedSource::ReadNext(void* to, uint64_t n) {
    constexpr uint64_t kMostAtOnce = uint64_t{1} << 30;
    Stream& s = state_->stream;
    auto* p = static_cast<unsigned char*>(to);
    const bool is_last = n == left();
    while (n != 0) {
        const uint64_t part = std::min(n, kMostAtOnce);
        s.next_out = p;
        s.avail_out = static_cast<unsigned>(part);
        while (s.avail_out != 0) {
            if (state_->is_ended) {
                throw ValueError{what(), ": its compressed data is shorter than its size says"};
            }
            RunOnce();
        }
        p += part;
        n -= part;
    }
    if (!is_last) return;
    unsigned char more;
    s.next_out = &more;
    s.avail_out = 1;
    while (!state_->is_ended && s.avail_out == 1) RunOnce();
    if (s.avail_out != 1 || s.avail_in != 0 || compressed_left_ != 0) {
        throw ValueError{what(), ": its compressed data is longer than its size says"};
    }
}

}  // namespace chainerx::io
