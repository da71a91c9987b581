// Transposes squares of items in registers, takes strided items, and copies bytes. Floats stand for
// any items of their size: they are moved, never computed with.
#include "chainerx/native/strided/transpose_loops.h"

#include <utility>

#include "chainerx/native/strided/simd/batch.h"
#include "chainerx/native/strided/simd/transpose_square.h"
#include "chainerx/native/unit.h"

namespace chainerx::native::CX_ISA {
namespace {

template <typename T>
constexpr int kSide = static_cast<int>(Square<T>::size);

template <typename T>
void Transpose(char* dst, int64_t dst_row, const char* src, int64_t src_column, int64_t rows,
               int64_t columns, int64_t together) {
    constexpr int kN = kSide<T>;
    constexpr auto kSize = static_cast<int64_t>(sizeof(T));
    for (int64_t begin = 0; begin < rows; begin += together) {
        const int64_t end = begin + together < rows ? begin + together : rows;
        for (int64_t c = 0; c < columns; c += kN) {
            const char* from = src + c * src_column;
            char* to = dst + c * kSize;
            for (int64_t r = begin; r < end; r += kN) {
                TransposeSquare<T>(from + r * kSize, src_column, to + r * dst_row, dst_row);
            }
        }
    }
}

// Takes every kStep-th item of kStep adjacent registers.
template <typename T, int kStep>
struct Deinterleave {
    static constexpr int kLanes = static_cast<int>(sizeof(BatchF) / sizeof(T));
    typedef T Type __attribute__((vector_size(sizeof(BatchF))));  // NOLINT: `using` can't say this

    static Type Load(const char* p) {
        Type x;
        __builtin_memcpy(&x, p, sizeof(x));
        return x;
    }
    // The source of lane i once register k is loaded, in addition to those before it.
    static constexpr T Lane(int i, int k) {
        return static_cast<T>(i * kStep / kLanes == k        ? kLanes + i * kStep % kLanes
                              : k == 1 && i * kStep < kLanes ? i * kStep
                                                             : i);
    }
    template <int k, int... I>
    static Type Take(const Type& x, const Type& y, std::integer_sequence<int, I...>) {
#if defined(__clang__)
        return __builtin_shufflevector(x, y, Lane(I, k)...);
#else
        return __builtin_shuffle(x, y, Type{Lane(I, k)...});
#endif
    }
    static Type Gather(const char* p) {
        constexpr auto kAll = std::make_integer_sequence<int, kLanes>{};
        Type x = Take<1>(Load(p), Load(p + sizeof(Type)), kAll);
        if constexpr (kStep > 2) x = Take<2>(x, Load(p + 2 * sizeof(Type)), kAll);
        if constexpr (kStep > 3) x = Take<3>(x, Load(p + 3 * sizeof(Type)), kAll);
        return x;
    }
};

template <typename T, int kStep>
int64_t CopyEvery(char* dst, const char* src, int64_t n) {
    using A = Deinterleave<T, kStep>;
    constexpr auto kSize = static_cast<int64_t>(sizeof(T));
    int64_t i = 0;
    for (; i + A::kLanes < n; i += A::kLanes) {
        const typename A::Type x = A::Gather(src + i * kStep * kSize);
        __builtin_memcpy(dst + i * kSize, &x, sizeof(x));
    }
    return i;
}

void Copy(char* dst, const char* src, int64_t nbytes) {
    constexpr auto kBatch = static_cast<int64_t>(sizeof(BatchF));
    constexpr int64_t kTogether = 4;
    constexpr int64_t kStep = kTogether * kBatch;
    const auto head = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(dst) % kBatch);
    int64_t i = 0;
    if (head <= nbytes) {
        __builtin_memcpy(dst, src, static_cast<size_t>(head));
        i = head;
        for (; i + kStep <= nbytes; i += kStep) {
            BatchF x[kTogether];
            for (int64_t k = 0; k < kTogether; ++k) {
                x[k] = Load(reinterpret_cast<const float*>(src + i + k * kBatch));
            }
            for (int64_t k = 0; k < kTogether; ++k) {
                x[k].store_aligned(reinterpret_cast<float*>(dst + i + k * kBatch));
            }
        }
    }
    __builtin_memcpy(dst + i, src + i, static_cast<size_t>(nbytes - i));
}

}  // namespace

CX_EXPORT_LOOPS(TransposeLoops){
    kSide<float>,
    &Transpose<float>,
    kSide<double>,
    &Transpose<double>,
    {nullptr, nullptr, &CopyEvery<int32_t, 2>, &CopyEvery<int32_t, 3>, &CopyEvery<int32_t, 4>},
    {nullptr, nullptr, &CopyEvery<int64_t, 2>, &CopyEvery<int64_t, 3>, &CopyEvery<int64_t, 4>},
    &Copy};

}  // namespace chainerx::native::CX_ISA
