// nonzero, count_nonzero and boolean selection.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "chainerx/kernels/index/indexing.h"
#include "chainerx/native/index/compress_loops.h"
#include "chainerx/native/isa.h"
#include "chainerx/native/native_kernel.h"

namespace chainerx::native {

CX_DISPATCH(compress, CompressLoops)

namespace {

const uint8_t* MaskOf(const Array& x) { return reinterpret_cast<const uint8_t*>(x.raw_data()); }

void NonzeroCount(const Array& x, const Array& count) {
    const uint8_t* p = MaskOf(x);
    int64_t total = 0;
    ForChunks(x.GetTotalSize(), [&](int64_t begin, int64_t end) {
        total += compress_loops().count(p + begin, end - begin);
    });
    *reinterpret_cast<int64_t*>(count.raw_data()) = total;
}
CX_NATIVE_KERNEL(NonzeroCount)

// Writes the positions of the first `room` true ones among p[0], ..., p[n - 1] to `to`, and returns
// their number.
int64_t FindTrue(const uint8_t* p, int64_t n, int64_t* to, int64_t room) {
    int64_t found = 0;
    ForChunks(n, [&](int64_t begin, int64_t end) {
        found += compress_loops().places(p + begin, end - begin, begin, to + found, room - found);
    });
    return found;
}

void Nonzero(const Array& x, const Array& out) {
    const uint8_t* p = MaskOf(x);
    auto* to = reinterpret_cast<int64_t*>(out.raw_data());
    const int64_t count = out.shape()[1];
    if (count == 0) return;
    const int last = x.ndim() - 1;
    const int64_t length = x.shape()[last];
    int64_t index[kMaxNdim] = {};
    const uint8_t* const end = p + x.GetTotalSize();
    int64_t found = 0;
    for (; found < count && p < end; p += length) {
        const int64_t begin = found;
        found += FindTrue(p, length, to + last * count + found, count - found);
        for (int d = 0; d < last; ++d) {
            std::fill(to + d * count + begin, to + d * count + found, index[d]);
        }
        for (int d = last - 1; d >= 0 && ++index[d] == x.shape()[d]; --d) index[d] = 0;
    }
    // There are fewer than counted if another thread has written to the array meanwhile.
    for (int d = 0; d <= last; ++d) std::fill(to + d * count + found, to + (d + 1) * count, 0);
}
CX_NATIVE_KERNEL(Nonzero)

// Each block writes to its own range, which follows from the counts of the blocks before.
void Compress(const Array& x, const Array& mask, const Array& out) {
    constexpr int64_t kBlock = 1 << 16;
    const int64_t n = x.GetTotalSize();
    const int64_t blocks = CeilDiv(n, kBlock);
    const int64_t item = x.GetItemSize();
    const CompressLoops& loops = compress_loops();
    const uint8_t* p = MaskOf(mask);
    const Scratch<int64_t> ends{blocks};
    const auto part = [&](int64_t block) {
        return Range{block * kBlock, std::min(n, (block + 1) * kBlock)};
    };
    if (blocks > 1) {
        ParallelFor(blocks, [&](int64_t block) {
            ends.data()[block] = loops.count(p + part(block).begin, part(block).size());
        });
        std::partial_sum(ends.data(), ends.data() + blocks, ends.data());
    }
    ends.data()[blocks - 1] = out.GetTotalSize();
    ParallelFor(blocks, [&](int64_t block) {
        // A block never leaves its range, whatever another thread writes to the mask meanwhile.
        const int64_t end = std::min(ends.data()[block], out.GetTotalSize());
        const int64_t begin = block == 0 ? 0 : std::min(ends.data()[block - 1], end);
        char* to = out.raw_data() + begin * item;
        const int64_t kept =
            loops.ItemsOf(item)(p + part(block).begin, part(block).size(),
                                x.raw_data() + part(block).begin * item, to, end - begin);
        std::memset(to + kept * item, 0, static_cast<size_t>((end - begin - kept) * item));
    });
}
CX_NATIVE_KERNEL(Compress)

}  // namespace
}  // namespace chainerx::native
