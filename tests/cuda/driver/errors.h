// Inside of the driver errors are thrown as the CUresult that the call returns.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <string>

#include "chainerx/cuda/driver/types.h"

namespace chainerx::cuda {

inline void Require(bool condition, CUresult otherwise = CUDA_ERROR_INVALID_VALUE) {
    if (!condition) throw otherwise;
}

// A message.
[[gnu::format(printf, 1, 2)]] inline std::string Format(const char* format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    std::vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return text;
}

}  // namespace chainerx::cuda
