// Errors that kernels find in values, in pinned memory that the device writes.
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/language.h"

namespace chainerx::cuda {

// What the host knows of an error before it happens. The addresses are those of literals.
struct ErrorSite {
    int32_t kind;  // KernelError::Kind
    int32_t may_ignore;
    uint64_t op;
    uint64_t argument;
    uint64_t thread;
    int64_t bound;
    int64_t ignored;
};

struct ErrorEntry {
    ErrorSite site;
    int64_t position;
    int64_t value;
};

struct ErrorLog {
    static constexpr unsigned kSize = 16;

    unsigned count;  // may exceed kSize
    ErrorEntry entries[kSize];
};

}  // namespace chainerx::cuda
