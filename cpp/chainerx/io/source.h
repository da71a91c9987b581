// Bytes that are read once, in order.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "chainerx/io/input_file.h"

namespace chainerx::io {

class Source {
 public:
    virtual ~Source() = default;
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;

    // What errors begin with, as in `io: "x.npz": entry "w.npy"`.
    const std::string& what() const { return what_; }
    // How many bytes are still to come.
    uint64_t left() const { return left_; }
    // ValueError if fewer are left.
    void Read(void* to, uint64_t n);

 protected:
    Source(std::string what, uint64_t size) : what_{std::move(what)}, left_{size} {}

 private:
    // n is at most left(), which is reduced when this returns.
    virtual void ReadNext(void* to, uint64_t n) = 0;

    std::string what_;
    uint64_t left_;
};

// A part of a file, which must lie within it. The file must outlive the source.
class FileSource : public Source {
 public:
    FileSource(const InputFile& file, uint64_t offset, uint64_t size, std::string what)
        : Source{std::move(what), size}, file_{file}, offset_{offset} {}

 private:
    void ReadNext(void* to, uint64_t n) override;

    const InputFile& file_;
    uint64_t offset_;
};

}  // namespace chainerx::io
