// Sums, extremes and squared deviations of floats, in batches. Lanes, blocks and cascade are those
// of reduce_loops.h, so that every instruction set gives the same bits.
#include "chainerx/native/isa/batch.h"
#include "chainerx/native/reduce_isa.h"
#include "chainerx/native/reduce_policies.h"

namespace chainerx::native {
namespace CX_ISA {
namespace {

// Policies with two more functions of batches: Join(a, b), which is Combine(), and Step(acc, x,
// center), which combines acc with what Load() makes of x.
template <typename T>
struct BatchSum : SumPolicy<T> {
    static Batch<T> Join(const Batch<T>& a, const Batch<T>& b) { return a + b; }
    static Batch<T> Step(const Batch<T>& acc, const Batch<T>& x, const Batch<T>&) {
        return Join(acc, x);
    }
};

template <typename T>
struct BatchMax : MaxPolicy<T> {
    static Batch<T> Join(const Batch<T>& a, const Batch<T>& b) {
        return xsimd::select((b > a) | (b != b), b, a);
    }
    static Batch<T> Step(const Batch<T>& acc, const Batch<T>& x, const Batch<T>&) {
        return Join(acc, x);
    }
};

template <typename T>
struct BatchMin : MinPolicy<T> {
    static Batch<T> Join(const Batch<T>& a, const Batch<T>& b) {
        return xsimd::select((b < a) | (b != b), b, a);
    }
    static Batch<T> Step(const Batch<T>& acc, const Batch<T>& x, const Batch<T>&) {
        return Join(acc, x);
    }
};

template <typename T>
struct BatchSquare : SquarePolicy<T> {
    static Batch<T> Join(const Batch<T>& a, const Batch<T>& b) { return a + b; }
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
    // Bytes ahead. The hardware alone brings 6 % fewer elements from the third-level cache.
    static constexpr int64_t kPrefetch = 2048;

    static B CenterBatch(const Center& c) {
        if constexpr (std::is_empty_v<Center>) {
            return B(T(0));
        } else {
            return B(c);
        }
    }

    // acc = the reduction of n adjacent elements, dealt to the lanes of kBatches batches.
    template <int64_t kBatches>
    [[gnu::always_inline]] static inline void Accumulate(const T* x, int64_t n, const Center& c,
                                                         B (&acc)[kBatches]) {
        const B center = CenterBatch(c);
        for (int64_t k = 0; k < kBatches; ++k) acc[k] = B(P::Identity());
        for (; n >= kBatches * kSize; n -= kBatches * kSize, x += kBatches * kSize) {
            for (int64_t k = 0; k < 4; ++k) {
                __builtin_prefetch(reinterpret_cast<const char*>(x) + kPrefetch + 64 * k);
            }
#pragma GCC unroll 16
            for (int64_t k = 0; k < kBatches; ++k) {
                acc[k] = P::Step(acc[k], B::load_unaligned(x + k * kSize), center);
            }
        }
        // Unrolled, so that the batches stay in registers.
#pragma GCC unroll 16
        for (int64_t k = 0; k < kBatches; ++k) {
            if (n < kSize) {
                if (n > 0) {
                    const auto used = FirstLanes<T>(n);
                    const B y = P::Step(acc[k], LoadPart(x, n), center);
                    acc[k] = xsimd::select(used, y, acc[k]);
                }
                break;
            }
            acc[k] = P::Step(acc[k], B::load_unaligned(x), center);
            x += kSize;
            n -= kSize;
        }
    }

    template <int64_t kLanes>
    static void Block(const T* x, int64_t n, Center c, T* lanes) {
        constexpr int64_t kBatches = kLanes / kSize;
        B acc[kBatches];
        Accumulate(x, n, c, acc);
        for (int64_t k = 0; k < kBatches; ++k) acc[k].store_unaligned(lanes + k * kSize);
    }

    // The reduction of n adjacent elements: Block() and Fold() of Loops without a detour to memory.
    template <int64_t kLanes>
    static T FoldedBlock(const T* x, int64_t n, const Center& c) {
        B acc[kLanes / kSize];
        Accumulate(x, n, c, acc);
#pragma GCC unroll 16
        for (int64_t w = kLanes / kSize / 2; w > 0; w /= 2) {
            for (int64_t k = 0; k < w; ++k) acc[k] = P::Join(acc[k], acc[k + w]);
        }
        return FoldLanes(acc[0], [](const B& a, const B& b) { return P::Join(a, b); });
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
    return {{&F::Run, &F::Runs, &F::Rows}, {&D::Run, &D::Runs, &D::Rows}};
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
