// Softmax and its losses. Sums are in the order of native/norm/row_order.h.
#pragma once

#include <cstdint>
#include <limits>

#include "chainerx/cuda/device/errors.h"
#include "chainerx/cuda/norm/device/group.h"
#include "chainerx/native/math/simd/math_explog.h"

namespace chainerx::cuda {

inline constexpr int kNarrowThreads = 8;

template <typename C>
inline C Exp(C x) {
    return native::gpu::math::Exp(xsimd::batch<C>(x)).v;
}
template <typename C>
inline C Log(C x) {
    return native::gpu::math::Log(xsimd::batch<C>(x)).v;
}

inline int64_t LabelAt(const LabelParams& labels, int64_t i) {
    switch (labels.size) {
        case 1:
            return At<const int8_t>(labels.data)[i];
        case 2:
            return At<const int16_t>(labels.data)[i];
        case 4:
            return At<const int32_t>(labels.data)[i];
        case -1:
            return At<const uint8_t>(labels.data)[i];
        case -2:
            return At<const uint16_t>(labels.data)[i];
        case -4:
            return At<const uint32_t>(labels.data)[i];
        default:  // large ones of uint64 are negative, and no class
            return At<const int64_t>(labels.data)[i];
    }
}

// The maximum of a row and the sum of exp(x - maximum).
template <typename T, int kThreads, int kItems>
struct SoftmaxRow : RowElements<T, kThreads, kItems> {
    using C = Number<T>;
    using G = Group<kThreads>;
    C max;
    C sum;

    // If `keeps`, elements in registers become exp(x - maximum).
    SoftmaxRow(const T* row, int64_t columns, bool keeps)
        : RowElements<T, kThreads, kItems>{row, columns} {
        max = -std::numeric_limits<C>::infinity();
        this->ForEach([&](int64_t, C& v) { max = v > max ? v : max; });
        max = G::Max(max);
        sum = C(0);
        if constexpr (kThreads == kNarrowThreads) {
            C e[kItems];
#pragma unroll
            for (int u = 0; u < kItems; ++u) {
                e[u] = Exp(this->kept[u] - max);
                if (keeps) this->kept[u] = e[u];
            }
#pragma unroll
            for (int u = 0; u < kItems; ++u) {
                for (int k = 0; k < kThreads && u * kThreads + k < columns; ++k) {
                    sum += __shfl_sync(0xffffffffu, e[u], k, kThreads);
                }
            }
        } else {
            sum = this->template SumOf<C>([&](C& v) {
                const C e = Exp(v - max);
                if (keeps) v = e;
                return e;
            });
        }
    }
};

template <typename T, int kThreads, int kItems>
inline void Softmax(const SoftmaxParams& p) {
    using C = Number<T>;
    const int64_t row = Group<kThreads>::Row();
    const bool is_inside = row < p.rows;
    const int64_t at = (is_inside ? row : 0) * p.columns;
    SoftmaxRow<T, kThreads, kItems> values{At<const T>(p.x, at), p.columns, true};
    const C scale = C(1) / values.sum;
    if (!is_inside) return;
    T* const y = At<T>(p.out, at);
    values.ForEach([&](int64_t j, C& v) {
        y[j] = static_cast<T>((kItems > 0 ? v : Exp(v - values.max)) * scale);
    });
}

template <typename T, int kThreads, int kItems>
inline void LogSoftmax(const SoftmaxParams& p) {
    using C = Number<T>;
    const int64_t row = Group<kThreads>::Row();
    const bool is_inside = row < p.rows;
    const int64_t at = (is_inside ? row : 0) * p.columns;
    SoftmaxRow<T, kThreads, kItems> values{At<const T>(p.x, at), p.columns, false};
    const C log_sum = Log(values.sum);
    if (!is_inside) return;
    T* const y = At<T>(p.out, at);
    values.ForEach([&](int64_t j, C& v) { y[j] = static_cast<T>((v - values.max) - log_sum); });
}

template <typename T, int kThreads, int kItems>
inline void SoftmaxCrossEntropy(const SoftmaxParams& p) {
    using C = Number<T>;
    using G = Group<kThreads>;
    const int64_t row = G::Row();
    const bool is_inside = row < p.rows;
    const int64_t at = (is_inside ? row : 0) * p.columns;
    const T* const x = At<const T>(p.x, at);
    SoftmaxRow<T, kThreads, kItems> values{x, p.columns, false};
    const C max = values.max;
    const C log_sum = Log(values.sum);
    double below = 0;  // the sum of max - x
    if (p.smoothing != 0) {
        below = values.template SumOf<double>([&](C& v) { return static_cast<double>(max - v); });
    }
    if (!is_inside || G::Lane() != 0) return;
    At<C>(p.stats, 2 * row)[0] = max;
    At<C>(p.stats, 2 * row)[1] = log_sum;
    C loss = C(0);
    const int64_t label = LabelAt(p.labels, row);
    if (label != p.ignored) {
        if (label < 0 || label >= p.columns) {
            ReportError(p.log, p.site, row, label);
        } else {
            loss = log_sum - (static_cast<C>(x[label]) - max);
            if (p.smoothing != 0) {
                const C even = log_sum + static_cast<C>(below / static_cast<double>(p.columns));
                loss = static_cast<C>(1 - p.smoothing) * loss + static_cast<C>(p.smoothing) * even;
            }
        }
    }
    *At<T>(p.loss, row) = static_cast<T>(loss);
}

// The element of this thread; returns whether there is one.
inline bool FindElement(const SoftmaxParams& p, int64_t* row, int64_t* column) {
    const int64_t i = ThreadNumber();
    if (i >= p.rows * p.columns) return false;
    *row = i <= 0x7fffffff && p.columns <= 0x7fffffff
               ? static_cast<uint32_t>(i) / static_cast<uint32_t>(p.columns)
               : i / p.columns;
    *column = i - *row * p.columns;
    return true;
}

template <typename T>
inline void SoftmaxCrossEntropyGrad(const SoftmaxParams& p) {
    using C = Number<T>;
    int64_t row;
    int64_t column;
    if (!FindElement(p, &row, &column)) return;
    const int64_t label = LabelAt(p.labels, row);
    const int64_t at = row * p.columns + column;
    C y = C(0);
    if (label != p.ignored) {
        // Labels may have changed since they were checked.
        if (column == 0 && (label < 0 || label >= p.columns)) {
            ReportError(p.log, p.site, row, label);
        }
        C g = static_cast<C>(
            *reinterpret_cast<const T*>(static_cast<char*>(p.gy) + row * p.gy_stride));
        if (p.scale != nullptr) g = static_cast<C>(static_cast<T>(g * *At<const C>(p.scale)));
        const C* const stats = At<const C>(p.stats, 2 * row);
        y = Exp((static_cast<C>(*At<const T>(p.x, at)) - stats[0]) - stats[1]) * g;
        if (column == label) y -= static_cast<C>(1 - p.smoothing) * g;
        if (p.smoothing != 0) {
            y -= static_cast<C>(p.smoothing / static_cast<double>(p.columns)) * g;
        }
    }
    *At<T>(p.out, at) = static_cast<T>(y);
}

template <typename T>
inline void OneHot(const SoftmaxParams& p) {
    int64_t row;
    int64_t column;
    if (!FindElement(p, &row, &column)) return;
    const int64_t label = LabelAt(p.labels, row);
    const bool counts = p.ignores == 0 || label != p.ignored;
    if (counts && column == 0 && (label < 0 || label >= p.columns)) {
        ReportError(p.log, p.site, row, label);
    }
    *At<T>(p.out, row * p.columns + column) =
        static_cast<T>(static_cast<Number<T>>(counts && label == column ? 1 : 0));
}

// Sums of a block, in thread 0.
struct Counted {
    double sum;
    int64_t counts[2];
};
inline Counted SumOfBlock(Counted of) {
    using G = Group<kBlockThreads>;
    of.sum = G::Sum(of.sum);
    for (int k = 0; k < 2; ++k) of.counts[k] = G::Sum(of.counts[k]);
    return of;
}
inline Counted SumOfBlocks(const CountParams& p) {
    Counted of{};
    for (int64_t b = threadIdx.x; b < p.blocks; b += kBlockThreads) {
        of.sum += p.sums[b];
        for (int k = 0; k < 2; ++k) of.counts[k] += p.counts[2 * b + k];
    }
    return SumOfBlock(of);
}
inline void StoreBlock(const CountParams& p, const Counted& of) {
    p.sums[blockIdx.x] = of.sum;
    for (int k = 0; k < 2; ++k) p.counts[2 * static_cast<int64_t>(blockIdx.x) + k] = of.counts[k];
}

template <typename T>
inline void StoreMean(const CountParams& p, const Counted& of) {
    using C = Number<T>;
    const auto counted = static_cast<double>(of.counts[0] > 1 ? of.counts[0] : 1);
    *At<T>(p.results[0], 0) = static_cast<T>(of.sum / counted);
    *At<C>(p.results[1], 0) = static_cast<C>(1 / counted);
}
static_assert(native::kLabelledLanes == kBlockThreads && native::kNarrowRow == 4 * kNarrowThreads);

template <typename T>
inline void MeanOfLabelled(const CountParams& p) {
    Counted of{};
    const int64_t begin = static_cast<int64_t>(blockIdx.x) * native::kLabelledPiece;
    const int64_t left = p.n - begin;
    const int64_t end = begin + (left < native::kLabelledPiece ? left : native::kLabelledPiece);
    for (int64_t i = begin + threadIdx.x; i < end; i += native::kLabelledLanes) {
        of.sum += static_cast<double>(static_cast<Number<T>>(*At<const T>(p.x, i)));
        of.counts[0] += LabelAt(p.labels, i) != p.ignored ? 1 : 0;
    }
    of = SumOfBlock(of);
    if (threadIdx.x != 0) return;
    if (p.blocks > 1) {
        StoreBlock(p, of);
    } else {
        StoreMean<T>(p, of);
    }
}
template <typename T>
inline void MeanOfBlocks(const CountParams& p) {
    const Counted of = SumOfBlocks(p);
    if (threadIdx.x == 0) StoreMean<T>(p, of);
}

inline void StoreHits(const CountParams& p, const Counted& of) {
    for (int k = 0; k < 2; ++k) *At<int64_t>(p.results[k], 0) = of.counts[k];
}
// kThreads threads look at the scores of a label.
template <typename T, int kThreads>
inline void CountHits(const CountParams& p) {
    using C = Number<T>;
    using G = Group<kThreads>;
    Counted of{};
    for (int64_t first = static_cast<int64_t>(blockIdx.x) * G::kRows; first < p.n;
         first += static_cast<int64_t>(gridDim.x) * G::kRows) {
        const int64_t i = first + threadIdx.x / kThreads;
        const bool is_inside = i < p.n;
        const int64_t label = LabelAt(p.labels, is_inside ? i : 0);
        const bool counts = is_inside && (p.ignores == 0 || label != p.ignored);
        const int64_t row = i / p.positions;
        const char* const x =
            static_cast<char*>(p.x) + row * p.strides[0] + (i - row * p.positions) * p.strides[2];
        int beaten = 1;
        if (counts && label >= 0 && label < p.classes) {
            const auto score = [&](int64_t j) {
                return static_cast<C>(*reinterpret_cast<const T*>(x + j * p.strides[1]));
            };
            const C best = score(label);
            beaten = 0;
            for (int64_t j = G::Lane(); j < p.classes; j += kThreads) {
                const C v = score(j);
                const bool is_less = best != best ? v == v : (j < label ? v < best : v <= best);
                if (j != label && !is_less && (best == best || j < label)) beaten = 1;
            }
        }
        if constexpr (kThreads > 1) beaten = G::Max(beaten);
        if (G::Lane() != 0 || !counts) continue;
        of.counts[0] += beaten == 0 ? 1 : 0;
        of.counts[1] += 1;
    }
    of = SumOfBlock(of);
    if (threadIdx.x != 0) return;
    if (p.blocks > 1) {
        StoreBlock(p, of);
    } else {
        StoreHits(p, of);
    }
}
template <typename T>
inline void HitsOfBlocks(const CountParams& p) {
    const Counted of = SumOfBlocks(p);
    if (threadIdx.x == 0) StoreHits(p, of);
}

}  // namespace chainerx::cuda
