// Float sums, extremes and squared deviations in batches. Lanes and blocks are those of
// reduce_loops.h, so all instruction sets give the same bits.
#include "chainerx/native/math/simd/math_basic.h"
#include "chainerx/native/reduce/reduce_isa.h"
#include "chainerx/native/reduce/reduce_policies.h"
#include "chainerx/native/strided/prefetch.h"
#include "chainerx/native/strided/simd/batch.h"
#include "chainerx/native/unit.h"

namespace chainerx::native::CX_ISA {
namespace {

// Policies with two more functions of batches: Join(a, b), which is Combine(), and Step(acc, x,
// center), which combines acc with the result of Load(). Extremes also have JoinNumbers(a, b),
// which is Join() of numbers in one instruction, and returns `a` where b is NaN.
template <typename T>
struct BatchSum : SumOf<T> {
    static Batch<T> Join(const Batch<T>& a, const Batch<T>& b) { return a + b; }
    static Batch<T> Step(const Batch<T>& acc, const Batch<T>& x, const Batch<T>&) {
        return Join(acc, x);
    }
};

template <typename T, typename Base, bool kLargest, bool kSkipsNan>
struct BatchExtreme : Base {
    static Batch<T> Join(const Batch<T>& a, const Batch<T>& b) {
        const auto wins = kLargest ? b > a : b < a;
        return xsimd::select(wins | (kSkipsNan ? a != a : b != b), b, a);
    }
    static Batch<T> JoinNumbers(const Batch<T>& a, const Batch<T>& b) {
        return kLargest ? math::MaxOrSecond(b, a) : math::MinOrSecond(b, a);
    }
    static Batch<T> Step(const Batch<T>& acc, const Batch<T>& x, const Batch<T>&) {
        return Join(acc, x);
    }
};
template <typename T>
struct BatchMax : BatchExtreme<T, MaxOf<T>, true, false> {};
template <typename T>
struct BatchMin : BatchExtreme<T, MinOf<T>, false, false> {};
template <typename T>
struct BatchNanMax : BatchExtreme<T, NanMaxOf<T>, true, true> {};
template <typename T>
struct BatchNanMin : BatchExtreme<T, NanMinOf<T>, false, true> {};

template <typename T>
struct BatchSquare : SquareOf<T> {
    static Batch<T> Join(const Batch<T>& a, const Batch<T>& b) { return a + b; }
    static Batch<T> Step(const Batch<T>& acc, const Batch<T>& x, const Batch<T>& center) {
        const Batch<T> d = x - center;
        return acc + d * d;
    }
};

template <typename T>
struct BatchSquareSum : SquareSumOf<T> {
    static Batch<T> Join(const Batch<T>& a, const Batch<T>& b) { return a + b; }
    static Batch<T> Step(const Batch<T>& acc, const Batch<T>& x, const Batch<T>&) {
        return acc + x * x;
    }
};

template <typename P>
struct BatchPolicy : P {
    using T = typename P::Item;
    using Center = typename P::Center;
    using B = Batch<T>;
    static constexpr int64_t kSize = B::size;
    static constexpr bool kIsExtreme = requires(B b) { P::JoinNumbers(b, b); };

    static B CenterBatch(const Center& c) {
        if constexpr (std::is_empty_v<Center>) {
            return B(T(0));
        } else {
            return B(c);
        }
    }

    // acc = the extremes of n_rounds times kBatches batches. Returns false, with acc invalid, if
    // NaN makes a difference.
    template <int64_t kBatches>
    [[gnu::always_inline]] static inline bool AccumulateNumbers(const T* x, int64_t n_rounds,
                                                                B (&acc)[kBatches]) {
        static_assert(kBatches % 2 == 0);
        const bool stays = P::Combine(T(0), std::numeric_limits<T>::quiet_NaN()) != T(0);
#pragma GCC unroll 16
        for (int64_t k = 0; k < kBatches; ++k) acc[k] = B::load_unaligned(x + k * kSize);
        auto nan = math::IsNanOfEither(acc[0], acc[1]);
        for (int64_t k = 2; k < kBatches; k += 2)
            nan = nan | math::IsNanOfEither(acc[k], acc[k + 1]);
        for (int64_t r = 1; r < n_rounds; ++r) {
            x += kBatches * kSize;
#pragma GCC unroll 16
            for (int64_t k = 0; k < kBatches; k += 2) {
                PrefetchAhead<true>(x, k * kSize);
                PrefetchAhead<true>(x, (k + 1) * kSize);
                const B v = B::load_unaligned(x + k * kSize);
                const B w = B::load_unaligned(x + (k + 1) * kSize);
                acc[k] = P::JoinNumbers(acc[k], v);
                acc[k + 1] = P::JoinNumbers(acc[k + 1], w);
                if (stays) nan = nan | math::IsNanOfEither(v, w);
            }
        }
        return xsimd::none(nan);
    }

    // acc = the reduction of n adjacent elements, distributed over the lanes of kBatches batches.
    template <int64_t kBatches>
    [[gnu::always_inline]] static inline void Accumulate(const T* x, int64_t n, const Center& c,
                                                         B (&acc)[kBatches]) {
        const B center = CenterBatch(c);
        if constexpr (kIsExtreme) {
            const int64_t n_rounds = n / (kBatches * kSize);
            if (n_rounds > 0 && AccumulateNumbers(x, n_rounds, acc)) {
                x += n_rounds * kBatches * kSize;
                n -= n_rounds * kBatches * kSize;
            } else {
                for (int64_t k = 0; k < kBatches; ++k) acc[k] = B(P::Identity());
            }
        } else {
            for (int64_t k = 0; k < kBatches; ++k) acc[k] = B(P::Identity());
        }
        for (; n >= kBatches * kSize; n -= kBatches * kSize, x += kBatches * kSize) {
#pragma GCC unroll 16
            for (int64_t k = 0; k < kBatches; ++k) {
                PrefetchAhead(x, k * kSize);
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

    // The reduction of n adjacent elements: Block() and Fold() of Loops without storing the lanes.
    template <int64_t kLanes>
    static T FoldedBlock(const T* x, int64_t n, const Center& c) {
        constexpr int64_t kBatches = kLanes / kSize;
        B acc[kBatches];
        Accumulate(x, n, c, acc);
        if constexpr (kIsExtreme) {
            auto nan = math::IsNanOfEither(acc[0], acc[1]);
            for (int64_t k = 2; k < kBatches; k += 2) {
                nan = nan | math::IsNanOfEither(acc[k], acc[k + 1]);
            }
            if (xsimd::none(nan)) {
                return Fold(acc, [](const B& a, const B& b) { return P::JoinNumbers(a, b); });
            }
        }
        return Fold(acc, [](const B& a, const B& b) { return P::Join(a, b); });
    }

    template <int64_t kBatches, typename F>
    [[gnu::always_inline]] static inline T Fold(B (&acc)[kBatches], const F& join) {
#pragma GCC unroll 16
        for (int64_t w = kBatches / 2; w > 0; w /= 2) {
            for (int64_t k = 0; k < w; ++k) acc[k] = join(acc[k], acc[k + w]);
        }
        return FoldLanes(acc[0], join);
    }

    // Adds kRows rows to acc, or initializes acc with them.
    template <int kRows, bool kBegins>
    static void AddRows(const char* const* rows, int64_t width, const Center* centers, T* acc) {
        const T* x[kRows];
        for (int r = 0; r < kRows; ++r) x[r] = reinterpret_cast<const T*>(rows[r]);
        int64_t j = 0;
        for (; j + kSize <= width; j += kSize) {
            B center(T(0));
            if constexpr (!std::is_empty_v<Center>) center = Load(centers + j);
            B a(P::Identity());
            if constexpr (!kBegins) a = Load(acc + j);
            for (int r = 0; r < kRows; ++r) a = P::Step(a, Load(x[r] + j), center);
            a.store_unaligned(acc + j);
        }
        for (; j < width; ++j) {
            Center center{};
            if constexpr (!std::is_empty_v<Center>) center = centers[j];
            T a = kBegins ? P::Identity() : acc[j];
            for (int r = 0; r < kRows; ++r) a = P::Combine(a, P::Load(x[r][j], center));
            acc[j] = a;
        }
    }
};

// `matches` takes a batch or an element.
template <typename T, typename F>
int64_t FindFirst(const T* x, int64_t n, const F& matches) {
    using B = Batch<T>;
    constexpr int64_t kSize = B::size;
    const auto at = [&](int64_t i) { return matches(B::load_unaligned(x + i)); };
    int64_t i = 0;
    for (; i + 4 * kSize <= n; i += 4 * kSize) {
        if (xsimd::any((at(i) | at(i + kSize)) | (at(i + 2 * kSize) | at(i + 3 * kSize)))) break;
    }
    for (; i + kSize <= n; i += kSize) {
        const auto found = at(i);
        if (xsimd::any(found)) return i + __builtin_ctzll(found.mask());
    }
    while (i < n && !matches(x[i])) ++i;
    return i;
}

template <typename T>
int64_t Find(const T* x, int64_t n, T value) {
    if (value != value) return FindFirst(x, n, [](const auto& v) { return v != v; });
    return FindFirst(x, n, [value](const auto& v) { return v == value; });
}

// A batch of running extremes, one per lane, and their positions.
template <bool kLargest, typename T>
struct Extremes {
    using B = Batch<T>;
    using Index = Batch<ArgIndex<T>>;

    B value;
    Index index;

    static auto Beats(const B& a, const B& b) {
        if constexpr (kLargest) {
            return a > b;
        } else {
            return a < b;
        }
    }
    // Folds in elements that follow those before.
    void Take(const B& v, const Index& at) {
        const auto beats = Beats(v, value);
        value = xsimd::select(beats, v, value);
        index = xsimd::select(xsimd::batch_bool_cast<ArgIndex<T>>(beats), at, index);
    }
    // Merges with extremes whose elements are interleaved with these.
    void Join(const Extremes& o) {
        const auto first = xsimd::batch_bool_cast<T>(o.index < index);
        const auto beats = Beats(o.value, value) | ((o.value == value) & first);
        value = xsimd::select(beats, o.value, value);
        index = xsimd::select(xsimd::batch_bool_cast<ArgIndex<T>>(beats), o.index, index);
    }
    // Branch-free, since the branches would be unpredictable.
    int64_t First() const {
        const T best = FoldLanes(value, [](const B& a, const B& b) {
            if constexpr (std::is_integral_v<T>) {
                return kLargest ? xsimd::max(a, b) : xsimd::min(a, b);
            } else {
                return kLargest ? math::MaxOrSecond(a, b) : math::MinOrSecond(a, b);
            }
        });
        constexpr auto kLast = std::numeric_limits<ArgIndex<T>>::max();
        const auto is_best = xsimd::batch_bool_cast<ArgIndex<T>>(value == B(best));
        return FoldLanes(xsimd::select(is_best, index, Index(kLast)),
                         [](const Index& a, const Index& b) { return xsimd::min(a, b); });
    }
};

template <bool kLargest, typename T>
int64_t FindExtreme(const T* x, int64_t n) {
    using B = Batch<T>;
    using Index = Batch<ArgIndex<T>>;
    using Found = Extremes<kLargest, T>;
    constexpr int64_t kSize = B::size;
    constexpr int64_t kBatches = 4;  // hide the latency of a comparison and a blend
    const auto is_nan = [](const auto& v) {
        if constexpr (std::is_integral_v<T>) {
            return xsimd::batch_bool<T>(false);
        } else {
            return v != v;
        }
    };
    if (n < kSize) {
        int64_t best = 0;
        for (int64_t i = 0; i < n; ++i) {
            if (!std::is_integral_v<T> && x[i] != x[i]) return i;
            if (kLargest ? x[i] > x[best] : x[i] < x[best]) best = i;
        }
        return best;
    }
    ArgIndex<T> places[kSize];
    for (int64_t i = 0; i < kSize; ++i) places[i] = static_cast<ArgIndex<T>>(i);
    const Index lane = Index::load_unaligned(places);
    const auto at = [&](int64_t i) { return lane + Index(static_cast<ArgIndex<T>>(i)); };
    Found found{B::load_unaligned(x), lane};
    auto nan = is_nan(found.value);
    int64_t i = kSize;
    if (n >= kBatches * kSize) {
        Found part[kBatches];
        for (int64_t k = 0; k < kBatches; ++k) part[k] = {B::load_unaligned(x + k * kSize), at(0)};
        for (int64_t k = 1; k < kBatches; ++k) nan = nan | is_nan(part[k].value);
        Index first = lane;  // positions of the elements of part[0]
        for (i = kBatches * kSize; i + kBatches * kSize <= n; i += kBatches * kSize) {
            first += Index(static_cast<ArgIndex<T>>(kBatches * kSize));
#pragma GCC unroll 4
            for (int64_t k = 0; k < kBatches; ++k) {
                PrefetchAhead<true>(x + i, k * kSize);
                const B v = B::load_unaligned(x + i + k * kSize);
                nan = nan | is_nan(v);
                part[k].Take(v, first);
            }
        }
        for (int64_t k = 1; k < kBatches; ++k) {
            part[k].index += Index(static_cast<ArgIndex<T>>(k * kSize));
        }
        for (int64_t w = kBatches / 2; w > 0; w /= 2) {
            for (int64_t k = 0; k < w; ++k) part[k].Join(part[k + w]);
        }
        found = part[0];
    }
    for (; i < n; i += kSize) {
        // may overlap: some elements are taken twice
        const int64_t from = i + kSize <= n ? i : n - kSize;
        const B v = B::load_unaligned(x + from);
        nan = nan | is_nan(v);
        found.Take(v, at(from));
    }
    if constexpr (!std::is_integral_v<T>) {
        if (xsimd::any(nan)) return FindFirst(x, n, is_nan);
    }
    return found.First();
}

template <bool kLargest, bool kIgnoresNan, typename T>
void TakeRow(const T* __restrict row, int64_t n, ArgIndex<T> at, T* __restrict best,
             ArgIndex<T>* __restrict index) {
    for (int64_t j = 0; j < n; ++j) {
        const T v = row[j];
        const T b = best[j];
        const ArgIndex<T> i = index[j];
        const bool surpasses = Surpasses<kLargest, kIgnoresNan>(v, b);
        best[j] = surpasses ? v : b;
        index[j] = surpasses ? at : i;
    }
}

template <typename T>
constexpr ArgIsaLoops<T> kArgLoops = {{FindExtreme<false, T>, FindExtreme<true, T>},
                                      Find<T>,
                                      {{TakeRow<false, false, T>, TakeRow<false, true, T>},
                                       {TakeRow<true, false, T>, TakeRow<true, true, T>}}};

template <template <typename> typename Policy>
constexpr FoldTable MakeTable() {
    FoldTable table;
    table.of[static_cast<int>(Dtype::kFloat32)] = Loops<BatchPolicy<Policy<float>>>::Table();
    table.of[static_cast<int>(Dtype::kFloat64)] = Loops<BatchPolicy<Policy<double>>>::Table();
    return table;
}

}  // namespace

CX_EXPORT_LOOPS(ReduceIsaLoops){MakeTable<BatchSum>(),
                                MakeTable<BatchMax>(),
                                MakeTable<BatchMin>(),
                                MakeTable<BatchNanMax>(),
                                MakeTable<BatchNanMin>(),
                                MakeTable<BatchSquare>(),
                                MakeTable<BatchSquareSum>(),
                                kArgLoops<float>,
                                kArgLoops<double>,
#define CX_EXTREMES(T) {FindExtreme<false, T>, FindExtreme<true, T>}
                                CX_EXTREMES(int32_t),
                                CX_EXTREMES(uint32_t),
                                CX_EXTREMES(int64_t),
                                CX_EXTREMES(uint64_t),
#undef CX_EXTREMES
#if defined(CX_ISA_AVX512)
                                INT64_MAX
#else
                                0
#endif
};

}  // namespace chainerx::native::CX_ISA
