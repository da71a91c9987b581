// Squares of items that are turned in registers. Floats stand for any items of their size: they are
// moved, never computed with.
#include "chainerx/native/turn_loops.h"

#include "chainerx/native/isa/batch.h"

namespace chainerx::native {
namespace CX_ISA {
namespace {

template <typename T>
constexpr int kSide = static_cast<int>(Square<T>::size);

template <typename T>
void Turn(char* dst, int64_t dst_row, const char* src, int64_t src_column, int64_t rows,
          int64_t columns, int64_t together) {
    constexpr int kN = kSide<T>;
    constexpr auto kSize = static_cast<int64_t>(sizeof(T));
    for (int64_t begin = 0; begin < rows; begin += together) {
        const int64_t end = begin + together < rows ? begin + together : rows;
        for (int64_t c = 0; c < columns; c += kN) {
            const char* from = src + c * src_column;
            char* to = dst + c * kSize;
            for (int64_t r = begin; r < end; r += kN) {
                Square<T> y[kN];
#pragma GCC unroll 16
                for (int i = 0; i < kN; ++i) {
                    y[i] = Square<T>::load_unaligned(
                        reinterpret_cast<const T*>(from + i * src_column + r * kSize));
                }
                xsimd::transpose(y, y + kN);
#pragma GCC unroll 16
                for (int i = 0; i < kN; ++i) {
                    y[i].store_unaligned(reinterpret_cast<T*>(to + (r + i) * dst_row));
                }
            }
        }
    }
}

}  // namespace
}  // namespace CX_ISA
}  // namespace chainerx::native

extern "C" {
__attribute__((visibility("hidden"))) extern const chainerx::native::TurnLoops CX_UNIT_ENTRY;
const chainerx::native::TurnLoops CX_UNIT_ENTRY = {
    chainerx::native::CX_ISA::kSide<float>, &chainerx::native::CX_ISA::Turn<float>,
    chainerx::native::CX_ISA::kSide<double>, &chainerx::native::CX_ISA::Turn<double>};
}
