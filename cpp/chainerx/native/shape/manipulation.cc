// concatenate.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "chainerx/kernels/shape/manipulation.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/strided/copy_bytes.h"

namespace chainerx::native {
namespace {

constexpr int64_t kParallelBytes = 512 * 1024;
// Bytes of the output in a block, to which all arrays are copied before the next block.
constexpr int64_t kBlockBytes = 32 * 1024;
constexpr int64_t kChunkBytes = 4 << 20;  // between two interrupt checks

// An input array, and the offset of its part in each row of the output.
struct Piece {
    const char* from;
    char* to;
    int64_t nbytes;  // of one row
};

// Copies rows [begin, end), `row` bytes apart in the output.
void CopyRows(const Piece& piece, int64_t begin, int64_t end, int64_t row) {
    const char* from = piece.from + begin * piece.nbytes;
    char* to = piece.to + begin * row;
    if (piece.nbytes > kChunkBytes) {
        for (int64_t i = begin; i < end; ++i, from += piece.nbytes, to += row) {
            for (int64_t k = 0; k < piece.nbytes; k += kChunkBytes) {
                const int64_t n = std::min(kChunkBytes, piece.nbytes - k);
                CopyBytes(to + k, from + k, n);
                internal::CheckInterrupt();
            }
        }
        return;
    }
    const auto copy = [&](auto size) {
        for (int64_t i = begin; i < end; ++i, from += size, to += row) {
            CopyBytes(to, from, size);
        }
    };
    // With a constant size, memcpy is inlined.
    switch (piece.nbytes) {
        case 1:
            return copy(std::integral_constant<int64_t, 1>{});
        case 2:
            return copy(std::integral_constant<int64_t, 2>{});
        case 4:
            return copy(std::integral_constant<int64_t, 4>{});
        case 8:
            return copy(std::integral_constant<int64_t, 8>{});
        case 12:
            return copy(std::integral_constant<int64_t, 12>{});
        case 16:
            return copy(std::integral_constant<int64_t, 16>{});
        default:
            return copy(piece.nbytes);
    }
}

// Interleaves all inputs at once, each kCount elements of one T: whole rows are written.
template <typename T, size_t kCount>
void Interleave(const std::vector<Piece>& pieces, int64_t begin, int64_t end) {
    // Several elements of any dtype, aligned as one of them.
    typedef T Part __attribute__((aligned(1), may_alias));  // NOLINT: `using` can't say this
    const Part* from[kCount];
    for (size_t k = 0; k < kCount; ++k) from[k] = reinterpret_cast<const Part*>(pieces[k].from);
    Part* to = reinterpret_cast<Part*>(pieces[0].to);
    for (int64_t i = begin; i < end; ++i) {
        for (size_t k = 0; k < kCount; ++k) {
            to[i * static_cast<int64_t>(kCount) + static_cast<int64_t>(k)] = from[k][i];
        }
    }
}

using Interleaver = void (*)(const std::vector<Piece>&, int64_t, int64_t);

// Returns the interleaver for rows of `row` bytes that inputs fill in equal parts; null if there is
// none.
Interleaver InterleaverOf(const std::vector<Piece>& pieces, int64_t row) {
    const auto n = static_cast<int64_t>(pieces.size());
    if (n < 2 || n > 4 || pieces[0].nbytes * n != row) return nullptr;
    for (const Piece& p : pieces) {
        if (p.nbytes != pieces[0].nbytes) return nullptr;
    }
    const auto of = [n]<typename T>() -> Interleaver {
        return n == 2 ? &Interleave<T, 2> : n == 3 ? &Interleave<T, 3> : &Interleave<T, 4>;
    };
    switch (pieces[0].nbytes) {
        case 1:
            return of.template operator()<uint8_t>();
        case 2:
            return of.template operator()<uint16_t>();
        case 4:
            return of.template operator()<uint32_t>();
        case 8:
            return of.template operator()<uint64_t>();
        default:
            return nullptr;
    }
}

void Concatenate(std::span<const ConstArrayRef> arrays, int8_t axis, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    int64_t outer = 1;
    for (int8_t i = 0; i < axis; ++i) outer *= out.shape()[i];
    const int64_t row = out.GetNBytes() / outer;
    const int64_t step = row / out.shape()[axis];  // bytes of one index of the axis
    std::vector<Piece> pieces;
    pieces.reserve(arrays.size());
    char* to = out.raw_data();
    for (const Array& x : arrays) {
        const int64_t nbytes = x.shape()[axis] * step;
        if (nbytes != 0 && x.IsContiguous()) {
            pieces.push_back({x.raw_data(), to, nbytes});
        } else if (nbytes != 0) {
            CallOn<kernels::AsType>(out.device(), x,
                                    internal::MakeView(out, x.shape(), out.strides(), to));
        }
        to += nbytes;
    }
    const int64_t rows = std::max<int64_t>(1, kBlockBytes / row);  // of a block
    const int64_t blocks = CeilDiv(outer, rows);
    // A block of a single row may be large, and is split between arrays.
    const auto n = static_cast<int64_t>(pieces.size());
    const int64_t cuts = rows == 1 ? n : 1;
    const Interleaver interleave = InterleaverOf(pieces, row);
    const auto copy = [&](int64_t k) {
        const int64_t begin = k / cuts * rows;
        const int64_t end = std::min(outer, begin + rows);
        if (interleave != nullptr) return interleave(pieces, begin, end);
        const int64_t first = rows == 1 ? k % cuts : 0;
        for (int64_t i = first; i < (rows == 1 ? first + 1 : n); ++i) {
            CopyRows(pieces[static_cast<size_t>(i)], begin, end, row);
        }
    };
    if (out.GetNBytes() < kParallelBytes) {
        for (int64_t k = 0; k < blocks * cuts; ++k) copy(k);
    } else {
        ParallelFor(blocks * cuts, copy);
    }
}
CX_NATIVE_KERNEL(Concatenate)

}  // namespace
}  // namespace chainerx::native
