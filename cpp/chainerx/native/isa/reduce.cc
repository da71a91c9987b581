// Sums, extremes and squared deviations of floats, in batches. Lanes, blocks and cascade are those
// of reduce_loops.h, so that every instruction set gives the same bits.
#include "chainerx/native/isa/batch.h"
#include "chainerx/native/reduce_isa.h"
#include "chainerx/native/reduce_policies.h"

namespace chainerx::native {
namespace CX_ISA {
namespace {

// Policies with one more function: Step(acc, x, center) of batches.
template <typename T>
struct BatchSum : SumPolicy<T> {
    static Batch<T> Step(const Batch<T>& acc, const Batch<T>& x, const Batch<T>&) {
        return acc + x;
    }
};

template <typename T>
struct BatchMax : MaxPolicy<T> {
    static Batch<T> Step(const Batch<T>& acc, const Batch<T>& x, const Batch<T>&) {
        return xsimd::select((x > acc) | (x != x), x, acc);
    }
};

template <typename T>
struct BatchMin : MinPolicy<T> {
    static Batch<T> Step(const Batch<T>& acc, const Batch<T>& x, const Batch<T>&) {
        return xsimd::select((x < acc) | (x != x), x, acc);
    }
};

template <typename T>
struct BatchSquare : SquarePolicy<T> {
    static Batch<T> Step(const Batch<T>& acc, const Batch<T>& x, const Batch<T>& center) {
        const Batch<T> d = x - center;
        return acc + d * d;
    }
};

template <typename P>
struct BatchPolicy : P {
    using T = typename P::Item;
    using Center = typename P::Center;
    using B = Batch<T>;
    static constexpr int64_t kSize = B::size;

    static B CenterBatch(const Center& c) {
        if constexpr (std::is_empty_v<Center>) {
            return B(T(0));
        } else {
            return B(c);
        }
    }

    template <int64_t kLanes>
    static void Block(const T* x, int64_t n, Center c, T* lanes) {
        constexpr int64_t kBatches = kLanes / kSize;
        const B center = CenterBatch(c);
        B acc[kBatches];
        for (int64_t k = 0; k < kBatches; ++k) acc[k] = B(P::Identity());
        int64_t i = 0;
        for (; i + kLanes <= n; i += kLanes) {
#pragma GCC unroll 16
            for (int64_t k = 0; k < kBatches; ++k) {
                acc[k] = P::Step(acc[k], B::load_unaligned(x + i + k * kSize), center);
            }
        }
        for (int64_t k = 0; k < kBatches; ++k) acc[k].store_unaligned(lanes + k * kSize);
        for (; i + kSize <= n; i += kSize, lanes += kSize) {
            P::Step(B::load_unaligned(lanes), B::load_unaligned(x + i), center)
                .store_unaligned(lanes);
        }
        for (; i < n; ++i, ++lanes) *lanes = P::Combine(*lanes, P::Load(x[i], c));
    }

    // Adds kRows rows to acc.
    template <int kRows>
    static void AddRows(const char* const* rows, int64_t width, const Center* centers, T* acc) {
        const T* x[kRows];
        for (int r = 0; r < kRows; ++r) x[r] = reinterpret_cast<const T*>(rows[r]);
        int64_t j = 0;
        for (; j + kSize <= width; j += kSize) {
            B center(T(0));
            if constexpr (!std::is_empty_v<Center>) center = B::load_unaligned(centers + j);
            B a = B::load_unaligned(acc + j);
            for (int r = 0; r < kRows; ++r) a = P::Step(a, B::load_unaligned(x[r] + j), center);
            a.store_unaligned(acc + j);
        }
        for (; j < width; ++j) {
            Center center{};
            if constexpr (!std::is_empty_v<Center>) center = centers[j];
            for (int r = 0; r < kRows; ++r) acc[j] = P::Combine(acc[j], P::Load(x[r][j], center));
        }
    }
};

template <template <typename> typename Policy>
constexpr ReduceIsaOp MakeOp() {
    using F = Loops<BatchPolicy<Policy<float>>>;
    using D = Loops<BatchPolicy<Policy<double>>>;
    return {{&F::Run, &F::Rows}, {&D::Run, &D::Rows}};
}

}  // namespace
}  // namespace CX_ISA
}  // namespace chainerx::native

extern "C" {
__attribute__((visibility("hidden"))) extern const chainerx::native::ReduceIsaLoops CX_UNIT_ENTRY;
const chainerx::native::ReduceIsaLoops CX_UNIT_ENTRY = {
    chainerx::native::CX_ISA::MakeOp<chainerx::native::CX_ISA::BatchSum>(),
    chainerx::native::CX_ISA::MakeOp<chainerx::native::CX_ISA::BatchMax>(),
    chainerx::native::CX_ISA::MakeOp<chainerx::native::CX_ISA::BatchMin>(),
    chainerx::native::CX_ISA::MakeOp<chainerx::native::CX_ISA::BatchSquare>()};
}
