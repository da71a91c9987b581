// Kernels that users write in CUDA C++ as it is, for chainerx.cuda.raw.
#pragma once

#include <string>

namespace chainerx::cuda::test {

// Returns the text with its shared memory in the words of test_prelude.h, and with an entry for
// each `__global__` function; as it is if it has none.
std::string TranslateRawKernels(const std::string& text);

}  // namespace chainerx::cuda::test
