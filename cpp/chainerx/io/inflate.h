// Compressed bytes, by zlib.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "chainerx/io/source.h"

namespace chainerx::io {

// zlib, which is opened when it is first needed: programs that read nothing compressed need none.
class Zlib {
 public:
    // ValueError that begins with `what` if there is none.
    explicit Zlib(const std::string& what);
    ~Zlib();
    Zlib(const Zlib&) = delete;
    Zlib& operator=(const Zlib&) = delete;

    struct Functions;
    const Functions& functions() const { return *functions_; }

 private:
    void* handle_;
    std::unique_ptr<Functions> functions_;
};

// What a raw stream of deflate (RFC 1951) has of `size` bytes. ValueError if the stream is broken,
// or does not have exactly as many.
class InflatedSource : public Source {
 public:
    InflatedSource(const Zlib& zlib, const InputFile& file, uint64_t offset, uint64_t compressed,
                   uint64_t size, std::string what);
    ~InflatedSource() override;

 private:
    void ReadNext(void* to, uint64_t n) override;
    // Inflates some of the input, after reading more if there is none.
    void RunOnce();

    struct State;
    std::unique_ptr<State> state_;
    const Zlib& zlib_;
    const InputFile& file_;
    uint64_t offset_;
    uint64_t compressed_left_;
};

}  // namespace chainerx::io
