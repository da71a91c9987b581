#include "chainerx/io/source.h"

#include "chainerx/core/error.h"

namespace chainerx::io {

void Source::Read(void* to, uint64_t n) {
    if (n > left_) {
        throw ValueError{what_, " ends too early: it has ", left_, " more bytes, expected ", n};
    }
    ReadNext(to, n);
    left_ -= n;
}

void FileSource::ReadNext(void* to, uint64_t n) {
    file_.ReadAt(offset_, to, n);
    offset_ += n;
}

}  // namespace chainerx::io
