// SIMD alpha recursion: the states of a step in parallel.
#include "chainerx/native/loss/lattice_loops.h"
#include "chainerx/native/loss/simd/log_sum_of_three.h"
#include "chainerx/native/unit.h"

namespace chainerx::native::CX_ISA {
namespace {

// See LatticeLoops.
template <typename T>
double LatticeWeights(const T* x, const T* skip, int64_t begin, int64_t end, int64_t stride, T* y) {
    constexpr int64_t kSize = Batch<T>::size;
    constexpr T kNone = -static_cast<T>(__builtin_inf());
    double total = 0;
    for (int64_t t = begin; t < end; ++t) {
        const T* from = x + t * stride;
        T* to = y + t * stride;
        for (int64_t s = 0; s < kLatticeLead; ++s) to[s] = kNone;
        if (t == 0) {
            for (int64_t s = kLatticeLead; s < stride; ++s) {
                to[s] = s < kLatticeLead + 2 ? from[s] : kNone;
            }
            continue;
        }
        const T* last = to - stride;
        Batch<T> highest(kNone);
        for (int64_t s = kLatticeLead; s < stride; s += kSize) {
            highest = xsimd::max(highest, Batch<T>::load_unaligned(last + s));
        }
        const T max = xsimd::reduce_max(highest);
        const T less = max == kNone ? T(0) : max;
        total += static_cast<double>(less);
        for (int64_t s = kLatticeLead; s < stride; s += kSize) {
            const Batch<T> stay = Batch<T>::load_unaligned(last + s) - less;
            const Batch<T> step = Batch<T>::load_unaligned(last + s - 1) - less;
            const Batch<T> leap =
                Batch<T>::load_unaligned(last + s - 2) - less + Batch<T>::load_unaligned(skip + s);
            (LogSumOfThree<T>(stay, step, leap) + Batch<T>::load_unaligned(from + s))
                .store_unaligned(to + s);
        }
    }
    return total;
}

template <typename T>
constexpr LatticeLoops<T> kLoops = {LatticeWeights<T>};

}  // namespace

CX_EXPORT_LOOPS(LatticeUnit){kLoops<float>, kLoops<double>};

}  // namespace chainerx::native::CX_ISA
