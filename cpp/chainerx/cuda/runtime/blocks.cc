// Copies of many blocks of memory in few launches. cuda/runtime/device/blocks.h computes.
#include <algorithm>

#include "chainerx/cuda/runtime/kernel.h"
#include "chainerx/cuda/runtime/params.h"

namespace chainerx::cuda {
namespace {

CX_DEVICE_KERNEL(kWriteBlocks, "runtime/device/blocks.h", BlocksParams, "WriteBlocks")

// Parameters only hold addresses; kernels read what they may not write through these, too.
void* AddressOf(const void* p) { return const_cast<void*>(p); }

}  // namespace

void CudaDevice::WriteBlocks(std::span<const Copy> copies, std::span<const Word> words) {
    Activate();
    BlocksParams params{};
    int64_t blocks = 0;
    const auto run = [&] {
        if (params.count == 0 && params.n_words == 0) return;
        kWriteBlocks.Launch(*this, {std::max<int64_t>(blocks, 1)}, params);
        params.count = 0;
        params.n_words = 0;
        blocks = 0;
    };
    for (const Word& word : words) {
        if (params.n_words == BlocksParams::kMaxWords) run();
        params.words[params.n_words++] = {word.to, word.value};
    }
    for (const Copy& copy : copies) {
        if (copy.nbytes == 0) continue;
        if (params.count == BlocksParams::kMax) run();
        params.arrays[params.count++] = {AddressOf(copy.from), copy.to, copy.nbytes, blocks};
        blocks += CeilDiv(copy.nbytes, kCopyBytes);
    }
    run();
}

}  // namespace chainerx::cuda
