// Softmax of rows. Long rows are computed in batches along the row; narrow rows are transposed, one
// per lane, since the tail of a batch and a logarithm per row would cost more. The order of sums is
// that of row_order.h for every instruction set.
#pragma once

#include "chainerx/native/math/simd/math.h"
#include "chainerx/native/norm/simd/lane_sums.h"

namespace chainerx::native::CX_ISA {
namespace {

template <typename T>
constexpr T kMinusInfinity = -static_cast<T>(__builtin_inf());

// As many narrow rows as a batch has lanes, transposed.
template <typename T>
struct Panel {
    static constexpr int64_t kSize = Batch<T>::size;
    static constexpr int64_t kMaxColumns = kNarrowRow;

    int64_t n;
    alignas(64) T v[kMaxColumns][kSize];

    // Lanes beyond the rows repeat the last row.
    Panel(const T* x, int64_t rows, int64_t columns) : n{columns} {
        for (int64_t r = 0; r < kSize; ++r) {
            const T* row = x + (r < rows ? r : rows - 1) * n;
            for (int64_t j = 0; j < n; ++j) v[j][r] = row[j];
        }
    }
    void Store(T* y, int64_t rows) const {
        for (int64_t r = 0; r < rows; ++r) {
            for (int64_t j = 0; j < n; ++j) y[r * n + j] = v[j][r];
        }
    }

    Batch<T> Max() const {
        Batch<T> max(kMinusInfinity<T>);
        for (int64_t j = 0; j < n; ++j) max = xsimd::max(max, Batch<T>::load_aligned(v[j]));
        return max;
    }
    Batch<T> SumOfExp(const Batch<T>& max) const {
        Batch<T> sum(T(0));
        for (int64_t j = 0; j < n; ++j) sum += math::Exp(Batch<T>::load_aligned(v[j]) - max);
        return sum;
    }
    void Apply(const auto& f) {
        for (int64_t j = 0; j < n; ++j) f(Batch<T>::load_aligned(v[j])).store_aligned(v[j]);
    }
};

// Calls f(panel, first row, number of rows) for all rows.
template <typename T, typename F>
inline void ForPanels(const T* x, int64_t rows, int64_t n, const F& f) {
    constexpr int64_t kSize = Panel<T>::kSize;
    for (int64_t i = 0; i < rows; i += kSize) {
        const int64_t count = rows - i < kSize ? rows - i : kSize;
        Panel<T> panel{x + i * n, count, n};
        f(panel, i, count);
    }
}

template <typename T>
inline bool IsNarrow(int64_t n) {
    return n <= Panel<T>::kMaxColumns;
}

template <typename T>
struct LaneNumbers {
    alignas(64) T v[16]{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
};
template <typename T>
constexpr LaneNumbers<T> kLaneNumbers;

// Loads 0 < n < size elements; the other lanes are `fill`.
template <typename T>
[[gnu::always_inline]] inline Batch<T> LoadFilled(const T* x, int64_t n, T fill) {
    const auto lane = Batch<T>::load_aligned(kLaneNumbers<T>.v);
    return xsimd::select(lane < Batch<T>(static_cast<T>(n)), LoadPart(x, n), Batch<T>(fill));
}

template <typename T>
inline T MaxOfRow(const T* x, int64_t n) {
    constexpr int64_t kSize = Batch<T>::size;
    Batch<T> max(kMinusInfinity<T>);
    int64_t i = 0;
    for (; i + kSize <= n; i += kSize) max = xsimd::max(max, Batch<T>::load_unaligned(x + i));
    if (i < n) max = xsimd::max(max, LoadFilled(x + i, n - i, kMinusInfinity<T>));
    return xsimd::reduce_max(max);
}

// Sums the terms of a row in the order of row_order.h. f<is_part>(first element, count) has the
// terms of a batch; those beyond `count` are 0.
template <typename T, typename F>
[[gnu::always_inline]] inline LaneSums<T, kRowLanes> SumOfBlock(int64_t begin, int64_t end,
                                                                const F& f) {
    LaneSums<T, kRowLanes> sum;
    ForLanes<T, kRowLanes>(begin, end, [&]<bool kPart>(auto k, int64_t i, int64_t count) {
        sum.part[k] += f.template operator()<kPart>(i, count);
    });
    return sum;
}
template <typename T, typename F>
[[gnu::always_inline]] inline T SumOfTerms(int64_t n, const F& f) {
    if (n <= kRowBlock) return SumOfBlock<T>(0, n, f).total();
    LaneSums<T, kRowLanes> total;
    for (int64_t begin = 0; begin < n; begin += kRowBlock) {
        const auto sum = SumOfBlock<T>(begin, n - begin < kRowBlock ? n : begin + kRowBlock, f);
        for (int64_t k = 0; k < sum.kBatches; ++k) total.part[k] += sum.part[k];
    }
    return total.total();
}

template <typename T>
inline T LogSumOfRow(const T* x, int64_t n, T max) {
    const T sum = SumOfTerms<T>(n, [&]<bool kPart>(int64_t i, int64_t count) {
        if constexpr (kPart) {
            return math::Exp(LoadFilled(x + i, count, kMinusInfinity<T>) - max);
        } else {
            return math::Exp(Batch<T>::load_unaligned(x + i) - max);
        }
    });
    return math::Log(Batch<T>(sum)).get(0);
}

template <typename T>
inline void SoftmaxOfRow(const T* x, T* y, int64_t n) {
    constexpr int64_t kSize = Batch<T>::size;
    const T max = MaxOfRow(x, n);
    // The tail stays in a register: a load right after a masked store would stall (no store
    // forwarding).
    Batch<T> rest(T(0));
    const T sum = SumOfTerms<T>(n, [&]<bool kPart>(int64_t i, int64_t count) {
        if constexpr (kPart) {
            return rest = math::Exp(LoadFilled(x + i, count, kMinusInfinity<T>) - max);
        } else {
            const Batch<T> e = math::Exp(Batch<T>::load_unaligned(x + i) - max);
            e.store_unaligned(y + i);
            return e;
        }
    });
    const Batch<T> scale(T(1) / sum);
    const int64_t whole = n / kSize * kSize;
    ForRow(y, y, whole, [&](const Batch<T>& e) { return e * scale; });
    if (whole < n) StorePart(y + whole, rest * scale, n - whole);
}

// ---- exported loops: see SoftmaxLoops ---------------------------------------------------------

template <typename T>
void SoftmaxStats(const T* x, int64_t rows, int64_t n, T* stats) {
    if (!IsNarrow<T>(n)) {
        for (int64_t i = 0; i < rows; ++i) {
            const T max = MaxOfRow(x + i * n, n);
            stats[2 * i] = max;
            stats[2 * i + 1] = LogSumOfRow(x + i * n, n, max);
        }
        return;
    }
    ForPanels(x, rows, n, [&](const Panel<T>& panel, int64_t first, int64_t count) {
        alignas(64) T max[Panel<T>::kSize];
        alignas(64) T log_sum[Panel<T>::kSize];
        const Batch<T> m = panel.Max();
        m.store_aligned(max);
        math::Log(panel.SumOfExp(m)).store_aligned(log_sum);
        for (int64_t r = 0; r < count; ++r) {
            stats[2 * (first + r)] = max[r];
            stats[2 * (first + r) + 1] = log_sum[r];
        }
    });
}

template <typename T>
void Softmax(const T* x, int64_t rows, int64_t n, T* y) {
    if (!IsNarrow<T>(n)) {
        for (int64_t i = 0; i < rows; ++i) SoftmaxOfRow(x + i * n, y + i * n, n);
        return;
    }
    ForPanels(x, rows, n, [&](Panel<T>& panel, int64_t first, int64_t count) {
        const Batch<T> max = panel.Max();
        Batch<T> sum(T(0));
        panel.Apply([&](const Batch<T>& b) {
            const Batch<T> e = math::Exp(b - max);
            sum += e;
            return e;
        });
        const Batch<T> scale = Batch<T>(T(1)) / sum;
        panel.Apply([&](const Batch<T>& e) { return e * scale; });
        panel.Store(y + first * n, count);
    });
}

template <typename T>
void LogSoftmax(const T* x, int64_t rows, int64_t n, T* y) {
    if (!IsNarrow<T>(n)) {
        for (int64_t i = 0; i < rows; ++i) {
            const T max = MaxOfRow(x + i * n, n);
            const T log_sum = LogSumOfRow(x + i * n, n, max);
            ForRow(x + i * n, y + i * n, n, [=](const Batch<T>& b) { return (b - max) - log_sum; });
        }
        return;
    }
    ForPanels(x, rows, n, [&](Panel<T>& panel, int64_t first, int64_t count) {
        const Batch<T> max = panel.Max();
        const Batch<T> log_sum = math::Log(panel.SumOfExp(max));
        panel.Apply([&](const Batch<T>& b) { return (b - max) - log_sum; });
        panel.Store(y + first * n, count);
    });
}

template <typename T>
void ScaledSoftmax(const T* x, const T* stats, const T* scale, int64_t step, int64_t rows,
                   int64_t n, T* y) {
    if (!IsNarrow<T>(n)) {
        for (int64_t i = 0; i < rows; ++i) {
            const T max = stats[2 * i];
            const T log_sum = stats[2 * i + 1];
            const T factor = scale[step * i];
            ForRow(x + i * n, y + i * n, n,
                   [=](const Batch<T>& b) { return math::Exp((b - max) - log_sum) * factor; });
        }
        return;
    }
    ForPanels(x, rows, n, [&](Panel<T>& panel, int64_t first, int64_t count) {
        alignas(64) T lanes[3][Panel<T>::kSize] = {};
        for (int64_t r = 0; r < count; ++r) {
            lanes[0][r] = stats[2 * (first + r)];
            lanes[1][r] = stats[2 * (first + r) + 1];
            lanes[2][r] = scale[step * (first + r)];
        }
        const auto max = Batch<T>::load_aligned(lanes[0]);
        const auto log_sum = Batch<T>::load_aligned(lanes[1]);
        const auto factor = Batch<T>::load_aligned(lanes[2]);
        panel.Apply([&](const Batch<T>& b) { return math::Exp((b - max) - log_sum) * factor; });
        panel.Store(y + first * n, count);
    });
}

}  // namespace
}  // namespace chainerx::native::CX_ISA
