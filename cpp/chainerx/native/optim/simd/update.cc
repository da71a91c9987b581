// SIMD optimizer steps: the rows of ops/optim/update.def in whole batches, then one masked batch.
#include "chainerx/native/math/simd/math.h"
#include "chainerx/native/optim/update_loops.h"
#include "chainerx/native/strided/simd/batch.h"
#include "chainerx/native/unit.h"

namespace chainerx::native::CX_ISA {
namespace {

// Uses the first kStates pointers.
template <typename Row, typename T>
void Run(char* param, const char* grad, char* const* states, int64_t n, const double* numbers) {
    using B = Batch<T>;
    constexpr int64_t kWidth = B::size;
    T* p = reinterpret_cast<T*>(param);
    const T* g = reinterpret_cast<const T*>(grad);
    T* s[kMaxUpdateStates] = {};
    for (int k = 0; k < Row::kStates; ++k) s[k] = reinterpret_cast<T*>(states[k]);
    int64_t i = 0;
    for (; i + kWidth <= n; i += kWidth) {
        B bp = Load(p + i);
        B bs[kMaxUpdateStates];
        for (int k = 0; k < Row::kStates; ++k) bs[k] = Load(s[k] + i);
        Row::template Apply<B>(bp, Load(g + i), bs[0], bs[1], bs[2], numbers);
        bp.store_unaligned(p + i);
        for (int k = 0; k < Row::kStates; ++k) bs[k].store_unaligned(s[k] + i);
    }
    if (i == n) return;
    const int64_t left = n - i;
    B bp = LoadPart(p + i, left);
    B bs[kMaxUpdateStates];
    for (int k = 0; k < Row::kStates; ++k) bs[k] = LoadPart(s[k] + i, left);
    Row::template Apply<B>(bp, LoadPart(g + i, left), bs[0], bs[1], bs[2], numbers);
    StorePart(p + i, bp, left);
    for (int k = 0; k < Row::kStates; ++k) StorePart(s[k] + i, bs[k], left);
}

#define CX_UPDATE(Name, name, n_states, n_numbers, ...)                                            \
    struct Name {                                                                                  \
        static constexpr int kStates = n_states;                                                   \
        template <typename T>                                                                      \
        static inline void Apply(T& p, const T& g, [[maybe_unused]] T& s0, [[maybe_unused]] T& s1, \
                                 [[maybe_unused]] T& s2, const double* numbers) {                  \
            const auto n = [numbers](int i) { return numbers[i]; };                                \
            const auto c = [](double x) { return T(static_cast<typename T::value_type>(x)); };     \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    };
#include "chainerx/ops/optim/update.def"
#undef CX_UPDATE

constexpr UpdateLoops kLoops = {
    {
#define CX_UPDATE(Name, ...) &Run<Name, float>,
#include "chainerx/ops/optim/update.def"
#undef CX_UPDATE
    },
    {
#define CX_UPDATE(Name, ...) &Run<Name, double>,
#include "chainerx/ops/optim/update.def"
#undef CX_UPDATE
    },
};

}  // namespace

CX_EXPORT_LOOPS(UpdateLoops) = kLoops;

}  // namespace chainerx::native::CX_ISA
