// Means and variances: each few thousand elements are read twice, the second time centered on their
// mean, and joined in double. What is lost is that of sums of distances, not of the numbers.
#pragma once

#include "chainerx/native/isa/batch.h"

namespace chainerx::native {
namespace CX_ISA {
namespace {

// Elements that are summed up in T.
constexpr int64_t kBlockLength = 4096;
// Short runs are taken together until there are about as many, but not from too many places.
constexpr int64_t kEnough = 1024;
constexpr int64_t kMostRuns = 16;
constexpr int64_t kRowGroup = 64;

// f(offset, number of runs, their length)
template <typename F>
inline void ForBlocks(int64_t runs, int64_t stride, int64_t n, const F& f) {
    if (n > kBlockLength) {
        for (int64_t r = 0; r < runs; ++r) {
            for (int64_t i = 0; i < n; i += kBlockLength) {
                f(r * stride + i, 1, n - i < kBlockLength ? n - i : kBlockLength);
            }
        }
        return;
    }
    int64_t group = kEnough / n;
    group = group < 1 ? 1 : group > kMostRuns ? kMostRuns : group;
    for (int64_t r = 0; r < runs; r += group) {
        f(r * stride, runs - r < group ? runs - r : group, n);
    }
}

// f(first row, number of rows)
template <typename F>
inline void ForRowGroups(int64_t rows, const F& f) {
    for (int64_t r = 0; r < rows; r += kRowGroup) f(r, rows - r < kRowGroup ? rows - r : kRowGroup);
}

// Calls f<batches>(first column, part) for four batches of columns at a time, then for single ones;
// `part` is 0, or how many elements the last batch has.
template <typename T, typename F>
inline void ForColumns(int64_t width, const F& f) {
    constexpr int64_t kSize = Batch<T>::size;
    int64_t j = 0;
    for (; j + 4 * kSize <= width; j += 4 * kSize) f.template operator()<4>(j, 0);
    for (; j + kSize <= width; j += kSize) f.template operator()<1>(j, 0);
    if (j < width) f.template operator()<1>(j, width - j);
}

template <typename T>
inline Batch<T> LoadAt(const T* x, int k, int64_t part) {
    if (part != 0) return LoadPart(x, part);
    return Batch<T>::load_unaligned(x + k * static_cast<int64_t>(Batch<T>::size));
}
template <typename T>
inline void StoreAt(T* y, int k, int64_t part, const Batch<T>& v) {
    if (part != 0) {
        StorePart(y, v, part);
    } else {
        v.store_unaligned(y + k * static_cast<int64_t>(Batch<T>::size));
    }
}

// x - center of 0 < n < size elements; 0 in the other lanes.
template <typename T>
inline Batch<T> DistancePart(const T* x, int64_t n, const Batch<T>& center) {
    return xsimd::select(FirstLanes<T>(n), LoadPart(x, n) - center, Batch<T>(T(0)));
}

template <typename T>
inline double Total(const Batch<T>& x) {
    return static_cast<double>(xsimd::reduce_add(x));
}

// Calls f(first lane, part, widen) for the lanes of batch `k` of columns in registers of double:
// widen(x) are those lanes of a batch, and `part` is 0, or how many of them there are.
template <typename T, typename F>
inline void ForWide(int k, int64_t part, const F& f) {
    constexpr int64_t kSize = Batch<T>::size;
    if constexpr (sizeof(T) == 8) {
        f(k * kSize, part, [](const BatchD& x) { return x; });
    } else {
        constexpr int64_t kHalf = BatchD::size;
        const int64_t first = part == 0 || part >= kHalf ? 0 : part;
        f(k * kSize, first, [](const BatchF& x) { return Widen(x).low; });
        if (part != 0 && part <= kHalf) return;
        f(k * kSize + kHalf, part == 0 ? 0 : part - kHalf,
          [](const BatchF& x) { return Widen(x).high; });
    }
}

// The mean, and the sum of squared distances from it, of so many numbers.
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

template <typename T>
inline Moment MomentOfBlock(const T* x, int64_t runs, int64_t stride, int64_t n, bool centered) {
    constexpr int64_t kSize = Batch<T>::size;
    const double count = static_cast<double>(runs * n);
    T center = 0;
    if (centered) {
        Batch<T> s[4]{Batch<T>(T(0)), Batch<T>(T(0)), Batch<T>(T(0)), Batch<T>(T(0))};
        const T* p = x;
        for (int64_t r = 0; r < runs; ++r, p += stride) {
            int64_t i = 0;
            for (; i + 4 * kSize <= n; i += 4 * kSize) {
                for (int k = 0; k < 4; ++k) s[k] += Batch<T>::load_unaligned(p + i + k * kSize);
            }
            for (; i + kSize <= n; i += kSize) s[0] += Batch<T>::load_unaligned(p + i);
            if (i < n) s[1] += LoadPart(p + i, n - i);
        }
        center = static_cast<T>(Total((s[0] + s[1]) + (s[2] + s[3])) / count);
    }
    const Batch<T> c(center);
    Batch<T> sum[2]{Batch<T>(T(0)), Batch<T>(T(0))};
    Batch<T> square[2]{Batch<T>(T(0)), Batch<T>(T(0))};
    const auto add = [&](int k, const Batch<T>& d) {
        sum[k] += d;
        square[k] = xsimd::fma(d, d, square[k]);
    };
    for (int64_t r = 0; r < runs; ++r, x += stride) {
        int64_t i = 0;
        for (; i + 2 * kSize <= n; i += 2 * kSize) {
            add(0, Batch<T>::load_unaligned(x + i) - c);
            add(1, Batch<T>::load_unaligned(x + i + kSize) - c);
        }
        if (i + kSize <= n) {
            add(0, Batch<T>::load_unaligned(x + i) - c);
            i += kSize;
        }
        if (i < n) add(1, DistancePart(x + i, n - i, c));
    }
    const double squares = Total(square[0] + square[1]);
    if (!centered) return {count, 0, squares};
    const double off = Total(sum[0] + sum[1]) / count;
    const double rest = squares - off * off * count;
    return {count, static_cast<double>(center) + off, rest < 0 ? 0 : rest};
}

template <typename T>
void Moments(const T* x, int64_t runs, int64_t stride, int64_t n, bool centered, double* sums) {
    Moment all{0, 0, 0};
    ForBlocks(runs, stride, n, [&](int64_t offset, int64_t count, int64_t length) {
        all.Join(MomentOfBlock(x + offset, count, stride, length, centered));
    });
    sums[0] = all.mean;
    sums[1] = all.square;
}

template <typename T>
void ColumnMoments(const T* x, int64_t rows, int64_t stride, int64_t width, int64_t before,
                   double* sums, int64_t plane) {
    ForRowGroups(rows, [&](int64_t first, int64_t count) {
        const T* x0 = x + first * stride;
        const double inverse = 1 / static_cast<double>(count);
        // Where nothing came before, what stands in `sums` is not read.
        const bool is_first = before + first == 0;
        const double part =
            static_cast<double>(count) / static_cast<double>(before + first + count);
        const BatchD of_mean(part);
        const BatchD of_square(part * static_cast<double>(before + first));
        const BatchD zero(0.0);
        const BatchD n(static_cast<double>(count));
        const BatchD one_of_n(inverse);
        ForColumns<T>(width, [&]<int kBatches>(int64_t j, int64_t left) {
            Batch<T> c[kBatches];
            for (int k = 0; k < kBatches; ++k) c[k] = Batch<T>(T(0));
            for (int64_t r = 0; r < count; ++r) {
                for (int k = 0; k < kBatches; ++k) c[k] += LoadAt(x0 + r * stride + j, k, left);
            }
            Batch<T> sum[kBatches];
            Batch<T> square[kBatches];
            for (int k = 0; k < kBatches; ++k) {
                c[k] *= Batch<T>(static_cast<T>(inverse));
                sum[k] = square[k] = Batch<T>(T(0));
            }
            for (int64_t r = 0; r < count; ++r) {
                for (int k = 0; k < kBatches; ++k) {
                    const Batch<T> d = LoadAt(x0 + r * stride + j, k, left) - c[k];
                    sum[k] += d;
                    square[k] = xsimd::fma(d, d, square[k]);
                }
            }
            for (int k = 0; k < kBatches; ++k) {
                ForWide<T>(k, left, [&](int64_t lane, int64_t some, const auto& widen) {
                    double* mean = sums + j + lane;
                    const BatchD off = widen(sum[k]) * one_of_n;
                    const BatchD own_mean = widen(c[k]) + off;
                    const BatchD rest = widen(square[k]) - off * off * n;
                    // A nan is not below 0 and stays.
                    const BatchD own = xsimd::select(rest < zero, zero, rest);
                    if (is_first) {
                        StoreAt(mean, 0, some, own_mean);
                        StoreAt(mean + plane, 0, some, own);
                        return;
                    }
                    const BatchD old = LoadAt(mean, 0, some);
                    const BatchD delta = own_mean - old;
                    StoreAt(mean, 0, some, xsimd::fma(delta, of_mean, old));
                    StoreAt(mean + plane, 0, some,
                            LoadAt(mean + plane, 0, some) + own + delta * delta * of_square);
                });
            }
        });
    });
}

}  // namespace
}  // namespace CX_ISA
}  // namespace chainerx::native
