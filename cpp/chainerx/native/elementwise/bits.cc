// bit_count, packbits and unpackbits.
#include "chainerx/kernels/shape/manipulation.h"
#include "chainerx/native/elementwise/bit_loops.h"
#include "chainerx/native/elementwise/elementwise.h"
#include "chainerx/native/isa.h"
#include "chainerx/native/native_kernel.h"

namespace chainerx::native {

CX_DISPATCH(bits, BitLoops)

namespace {

const UnaryKernel kCount = [] {
    UnaryKernel kernel{{}, Cost::kLight};
    for (int i = 0; i < kNumDtypes; ++i) kernel.loops[i] = bits_loops().count[i];
    return kernel;
}();

void CountBits(const Array& x, const Array& out) { RunUnary(kCount, x, out); }
CX_NATIVE_KERNEL(CountBits)

// Splits rows of `n_bytes` packed and `n_bits` unpacked bytes at borders of packed bytes: f(packed,
// unpacked, bits of the chunk).
void RunRows(const Array& packed, const Array& unpacked, const auto& f) {
    constexpr int64_t kBlock = 1 << 16;  // bits
    if (unpacked.GetTotalSize() == 0) return;
    const int64_t n_bytes = packed.shape()[packed.ndim() - 1];
    const int64_t n_bits = unpacked.shape()[unpacked.ndim() - 1];
    auto* bytes = reinterpret_cast<uint8_t*>(packed.raw_data());
    auto* bits = reinterpret_cast<uint8_t*>(unpacked.raw_data());
    const int64_t rows = unpacked.GetTotalSize() / n_bits;
    const int64_t blocks = CeilDiv(n_bits, kBlock);
    const int64_t group = std::max<int64_t>(1, kBlock / n_bits);  // rows of a chunk
    ParallelFor(CeilDiv(rows, group) * blocks, [&](int64_t k) {
        const int64_t begin = k % blocks * kBlock;
        const int64_t n = std::min(kBlock, n_bits - begin);
        const int64_t first = k / blocks * group;
        for (int64_t r = first; r < std::min(rows, first + group); ++r) {
            f(bytes + r * n_bytes + begin / 8, bits + r * n_bits + begin, n);
        }
    });
}

void PackBits(const Array& x, bool big, const Array& out) {
    RunRows(out, x, [big](uint8_t* bytes, const uint8_t* bits, int64_t n) {
        bits_loops().pack(bits, n, big, bytes);
    });
}
CX_NATIVE_KERNEL(PackBits)

void UnpackBits(const Array& x, bool big, const Array& out) {
    RunRows(x, out, [big](const uint8_t* bytes, uint8_t* bits, int64_t n) {
        bits_loops().unpack(bytes, n / 8, big, bits);
    });
}
CX_NATIVE_KERNEL(UnpackBits)

}  // namespace
}  // namespace chainerx::native
