// Mean and variance. A few thousand elements are summed in T, as deviations from an estimate of
// their mean, and joined in double: so rounding errors are relative to the deviations, not to the
// numbers. If the estimate was bad, they are summed again.
#pragma once

#include "chainerx/native/norm/simd/lane_sums.h"

namespace chainerx::native::CX_ISA {
namespace {

// f(offset, number of runs, their length)
inline void ForBlocks(int64_t runs, int64_t stride, int64_t n, const auto& f) {
    if (n > kNormUnit) {
        for (int64_t r = 0; r < runs; ++r) {
            for (int64_t i = 0; i < n; i += kNormUnit) {
                f(r * stride + i, 1, n - i < kNormUnit ? n - i : kNormUnit);
            }
        }
        return;
    }
    const int64_t group = NormRunsOfUnit(n);
    for (int64_t r = 0; r < runs; r += group) {
        f(r * stride, runs - r < group ? runs - r : group, n);
    }
}

// f(first row, number of rows)
inline void ForRowGroups(int64_t rows, const auto& f) {
    for (int64_t r = 0; r < rows; r += kNormRows) f(r, rows - r < kNormRows ? rows - r : kNormRows);
}

// Calls f<batches, is_part>(first column, part) for four batches of columns at a time, then for
// single ones; the last one may have only `part` elements.
template <typename T, typename F>
inline void ForColumns(int64_t width, const F& f) {
    constexpr int64_t kSize = Batch<T>::size;
    int64_t j = 0;
    for (; j + 4 * kSize <= width; j += 4 * kSize) f.template operator()<4, false>(j, 0);
    for (; j + kSize <= width; j += kSize) f.template operator()<1, false>(j, 0);
    if (j < width) f.template operator()<1, true>(j, width - j);
}

// Loads batch k, of which `part` elements exist.
template <bool kPart, typename T>
[[gnu::always_inline]] inline Batch<T> LoadAt(const T* x, int k, int64_t part) {
    if constexpr (kPart) {
        return LoadPart(x, part);
    } else {
        return Batch<T>::load_unaligned(x + k * static_cast<int64_t>(Batch<T>::size));
    }
}
// The same for loops that also store; see Load().
template <bool kPart, typename T>
[[gnu::always_inline]] inline Batch<T> LoadStreamAt(const T* x, int k, int64_t part) {
    if constexpr (kPart) {
        return LoadPart(x, part);
    } else {
        return Load(x + k * static_cast<int64_t>(Batch<T>::size));
    }
}
template <bool kPart, typename T>
[[gnu::always_inline]] inline void StoreAt(T* y, int k, int64_t part, const Batch<T>& v) {
    if constexpr (kPart) {
        StorePart(y, v, part);
    } else {
        v.store_unaligned(y + k * static_cast<int64_t>(Batch<T>::size));
    }
}

// x - center; 0 in the lanes beyond a part of 0 < n < size elements.
template <bool kPart, typename T>
[[gnu::always_inline]] inline Batch<T> DistanceAt(const T* x, int64_t n, const Batch<T>& center) {
    if constexpr (kPart) {
        return xsimd::select(FirstLanes<T>(n), LoadPart(x, n) - center, Batch<T>(T(0)));
    } else {
        return Batch<T>::load_unaligned(x) - center;
    }
}

template <typename T>
using NormSums = LaneSums<T, NormLanes<T>()>;

// Calls f<is_part>(first lane, part, widen) for the lanes of batch `k` of columns, converted to
// double: widen(x) converts these lanes of a batch.
template <typename T, bool kPart, typename F>
inline void ForWide(int k, int64_t part, const F& f) {
    constexpr int64_t kSize = Batch<T>::size;
    if constexpr (sizeof(T) == 8) {
        f.template operator()<kPart>(k * kSize, part, [](const BatchD& x) { return x; });
    } else {
        constexpr int64_t kHalf = BatchD::size;
        const auto low = [](const BatchF& x) { return Widen(x).low; };
        const auto high = [](const BatchF& x) { return Widen(x).high; };
        if (!kPart || part >= kHalf) {
            f.template operator()<false>(k * kSize, 0, low);
        } else {
            f.template operator()<true>(k * kSize, part, low);
        }
        if constexpr (!kPart) {
            f.template operator()<false>(k * kSize + kHalf, 0, high);
        } else if (part > kHalf) {
            f.template operator()<true>(k * kSize + kHalf, part - kHalf, high);
        }
    }
}

// The mean and the sum of squared deviations of some numbers.
struct Moment {
    double count;
    double mean;
    double square;

    void Join(const Moment& o) {
        if (count == 0) {
            *this = o;
            return;
        }
        const double total = count + o.count;
        const double delta = o.mean - mean;
        const double part = o.count / total;
        mean += delta * part;
        square += o.square + delta * delta * count * part;
        count = total;
    }
};

// The estimate is bad if the squared deviations from it exceed those from the mean so far that
// digits are lost.
constexpr double kBadGuess = 4;

template <typename T>
inline Moment MomentOfBlock(const T* x, int64_t runs, int64_t stride, int64_t n, bool centered) {
    const auto count = static_cast<double>(runs * n);
    const double one_of_count = 1 / count;
    T center = 0;
    if (centered) {
        // Samples the whole block, since the first numbers may be padding.
        const T* last = x + (runs - 1) * stride;
        center = ((x[0] + x[n / 3]) + (last[n / 2] + last[n - 1])) * T(0.25);
    }
    for (bool is_guess = centered;; is_guess = false) {
        const Batch<T> c(center);
        NormSums<T> sum;
        NormSums<T> square;
        const T* p = x;
        for (int64_t r = 0; r < runs; ++r, p += stride) {
            ForLanes<T, NormLanes<T>()>(0, n, [&]<bool kPart>(auto k, int64_t i, int64_t part) {
                const Batch<T> d = DistanceAt<kPart>(p + i, part, c);
                sum.part[k] += d;
                square.part[k] = xsimd::fma(d, d, square.part[k]);
            });
        }
        const auto squares = static_cast<double>(square.total());
        if (!centered) return {count, 0, squares};
        const double off = static_cast<double>(sum.total()) * one_of_count;
        const double of_guess = off * off * count;
        const double rest = squares - of_guess;
        if (!is_guess || !(of_guess > kBadGuess * rest)) {
            return {count, static_cast<double>(center) + off, rest < 0 ? 0 : rest};
        }
        center += static_cast<T>(off);
    }
}

void Moments(const auto* x, int64_t runs, int64_t stride, int64_t n, bool centered, double* sums) {
    Moment all{0, 0, 0};
    ForBlocks(runs, stride, n, [&](int64_t offset, int64_t count, int64_t length) {
        all.Join(MomentOfBlock(x + offset, count, stride, length, centered));
    });
    sums[0] = all.mean;
    sums[1] = all.square;
}

template <typename T>
void ColumnMoments(const T* x, int64_t rows, int64_t stride, int64_t width, double* sums,
                   int64_t plane) {
    ForRowGroups(rows, [&](int64_t first, int64_t count) {
        const T* x0 = x + first * stride;
        const double inverse = 1 / static_cast<double>(count);
        // The first block does not read `sums`.
        const bool is_first = first == 0;
        const double part = static_cast<double>(count) / static_cast<double>(first + count);
        const BatchD of_mean(part);
        const BatchD of_square(part * static_cast<double>(first));
        const BatchD zero(0.0);
        const BatchD n(static_cast<double>(count));
        const BatchD one_of_n(inverse);
        ForColumns<T>(width, [&]<int kBatches, bool kPart>(int64_t j, int64_t left) {
            Batch<T> c[kBatches];
            Batch<T> sum[kBatches];
            Batch<T> square[kBatches];
            for (int k = 0; k < kBatches; ++k) {
                const auto row = [&](int64_t r) {
                    return LoadAt<kPart>(x0 + (r < count ? r : 0) * stride + j, k, left);
                };
                c[k] = ((row(0) + row(1)) + (row(2) + row(3))) * Batch<T>(T(0.25));
            }
            for (bool is_guess = true;; is_guess = false) {
                for (int k = 0; k < kBatches; ++k) sum[k] = square[k] = Batch<T>(T(0));
                for (int64_t r = 0; r < count; ++r) {
                    for (int k = 0; k < kBatches; ++k) {
                        const Batch<T> d = LoadAt<kPart>(x0 + r * stride + j, k, left) - c[k];
                        sum[k] += d;
                        square[k] = xsimd::fma(d, d, square[k]);
                    }
                }
                if (!is_guess) break;
                // Only bad estimates are replaced: the others' sums stay what they are.
                bool is_any_bad = false;
                for (int k = 0; k < kBatches; ++k) {
                    const Batch<T> of_guess = sum[k] * sum[k] * Batch<T>(static_cast<T>(inverse));
                    const auto is_bad = of_guess > (square[k] - of_guess) * Batch<T>(T(kBadGuess));
                    is_any_bad |= xsimd::any(is_bad);
                    const Batch<T> mean = c[k] + sum[k] * Batch<T>(static_cast<T>(inverse));
                    c[k] = xsimd::select(is_bad, mean, c[k]);
                }
                if (!is_any_bad) break;
            }
            for (int k = 0; k < kBatches; ++k) {
                ForWide<T, kPart>(
                    k, left, [&]<bool kSome>(int64_t lane, int64_t some, const auto& widen) {
                        double* mean = sums + j + lane;
                        const BatchD off = widen(sum[k]) * one_of_n;
                        const BatchD own_mean = widen(c[k]) + off;
                        const BatchD rest = widen(square[k]) - off * off * n;
                        // NaN is not below 0 and is kept.
                        const BatchD own = xsimd::select(rest < zero, zero, rest);
                        if (is_first) {
                            StoreAt<kSome>(mean, 0, some, own_mean);
                            StoreAt<kSome>(mean + plane, 0, some, own);
                            return;
                        }
                        const BatchD old = LoadAt<kSome>(mean, 0, some);
                        const BatchD delta = own_mean - old;
                        StoreAt<kSome>(mean, 0, some, xsimd::fma(delta, of_mean, old));
                        StoreAt<kSome>(
                            mean + plane, 0, some,
                            LoadAt<kSome>(mean + plane, 0, some) + own + delta * delta * of_square);
                    });
            }
        });
    });
}

}  // namespace
}  // namespace chainerx::native::CX_ISA
