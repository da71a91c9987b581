// Errors that kernels find in values, in pinned memory that the device writes.
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/language.h"

namespace chainerx::cuda {

// What the host knows of an error before it happens. The addresses are those of literals.
struct ErrorSite {
    unsigned long long key;  // of the operation, the argument and the thread; not 0
    int32_t kind;            // KernelError::Kind
    int32_t may_ignore;
    uint64_t op;
    uint64_t argument;
    uint64_t thread;
    int64_t bound;
    int64_t ignored;
};

struct ErrorEntry {
    unsigned long long taken;  // the key of the site that has it; 0: free
    unsigned is_written;       // from then on until it is free, it is the host's
    ErrorSite site;
    int64_t position;
    int64_t value;
};

struct ErrorLog {
    unsigned has_written;
    ErrorEntry entries[64];
};

}  // namespace chainerx::cuda
