// Piecewise linear interpolation. Per block: finds the intervals, gathers the points around them,
// then computes in vectors.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "chainerx/kernels/sort/sorting.h"
#include "chainerx/native/native_kernel.h"

namespace chainerx::native {
namespace {

constexpr int64_t kBlock = 256;
constexpr int64_t kGrain = 1 << 14;

template <typename T>
struct Table {
    const T* x;
    const T* y;
    int64_t n;        // at least 2
    const T* slopes;  // slopes of all n - 1 lines, or null if not precomputed

    T WidthOf(int64_t i) const { return x[i + 1] - x[i]; }
    // Where points coincide, the last one counts.
    T SlopeOf(int64_t i) const {
        const T width = WidthOf(i);
        return (y[i + 1] - y[i]) / (width == 0 ? T(1) : width);
    }
};

// places[i] = the last interval whose start is not above x[i], 0 if there is none. It stays within
// the table even if another thread writes to the table.
template <typename T>
void FindPlaces(const Table<T>& t, const T* x, int64_t count, int64_t* places) {
    // Searches are interleaved to overlap cache misses.
    constexpr int64_t kTogether = 16;
    const auto search = [&](const T* v, int64_t width, int64_t* found) {
        for (int64_t j = 0; j < width; ++j) found[j] = 0;
        for (int64_t left = t.n - 1; left > 1;) {
            const int64_t half = left / 2;
            for (int64_t j = 0; j < width; ++j) {
                found[j] += t.x[found[j] + half] <= v[j] ? half : 0;
            }
            left -= half;
        }
    };
    // Linear search from the previous place, for (nearly) ascending numbers among few points.
    constexpr int64_t kPointsPerNumber = 4;  // points per number
    constexpr int64_t kSteps = 4 * kPointsPerNumber;
    int64_t ascents = 0;
    for (int64_t i = 1; i < count; ++i) ascents += x[i] >= x[i - 1];
    int64_t at = 0;
    int64_t end = 0;
    search(x, 1, &at);
    search(x + count - 1, 1, &end);
    if (ascents < count - count / 16 - 1 || end - at > kPointsPerNumber * count) {
        for (int64_t i = 0; i < count; i += kTogether) {
            search(x + i, std::min(kTogether, count - i), places + i);
        }
        return;
    }
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    for (int64_t i = 0; i < count;) {
        int64_t steps = t.x[at] <= x[i] || at == 0 ? 0 : kSteps;
        while (steps < kSteps && at + 2 < t.n && t.x[at + 1] <= x[i]) {
            ++at;
            ++steps;
        }
        if (steps == kSteps) search(x + i, 1, &at);
        // Consumes all following numbers on the same line in a tight loop.
        const T low = at == 0 ? -kInfinity : t.x[at];
        const T high = at + 2 < t.n ? t.x[at + 1] : kInfinity;
        do {
            places[i++] = at;
        } while (i < count && x[i] >= low && x[i] < high);
    }
}

template <typename T>
bool IsFinite(T v) {
    return std::abs(v) <= std::numeric_limits<T>::max();
}

// Recomputes results that are NaN or infinite. Between finite points whose distance overflows,
// weighted parts of both are added. Next to a non-finite point, the limit from either side counts,
// and a level line stays level.
template <typename T>
T OnHardLine(const Table<T>& t, int64_t i, T x) {
    const T x0 = t.x[i];
    const T x1 = t.x[i + 1];
    const T y0 = t.y[i];
    const T y1 = t.y[i + 1];
    const T slope = t.SlopeOf(i);
    if (IsFinite(x0) && IsFinite(x1) && IsFinite(y0) && IsFinite(y1) && x0 != x1) {
        const T part = (x / 4 - x0 / 4) / (x1 / 4 - x0 / 4);
        return y0 * (1 - part) + y1 * part;
    }
    T y = y0 + slope * (x - x0);
    if (y != y) y = y1 + slope * (x - x1);
    return y != y && x == x && y0 == y1 ? y0 : y;
}

template <typename T>
void InterpBlock(const Table<T>& t, const T* __restrict x, int64_t count, T left, T right,
                 T* __restrict out) {
    int64_t places[kBlock];
    T x0[kBlock];
    T y0[kBlock];
    T slope[kBlock];
    FindPlaces(t, x, count, places);
    for (int64_t i = 0; i < count; ++i) {
        x0[i] = t.x[places[i]];
        y0[i] = t.y[places[i]];
        slope[i] = t.slopes != nullptr ? t.slopes[places[i]] : t.SlopeOf(places[i]);
    }
    const T first = t.x[0];
    const T last = t.x[t.n - 1];
    const T last_value = t.y[t.n - 1];
    T y[kBlock];
    for (int64_t i = 0; i < count; ++i) y[i] = y0[i] + slope[i] * (x[i] - x0[i]);
    // Infinity has become NaN at points, and -0 has lost its sign. A steep line is infinite.
    const auto is_lost = [](T v) { return !(std::abs(v) > 0) || !IsFinite(v); };
    bool any_lost = false;
    for (int64_t i = 0; i < count; ++i) any_lost |= is_lost(y[i]);
    for (int64_t i = 0; i < count && any_lost; ++i) {
        if (!is_lost(y[i])) continue;
        if (x[i] == x0[i]) {
            y[i] = y0[i];
        } else if (!IsFinite(y[i])) {
            y[i] = OnHardLine(t, places[i], x[i]);
        }
    }
    for (int64_t i = 0; i < count; ++i) {
        T v = x[i] >= last ? last_value : y[i];
        v = x[i] > last ? right : v;
        out[i] = x[i] < first ? left : v;
    }
}

void Interp(const Array& x, const Array& xp, const Array& fp, const std::optional<double>& left,
            const std::optional<double>& right, const Array& out) {
    const int64_t size = x.GetTotalSize();
    const auto run = [&]<typename T>() {
        const auto data = [](const Array& a) { return reinterpret_cast<T*>(a.raw_data()); };
        Table<T> table{data(xp), data(fp), xp.GetTotalSize(), nullptr};
        std::unique_ptr<T[]> slopes;
        // If distances between points overflow, slopes are NaN, so that the vector code yields NaN.
        const bool is_wide = !IsFinite(table.x[table.n - 1] - table.x[0]);
        if (table.n <= size / 2 || is_wide) {  // divisions take as long as all the rest
            slopes = std::make_unique_for_overwrite<T[]>(static_cast<size_t>(table.n - 1));
            for (int64_t i = 0; i + 1 < table.n; ++i) slopes[i] = table.SlopeOf(i);
            for (int64_t i = 0; is_wide && i + 1 < table.n; ++i) {
                if (!IsFinite(table.WidthOf(i))) slopes[i] = std::numeric_limits<T>::quiet_NaN();
            }
            table.slopes = slopes.get();
        }
        const T below = left ? static_cast<T>(*left) : table.y[0];
        const T above = right ? static_cast<T>(*right) : table.y[table.n - 1];
        ParallelFor(CeilDiv(size, kGrain), [&](int64_t piece) {
            internal::CheckInterrupt();
            const int64_t end = std::min(size, (piece + 1) * kGrain);
            for (int64_t i = piece * kGrain; i < end; i += kBlock) {
                InterpBlock(table, data(x) + i, std::min(kBlock, end - i), below, above,
                            data(out) + i);
            }
        });
    };
    if (out.dtype() == Dtype::kFloat32) {
        run.template operator()<float>();
    } else {
        run.template operator()<double>();
    }
}
CX_NATIVE_KERNEL(Interp)

}  // namespace
}  // namespace chainerx::native
