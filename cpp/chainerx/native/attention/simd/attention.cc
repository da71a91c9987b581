// SIMD loops of attention: softmax and its gradient over panels of scores.
#include "chainerx/native/attention/attention_loops.h"

#include "chainerx/native/attention/simd/power_of_2.h"
#include "chainerx/native/math/simd/math.h"
#include "chainerx/native/strided/simd/batch.h"
#include "chainerx/native/unit.h"

namespace chainerx::native::CX_ISA {
namespace {

// Vectors in a row of a panel, as of a tile of gemm/simd/gemm.cc.
constexpr int kVectors = 2;
template <typename T>
constexpr int kWidth = static_cast<int>(Batch<T>::size);
template <typename T>
constexpr int kLanes = kVectors * kWidth<T>;

template <typename T>
constexpr T kInfinity = static_cast<T>(__builtin_inf());

template <typename T>
struct LaneNumbers {
    alignas(64) T v[kLanes<T>];
    constexpr LaneNumbers() : v{} {
        for (int i = 0; i < kLanes<T>; ++i) v[i] = static_cast<T>(i);
    }
};
template <typename T>
constexpr LaneNumbers<T> kLaneNumbers;

// One row of a panel.
template <typename T>
struct Row {
    Batch<T> v[kVectors];

    static Row Of(T x) {
        Row row;
        for (int i = 0; i < kVectors; ++i) row.v[i] = Batch<T>(x);
        return row;
    }
    static Row At(const T* x) {
        Row row;
        for (int i = 0; i < kVectors; ++i) row.v[i] = Batch<T>::load_unaligned(x + i * kWidth<T>);
        return row;
    }
    void Store(T* x) const {
        for (int i = 0; i < kVectors; ++i) v[i].store_unaligned(x + i * kWidth<T>);
    }
};

// Calls f for each vector of rows.
template <typename T, typename F, typename... Rows>
inline Row<T> Map(const F& f, const Row<T>& x, const Rows&... others) {
    Row<T> y;
    for (int i = 0; i < kVectors; ++i) y.v[i] = f(x.v[i], others.v[i]...);
    return y;
}

// The exponents of key i: its scores after scale and mask.
template <AttentionMask kMask, bool kCausal, typename T>
inline Row<T> ExponentsOf(const AttentionPanel<T>& panel, int64_t i) {
    constexpr T kLog2E = T(1.4426950408889634);
    const Batch<T> scale(panel.scale);
    const Batch<T> out(-kInfinity<T>);
    Row<T> x =
        Map([&](const Batch<T>& s) { return s * scale; }, Row<T>::At(panel.scores + i * kLanes<T>));
    if constexpr (kMask != AttentionMask::kNone) {
        x = Map(
            [&](const Batch<T>& s, const Batch<T>& mask) {
                return kMask == AttentionMask::kAdd ? xsimd::fma(mask, Batch<T>(kLog2E), s)
                                                    : math::Where(mask == out, out, s);
            },
            x, Row<T>::At(panel.masks + i * kLanes<T>));
    }
    if constexpr (kCausal) {
        const Batch<T> first(static_cast<T>(i - panel.diagonal));
        x = Map([&](const Batch<T>& s,
                    const Batch<T>& lane) { return math::Where(lane < first, out, s); },
                x, Row<T>::At(kLaneNumbers<T>.v));
    }
    return x;
}

// Calls f(mask, is causal) with both as constants.
template <typename T, typename F>
inline auto Dispatch(const AttentionPanel<T>& panel, const F& f) {
    const auto with_mask = [&]<bool kCausal>() {
        switch (panel.mask) {
            case AttentionMask::kAdd:
                return f.template operator()<AttentionMask::kAdd, kCausal>();
            case AttentionMask::kSelect:
                return f.template operator()<AttentionMask::kSelect, kCausal>();
            default:
                return f.template operator()<AttentionMask::kNone, kCausal>();
        }
    };
    return panel.is_causal ? with_mask.template operator()<true>()
                           : with_mask.template operator()<false>();
}

template <typename T>
bool Weigh(const AttentionPanel<T>& panel, T* max, T* sum, T* factor) {
    const Row<T> before = Row<T>::At(max);
    Row<T> most = before;
    Dispatch(panel, [&]<AttentionMask kMask, bool kCausal>() {
        for (int64_t i = 0; i < panel.keys; ++i) {
            const Row<T> x = ExponentsOf<kMask, kCausal>(panel, i);
            most =
                Map([](const Batch<T>& a, const Batch<T>& b) { return xsimd::max(a, b); }, most, x);
            x.Store(panel.scores + i * kLanes<T>);
        }
    });
    // If no key has taken part so far, the maximum is -inf, and any other number counts.
    const Batch<T> none(-kInfinity<T>);
    const Row<T> base =
        Map([&](const Batch<T>& m) { return math::Where(m == none, Batch<T>(T(0)), m); }, most);
    const Row<T> scale = Map(
        [](const Batch<T>& old, const Batch<T>& m) { return PowerOf2<T>(old - m); }, before, base);
    Row<T> total = Row<T>::Of(T(0));
    for (int64_t i = 0; i < panel.keys; ++i) {
        T* at = panel.scores + i * kLanes<T>;
        const Row<T> y =
            Map([](const Batch<T>& x, const Batch<T>& m) { return PowerOf2<T>(x - m); },
                Row<T>::At(at), base);
        total = Map([](const Batch<T>& a, const Batch<T>& b) { return a + b; }, total, y);
        y.Store(at);
    }
    most.Store(max);
    scale.Store(factor);
    Map([](const Batch<T>& s, const Batch<T>& f, const Batch<T>& t) { return xsimd::fma(s, f, t); },
        Row<T>::At(sum), scale, total)
        .Store(sum);
    bool is_one = true;
    for (int i = 0; i < kVectors; ++i) is_one &= xsimd::all(scale.v[i] == Batch<T>(T(1)));
    return !is_one;
}

template <typename T>
void Rescale(T* x, int64_t rows, const T* factor) {
    const Row<T> f = Row<T>::At(factor);
    for (int64_t i = 0; i < rows; ++i, x += kLanes<T>) {
        Map([](const Batch<T>& a, const Batch<T>& b) { return a * b; }, Row<T>::At(x), f).Store(x);
    }
}

template <typename T>
void Finish(T* x, int64_t rows, T* max, const T* sum) {
    const Batch<T> zero(T(0));
    const Row<T> total = Row<T>::At(sum);
    for (int64_t i = 0; i < rows; ++i, x += kLanes<T>) {
        Map([&](const Batch<T>& a,
                const Batch<T>& s) { return math::Where(s == zero, zero, a / s); },
            Row<T>::At(x), total)
            .Store(x);
    }
    Map(
        [&](const Batch<T>& m, const Batch<T>& s) {
            return math::Where(s == zero, Batch<T>(kInfinity<T>), m + math::Log2(s));
        },
        Row<T>::At(max), total)
        .Store(max);
}

template <typename T>
void Weights(const AttentionPanel<T>& panel, const T* stats) {
    const Row<T> base = Row<T>::At(stats);
    Dispatch(panel, [&]<AttentionMask kMask, bool kCausal>() {
        for (int64_t i = 0; i < panel.keys; ++i) {
            Map([](const Batch<T>& x, const Batch<T>& m) { return PowerOf2<T>(x - m); },
                ExponentsOf<kMask, kCausal>(panel, i), base)
                .Store(panel.scores + i * kLanes<T>);
        }
    });
}

template <typename T>
void Multiply(T* x, int64_t rows, const T* y) {
    for (int64_t i = 0; i < rows * kLanes<T>; i += kLanes<T>) {
        Map([](const Batch<T>& a, const Batch<T>& b) { return a * b; }, Row<T>::At(x + i),
            Row<T>::At(y + i))
            .Store(x + i);
    }
}

template <typename T>
void Dot(const T* x, const T* y, int64_t rows, T* out) {
    Row<T> sum = Row<T>::Of(T(0));
    for (int64_t i = 0; i < rows * kLanes<T>; i += kLanes<T>) {
        sum = Map([](const Batch<T>& a, const Batch<T>& b,
                     const Batch<T>& s) { return xsimd::fma(a, b, s); },
                  Row<T>::At(x + i), Row<T>::At(y + i), sum);
    }
    sum.Store(out);
}

// For kN queries and kK keys, so that each loaded number is used several times.
template <int kN, int kK, typename T>
void FewScoresOf(const T* q, int64_t width, const T* k, int64_t step, T* scores) {
    constexpr int64_t kSize = Batch<T>::size;
    constexpr int64_t kAhead = 8;  // rows: too far apart for the hardware prefetcher
    const int64_t whole = width / kSize * kSize;
    Batch<T> sum[kK][kN];
    for (auto& row : sum) {
        for (Batch<T>& x : row) x = Batch<T>(T(0));
    }
    const auto add = [&](const auto& load, int64_t j) {
        Batch<T> x[kK];
        for (int i = 0; i < kK; ++i) {
            x[i] = load(k + i * step + j);
            if constexpr (kN > 1) __builtin_prefetch(k + (i + kAhead) * step + j);
        }
        for (int n = 0; n < kN; ++n) {
            const Batch<T> row = load(q + n * width + j);
            for (int i = 0; i < kK; ++i) sum[i][n] = xsimd::fma(x[i], row, sum[i][n]);
        }
    };
    for (int64_t j = 0; j < whole; j += kSize) {
        add([](const T* x) { return Batch<T>::load_unaligned(x); }, j);
    }
    if (whole < width) add([&](const T* x) { return LoadPart(x, width - whole); }, whole);
    for (int i = 0; i < kK; ++i) {
        for (int n = 0; n < kN; ++n) scores[i * kLanes<T> + n] = xsimd::reduce_add(sum[i][n]);
    }
}

// Calls f(first, count as a constant) for n queries, several at a time.
void ForFew(int64_t n, const auto& f) {
    constexpr int64_t kTogether = 4;
    for (int64_t i = 0; i < n; i += kTogether) {
        switch (n - i) {
            case 1:
                f.template operator()<1>(i);
                break;
            case 2:
                f.template operator()<2>(i);
                break;
            case 3:
                f.template operator()<3>(i);
                break;
            default:
                f.template operator()<4>(i);
        }
    }
}

template <typename T>
void FewScores(const T* q, int64_t n, int64_t width, const T* k, int64_t step, int64_t keys,
               T* scores) {
    constexpr int kTogether = sizeof(Batch<T>) == 64 ? 4 : 2;  // limited by registers
    const auto run = [&]<int kK>(int64_t key) {
        T* to = scores + key * kLanes<T>;
        for (int i = 0; i < kK; ++i) Row<T>::Of(T(0)).Store(to + i * kLanes<T>);
        ForFew(n, [&]<int kN>(int64_t i) {
            FewScoresOf<kN, kK>(q + i * width, width, k + key * step, step, to + i);
        });
    };
    int64_t key = 0;
    // With a single query no load is reused.
    for (; n > 1 && key + kTogether <= keys; key += kTogether)
        run.template operator()<kTogether>(key);
    for (; key < keys; ++key) run.template operator()<1>(key);
}

// For kN queries and the kV batches that begin at j; the last one has `part` elements.
template <int kN, int kV, bool kPart, typename T>
void FewOutputsOf(const T* weights, int64_t keys, const T* v, int64_t step, int64_t part,
                  bool accumulate, T* outputs) {
    constexpr int64_t kSize = Batch<T>::size;
    Batch<T> sum[kN][kV];
    for (int i = 0; i < kN; ++i) {
        for (int b = 0; b < kV; ++b) sum[i][b] = Batch<T>(T(0));
    }
    for (int64_t key = 0; key < keys; ++key, v += step, weights += kLanes<T>) {
        Batch<T> x[kV];
        for (int b = 0; b < kV; ++b) {
            x[b] = kPart ? LoadPart(v, part) : Batch<T>::load_unaligned(v + b * kSize);
        }
        for (int i = 0; i < kN; ++i) {
            const Batch<T> w(weights[i]);
            for (int b = 0; b < kV; ++b) sum[i][b] = xsimd::fma(w, x[b], sum[i][b]);
        }
    }
    alignas(64) T numbers[kSize];
    for (int i = 0; i < kN; ++i) {
        for (int b = 0; b < kV; ++b) {
            sum[i][b].store_aligned(numbers);
            for (int64_t l = 0; l < (kPart ? part : kSize); ++l) {
                T& to = outputs[(b * kSize + l) * kLanes<T> + i];
                to = accumulate ? to + numbers[l] : numbers[l];
            }
        }
    }
}

template <int kN, typename T>
void FewOutputsOfAll(const T* weights, int64_t keys, const T* v, int64_t step, int64_t width,
                     bool accumulate, T* outputs) {
    constexpr int64_t kSize = Batch<T>::size;
    constexpr int kV = 4;
    int64_t j = 0;
    for (; j + kV * kSize <= width; j += kV * kSize) {
        FewOutputsOf<kN, kV, false>(weights, keys, v + j, step, kSize, accumulate,
                                    outputs + j * kLanes<T>);
    }
    for (; j + kSize <= width; j += kSize) {
        FewOutputsOf<kN, 1, false>(weights, keys, v + j, step, kSize, accumulate,
                                   outputs + j * kLanes<T>);
    }
    if (j < width) {
        FewOutputsOf<kN, 1, true>(weights, keys, v + j, step, width - j, accumulate,
                                  outputs + j * kLanes<T>);
    }
}

template <typename T>
void FewOutputs(const T* weights, int64_t n, int64_t keys, const T* v, int64_t step, int64_t width,
                bool accumulate, T* outputs) {
    ForFew(n, [&]<int kN>(int64_t i) {
        FewOutputsOfAll<kN>(weights + i, keys, v, step, width, accumulate, outputs + i);
    });
}

template <typename T>
void FewRows(const T* weights, int64_t n, int64_t keys, const T* x, int64_t width, bool accumulate,
             T* out, int64_t step) {
    constexpr int64_t kSize = Batch<T>::size;
    const int64_t whole = width / kSize * kSize;
    for (int64_t key = 0; key < keys; ++key, weights += kLanes<T>, out += step) {
        for (int64_t j = 0; j < whole; j += kSize) {
            Batch<T> sum = accumulate ? Batch<T>::load_unaligned(out + j) : Batch<T>(T(0));
            for (int64_t i = 0; i < n; ++i) {
                const Batch<T> row = Batch<T>::load_unaligned(x + i * width + j);
                sum = xsimd::fma(Batch<T>(weights[i]), row, sum);
            }
            sum.store_unaligned(out + j);
        }
        for (int64_t j = whole; j < width; ++j) {
            T sum = accumulate ? out[j] : T(0);
            for (int64_t i = 0; i < n; ++i) sum += weights[i] * x[i * width + j];
            out[j] = sum;
        }
    }
}

template <bool kFactors, typename T>
void SlopesOf(T* w, T* gw, const T* factors, int64_t keys, const T* delta, T scale) {
    const Row<T> of_row = Row<T>::At(delta);
    const Batch<T> by(scale);
    for (int64_t i = 0; i < keys * kLanes<T>; i += kLanes<T>) {
        const Row<T> weight = Row<T>::At(w + i);
        Row<T> g = Row<T>::At(gw + i);
        if constexpr (kFactors) {
            const Row<T> factor = Row<T>::At(factors + i);
            const auto times = [](const Batch<T>& a, const Batch<T>& b) { return a * b; };
            g = Map(times, g, factor);
            Map(times, weight, factor).Store(w + i);
        }
        Map([&](const Batch<T>& a, const Batch<T>& b,
                const Batch<T>& d) { return a * by * (b - d); },
            weight, g, of_row)
            .Store(gw + i);
    }
}

template <typename T>
void Slopes(T* w, T* gw, const T* factors, int64_t keys, const T* delta, T scale) {
    if (factors == nullptr) {
        SlopesOf<false>(w, gw, factors, keys, delta, scale);
    } else {
        SlopesOf<true>(w, gw, factors, keys, delta, scale);
    }
}

template <typename T>
constexpr AttentionLoops<T> kLoops{&Weigh<T>,    &Rescale<T>, &Finish<T>,    &Weights<T>,
                                   &Multiply<T>, &Dot<T>,     &FewScores<T>, &FewOutputs<T>,
                                   &FewRows<T>,  &Slopes<T>};

}  // namespace

CX_EXPORT_LOOPS(AttentionUnit){kLoops<float>, kLoops<double>};

}  // namespace chainerx::native::CX_ISA
