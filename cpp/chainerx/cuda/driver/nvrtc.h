// CUDA's runtime compiler, opened on first use.
#pragma once

#include <string>
#include <vector>

#include "chainerx/cuda/driver/library.h"
#include "chainerx/cuda/driver/types.h"

namespace chainerx::cuda {

struct Nvrtc {
#define CX_NVRTC(Name, symbol, params) nvrtcResult(*Name) params;
#include "chainerx/cuda/driver/nvrtc.def"
#undef CX_NVRTC
    FoundLibrary library;
    int major{0};
    int minor{0};
    std::vector<int> archs;  // that it makes machine code for: 90 is compute capability 9.0
};

// Throws BackendError, which says where it was looked for and how to install it.
const Nvrtc& GetNvrtc();

}  // namespace chainerx::cuda
