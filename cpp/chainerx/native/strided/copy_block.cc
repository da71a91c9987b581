#include "chainerx/native/strided/copy_block.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "chainerx/core/dtype.h"
#include "chainerx/native/isa.h"
#include "chainerx/native/strided/copy_bytes.h"
#include "chainerx/native/strided/transpose_loops.h"

namespace chainerx::native {

CX_DISPATCH(transpose, TransposeLoops)

namespace {

constexpr int64_t kLine = 64;  // bytes of a cache line

// The vectors that all processors of the architecture have.
template <typename T>
struct Vector {
    static constexpr int kLanes = 16 / sizeof(T);
    typedef T Type __attribute__((vector_size(16)));  // NOLINT: `using` can't say this

    static Type Load(const char* p) {
        Type v;
        std::memcpy(&v, p, sizeof(v));
        return v;
    }
    static void Store(char* p, const Type& v) { std::memcpy(p, &v, sizeof(v)); }

    // Interleaves a and b (a[0], b[0], a[1], b[1], ...) and returns the first or second half.
    template <int kFirst, size_t... I>
    static Type Zip(const Type& a, const Type& b, std::index_sequence<I...>) {
#if defined(__clang__)
        return __builtin_shufflevector(a, b, Lane(kFirst, I)...);
#else
        return __builtin_shuffle(a, b, Type{static_cast<T>(Lane(kFirst, I))...});
#endif
    }
    template <size_t... I>
    static Type Reverse(const Type& a, std::index_sequence<I...>) {
#if defined(__clang__)
        return __builtin_shufflevector(a, a, (kLanes - 1 - static_cast<int>(I))...);
#else
        return __builtin_shuffle(a, Type{static_cast<T>(kLanes - 1 - I)...});
#endif
    }
    static Type Reverse(const Type& a) { return Reverse(a, std::make_index_sequence<kLanes>{}); }
    static constexpr int Lane(int first, size_t i) {
        return static_cast<int>(i / 2) + first + (i % 2 != 0 ? kLanes : 0);
    }
    static Type ZipLow(const Type& a, const Type& b) {
        return Zip<0>(a, b, std::make_index_sequence<kLanes>{});
    }
    static Type ZipHigh(const Type& a, const Type& b) {
        return Zip<kLanes / 2>(a, b, std::make_index_sequence<kLanes>{});
    }
};

// to[r * to_row + c] = from[c * from_line + r] for a square with the side of a vector.
template <typename T>
[[gnu::always_inline]] inline void TransposeTile(char* to, int64_t to_row, const char* from,
                                                 int64_t from_line) {
    using V = Vector<T>;
    constexpr int kLanes = V::kLanes;
    typename V::Type v[kLanes];
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) v[i] = V::Load(from + i * from_line);
    // Each pass doubles the number of lines that are interleaved in a vector.
#pragma GCC unroll 4
    for (int pass = 1; pass < kLanes; pass *= 2) {
        typename V::Type w[kLanes];
#pragma GCC unroll 8
        for (int i = 0; i < kLanes / 2; ++i) {
            w[2 * i] = V::ZipLow(v[i], v[i + kLanes / 2]);
            w[2 * i + 1] = V::ZipHigh(v[i], v[i + kLanes / 2]);
        }
#pragma GCC unroll 16
        for (int i = 0; i < kLanes; ++i) v[i] = w[i];
    }
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) V::Store(to + i * to_row, v[i]);
}

template <typename T>
void CopyItems(char* dst, int64_t dst_stride, const char* src, int64_t src_stride, int64_t n) {
    constexpr int64_t kSize = sizeof(T);
    if (dst_stride == kSize && src_stride == kSize) {
        CopyBytes(dst, src, n * kSize);
    } else if (dst_stride == kSize && src_stride == 0) {
        T value;
        std::memcpy(&value, src, kSize);
        std::fill_n(reinterpret_cast<T*>(dst), n, value);
    } else if (std::abs(dst_stride) == kSize && src_stride == -dst_stride) {
        int64_t i = 0;
        if constexpr (kSize <= 8) {
            using V = Vector<T>;
            // The offset of the last item of a vector.
            const int64_t last = (V::kLanes - 1) * kSize;
            char* const to = dst_stride < 0 ? dst - last : dst;
            const char* const from = src_stride < 0 ? src - last : src;
            for (; i + V::kLanes <= n; i += V::kLanes) {
                V::Store(to + i * dst_stride, V::Reverse(V::Load(from + i * src_stride)));
            }
        }
        for (; i < n; ++i) std::memcpy(dst + i * dst_stride, src + i * src_stride, kSize);
    } else if (dst_stride == kSize) {
        int64_t i = 0;
        if constexpr (kSize == 4 || kSize == 8) {
            const int64_t step = src_stride / kSize;
            if (n >= kLine && src_stride % kSize == 0 && step >= 2 && step <= kMaxStep) {
                const auto& loops = transpose_loops();
                i = (kSize == 4 ? loops.every4 : loops.every8)[step](dst, src, n);
            }
        }
#pragma GCC unroll 8
        for (; i < n; ++i) std::memcpy(dst + i * kSize, src + i * src_stride, kSize);
    } else {
#pragma GCC unroll 8
        for (int64_t i = 0; i < n; ++i) {
            std::memcpy(dst + i * dst_stride, src + i * src_stride, kSize);
        }
    }
}

template <typename T>
void CopyRows(char* dst, const char* src, const BlockCopy& b) {
    for (int64_t r = 0; r < b.rows; ++r) {
        CopyItems<T>(dst + r * b.dst_row, b.dst_column, src + r * b.src_row, b.src_column,
                     b.columns);
    }
}

// Repeats each of n adjacent items kCount times.
template <typename T, int64_t kCount>
void SpreadBy(char* dst, const char* src, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        T value;
        std::memcpy(&value, src + i * int64_t{sizeof(T)}, sizeof(T));
        for (int64_t k = 0; k < kCount; ++k) {
            std::memcpy(dst + (i * kCount + k) * int64_t{sizeof(T)}, &value, sizeof(T));
        }
    }
}

template <typename T>
void Spread(char* dst, const char* src, int64_t n, int64_t count) {
    constexpr int64_t kSize = sizeof(T);
    switch (count) {
        case 2:
            return SpreadBy<T, 2>(dst, src, n);
        case 3:
            return SpreadBy<T, 3>(dst, src, n);
        case 4:
            return SpreadBy<T, 4>(dst, src, n);
        default:
            for (int64_t i = 0; i < n; ++i) {
                T value;
                std::memcpy(&value, src + i * kSize, kSize);
                for (int64_t k = 0; k < count; ++k) {
                    std::memcpy(dst + (i * count + k) * kSize, &value, kSize);
                }
            }
    }
}

// Lines of dst that conflict in a set of L1 evict each other; then only a few rows are written
// together. Otherwise as many as fit in L1 beside src, or at least as many as a line of src has
// items.
int64_t RowsTogether(const BlockCopy& b, int64_t item_size, int64_t few) {
    constexpr int64_t kSets = 4096;  // bytes
    constexpr int64_t kFit = 16384;
    if (b.dst_row % kSets == 0) return few;
    if (b.rows * b.columns * item_size <= kFit) return std::max(b.rows / few * few, few);
    return std::max(kLine / item_size, few);
}

// Copies rows [r, r_end) of columns [c, c + kLanes) of b.
template <typename T>
[[gnu::always_inline]] inline void TransposeStrip(char* dst, const char* src, const BlockCopy& b,
                                                  int64_t r, int64_t r_end, int64_t c) {
    constexpr int64_t kSize = sizeof(T);
    constexpr int64_t kLanes = Vector<T>::kLanes;
    char* to = dst + c * kSize;
    const char* from = src + c * b.src_column;
    for (; r + kLanes <= r_end; r += kLanes) {
        TransposeTile<T>(to + r * b.dst_row, b.dst_row, from + r * kSize, b.src_column);
    }
    for (; r < r_end; ++r) {
        CopyItems<T>(to + r * b.dst_row, kSize, from + r * kSize, b.src_column, kLanes);
    }
}

// Transposes items that are adjacent along the rows of src and along the columns of dst.
template <typename T>
void TransposeRest(char* dst, const char* src, const BlockCopy& b) {
    constexpr int64_t kSize = sizeof(T);
    constexpr int64_t kLanes = Vector<T>::kLanes;
    const int64_t whole = b.columns / kLanes * kLanes;
    const int64_t rows = RowsTogether(b, kSize, kLanes);
    for (int64_t r = 0; r < b.rows; r += rows) {
        const int64_t end = std::min(r + rows, b.rows);
        for (int64_t c = 0; c < whole; c += kLanes) TransposeStrip<T>(dst, src, b, r, end, c);
    }
    for (int64_t r = 0; r < b.rows && whole < b.columns; ++r) {
        CopyItems<T>(dst + r * b.dst_row + whole * kSize, kSize,
                     src + r * kSize + whole * b.src_column, b.src_column, b.columns - whole);
    }
}

// The same by squares as large as this processor's registers allow; the rest is at two sides.
template <typename T>
void Transpose(char* dst, const char* src, const BlockCopy& b) {
    constexpr int64_t kSize = sizeof(T);
    if constexpr (kSize == 4 || kSize == 8) {
        const TransposeLoops& loops = transpose_loops();
        const int64_t side = kSize == 4 ? loops.side4 : loops.side8;
        const int64_t rows = b.rows / side * side;
        const int64_t columns = b.columns / side * side;
        if (rows != 0 && columns != 0) {
            (kSize == 4 ? loops.transpose4 : loops.transpose8)(
                dst, b.dst_row, src, b.src_column, rows, columns, RowsTogether(b, kSize, side));
            BlockCopy right = b;
            right.columns -= columns;
            BlockCopy below = b;
            below.rows -= rows;
            below.columns = columns;
            TransposeRest<T>(dst + columns * kSize, src + columns * b.src_column, right);
            TransposeRest<T>(dst + rows * b.dst_row, src + rows * kSize, below);
            return;
        }
    }
    TransposeRest<T>(dst, src, b);
}

BlockCopy Transposed(const BlockCopy& b) {
    return {b.columns, b.rows, b.dst_column, b.dst_row, b.src_column, b.src_row};
}

}  // namespace

void CopyBlock(char* dst, const char* src, BlockCopy b, int64_t item_size) {
    VisitItemSize(item_size, [&]<typename T>() {
        constexpr int64_t kSize = sizeof(T);
        if (b.rows == 1) {
            CopyItems<T>(dst, b.dst_column, src, b.src_column, b.columns);
            return;
        }
        if (b.src_column == 0 && b.src_row == kSize && b.dst_column == kSize &&
            b.dst_row == b.columns * kSize) {
            Spread<T>(dst, src, b.rows, b.columns);
            return;
        }
        // Prefers long loops and contiguous writes.
        const bool few = b.columns < 8 && b.columns < b.rows;
        if ((b.dst_row == kSize && b.dst_column != kSize) || (few && b.dst_column != kSize)) {
            b = Transposed(b);
        }
        if constexpr (kSize <= 8) {
            if (b.dst_column == kSize && b.src_row == kSize && b.src_column != kSize) {
                Transpose<T>(dst, src, b);
                return;
            }
        }
        if (b.columns < 8 && b.columns < b.rows) {
            CopyRows<T>(dst, src, Transposed(b));
        } else {
            CopyRows<T>(dst, src, b);
        }
    });
}

}  // namespace chainerx::native
