// The stand-in for the part of cuDNN from which its version is read.
#include <cstddef>
#include <cstdlib>

extern "C" [[gnu::visibility("default")]] std::size_t cudnnGetVersion() {
    const char* version = std::getenv("CHAINERX_CUDA_TEST_CUDNN_GRAPH");
    return version != nullptr ? std::atoll(version) : 92801;
}
