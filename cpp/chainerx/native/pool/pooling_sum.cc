// Sum and average pooling, and their gradients.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "chainerx/kernels/pool/pooling.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/pool/pooling_kernel.h"
#include "chainerx/native/pool/pooling_plan.h"

namespace chainerx::native {
namespace {

// Collects rows and sums them, sixteen at a time. A single undivided row is not copied.
template <typename T>
class RowSum {
 public:
    RowSum(int64_t n, T* buffer) : n_{n}, buffer_{buffer} {}

    void Add(const T* row) {
        if (rows_.count == PoolRows::kMax) Flush(T(1));
        rows_.data[rows_.count++] = row;
    }
    // Returns null if there was no row.
    const T* Finish(T divisor) {
        if (rows_.count == 0) return nullptr;
        if (rows_.count == 1 && !rows_.resume && divisor == T(1)) return rows_.row<T>(0);
        Flush(divisor);
        return buffer_;
    }

 private:
    void Flush(T divisor) {
        pooling_loops().Of<T>().add_rows(rows_, n_, divisor, buffer_);
        rows_.count = 0;
        rows_.resume = true;
    }

    PoolRows rows_;
    int64_t n_;
    T* buffer_;
};

// The divisor of a window's sum, given the number of elements inside of the input.
double DivisorOf(const PoolPlan& plan, PoolDivisor divisor, int64_t inside) {
    switch (divisor) {
        case PoolDivisor::kOne:
            return 1;
        case PoolDivisor::kWindow:
            return static_cast<double>(plan.taps);
        case PoolDivisor::kInside:
            return static_cast<double>(std::max<int64_t>(inside, 1));
    }
    return 1;
}

// Whether to sum rows first, and then the windows of the result.
bool SumsRowsFirst(const PoolPlan& plan) {
    int64_t rows = 1;
    for (int i = 0; i < plan.ndim() - 1; ++i) rows *= plan.axis(i).size;
    return rows > 1 && (rows > PoolRows::kMax || plan.taps > 64);
}

template <typename T>
void SumRows(const PoolPlan& plan, PoolDivisor divisor, const T* x, T* y) {
    const PoolAxis& last = plan.last();
    const auto sum = pooling_loops().Of<T>().sum;
    const bool rows_first = SumsRowsFirst(plan);
    ForRuns(plan, [&](int64_t plane, int64_t* at, int64_t end) {
        const T* in = x + plane * plan.in_plane;
        const std::unique_ptr<T[]> buffer{rows_first ? new T[static_cast<size_t>(last.in)]
                                                     : nullptr};
        int64_t& place = at[plan.ndim() - 2];
        // Adds `n_rows` rows of the output.
        const auto add = [&](int64_t o, int64_t n_rows) {
            place = o;
            T* out = y + plane * plan.out_plane + plan.Row(at) * last.out;
            const T* starts[PoolRows::kMax];
            PoolRows rows;
            rows.stride = last.stride;
            rows.out_rows = n_rows;
            rows.in_step = plan.rows().stride * last.in;
            rows.out_step = last.out;
            if (rows_first) {
                RowSum<T> total{last.in, buffer.get()};
                plan.ForInputRows(at, [&](int64_t row, int64_t) { total.Add(in + row * last.in); });
                starts[0] = total.Finish(T(1));
                rows.count = starts[0] != nullptr;
            } else {
                plan.ForInputRows(
                    at, [&](int64_t row, int64_t) { starts[rows.count++] = in + row * last.in; });
            }
            const int64_t inside = plan.CountInside(at);
            last.ForSlicedSegments(plan.taps, [&](int64_t o, int64_t n, PoolRange range) {
                rows.width = range.end - range.begin;
                if (rows.count == 0 || rows.width <= 0) {
                    for (int64_t j = 0; j < n_rows; ++j)
                        std::fill_n(out + j * last.out + o, n, T(0));
                    return;
                }
                for (int r = 0; r < rows.count; ++r) rows.data[r] = starts[r] + range.begin;
                sum(rows, n, static_cast<T>(DivisorOf(plan, divisor, inside * rows.width)),
                    out + o);
            });
        };
        if (rows_first) {
            for (int64_t o = place; o < end; ++o) add(o, 1);
        } else {
            plan.rows().ForSegments(place, end,
                                    [&](int64_t o, int64_t n, PoolRange) { add(o, n); });
        }
    });
}

void SumPool(const Array& x, const PoolWindow& window, PoolDivisor divisor, const Array& y) {
    VisitFloat(x.dtype(), [&]<typename T>() {
        if constexpr (std::is_floating_point_v<T>) {
            SumRows(PoolPlan{x.shape(), y.shape(), window, true}, divisor, PoolData<T>(x),
                    PoolData<T>(y));
        } else {
            PoolInFloat32(x, y, [&](const Array& wide_x, const Array& wide_y) {
                SumPool(wide_x, window, divisor, wide_y);
            });
        }
    });
}
CX_NATIVE_KERNEL(SumPool)

// Broadcasts gy to its windows along one axis.
template <typename T>
void SpreadRow(const PoolAxis& axis, const T* gy, T* gx) {
    const PoolLoopsOf<T>& loops = pooling_loops().Of<T>();
    if (axis.stride == 1) {
        // The outputs that contain an element are adjacent in gy: their gradients are a pooling sum
        // over gy.
        PoolAxis back{axis.out, axis.in, axis.size, 1, axis.size - 1 - axis.pad};
        back.whole = back.Whole();
        PoolRows rows;
        rows.count = 1;
        rows.stride = 1;
        back.ForSlicedSegments(back.size, [&](int64_t i, int64_t n, PoolRange range) {
            rows.data[0] = gy + range.begin;
            rows.width = range.end - range.begin;
            if (rows.width > 0) {
                loops.sum(rows, n, T(1), gx + i);
            } else {
                std::fill_n(gx + i, n, T(0));
            }
        });
        return;
    }
    if (axis.size == 2 && axis.stride == 2 && axis.pad == 0 && axis.AllInside()) {
        loops.twice(gy, 1, axis.out, 1, T(1), gx);
        std::fill(gx + 2 * axis.out, gx + axis.in, T(0));
        return;
    }
    std::fill_n(gx, axis.in, T(0));
    axis.ForSlicedSegments(axis.size, [&](int64_t o, int64_t n, PoolRange range) {
        for (int64_t i = 0; i < n; ++i) {
            const T g = gy[o + i];
            for (int64_t t = range.begin + i * axis.stride; t < range.end + i * axis.stride; ++t) {
                gx[t] += g;
            }
        }
    });
}

// gy / the number of elements inside of each window.
template <typename T>
void DivideEach(const PoolPlan& plan, const T* gy, T* out) {
    const PoolAxis& last = plan.last();
    ForPieces(plan.planes * plan.out_rows, last.out, [&](int64_t begin, int64_t end) {
        for (int64_t unit = begin; unit < end; ++unit) {
            int64_t at[kMaxSpatial];
            plan.Unravel(unit % plan.out_rows, false, at);
            const int64_t n_rows = plan.CountInside(at);
            for (int64_t o = 0; o < last.out; ++o) {
                const PoolRange r = last.Inside(o);
                const int64_t n = n_rows * std::max<int64_t>(r.end - r.begin, 0);
                const int64_t i = unit * last.out + o;
                out[i] = gy[i] / static_cast<T>(std::max<int64_t>(n, 1));
            }
        }
    });
}

// Each row of the input is a single window.
template <typename T>
void RepeatRows(const PoolPlan& plan, T divisor, const T* gy, T* gx) {
    const int64_t n = plan.last().in;
    ForPieces(plan.in_rows, n, [&](int64_t begin, int64_t end) {
        pooling_loops().Of<T>().repeat(gy + begin, end - begin, n, divisor, gx + begin * n);
    });
}

// Windows that are two elements wide and tile all axes.
template <typename T>
void DoubleRows(const PoolPlan& plan, T divisor, const T* gy, T* gx) {
    const int64_t n = plan.last().out;
    const int64_t copies = plan.rows().size;
    ForPieces(plan.out_rows, plan.last().in * copies, [&](int64_t begin, int64_t end) {
        pooling_loops().Of<T>().twice(gy + begin * n, end - begin, n, copies, divisor,
                                      gx + begin * copies * 2 * n);
    });
}

template <typename T>
void SpreadRows(const PoolPlan& plan, T divisor, const T* gy, T* gx) {
    const PoolAxis& last = plan.last();
    if (plan.planes == 1 && plan.ndim() == 2 && plan.rows().IsExact() && last.IsExact() &&
        last.size == 2) {
        return DoubleRows(plan, divisor, gy, gx);
    }
    if (plan.planes == 1 && plan.ndim() == 2 && plan.rows().size == 1 && plan.rows().IsExact() &&
        last.out == 1 && last.IsExact()) {
        return RepeatRows(plan, divisor, gy, gx);
    }
    ForPieces(plan.planes * plan.in_rows, last.in, [&](int64_t begin, int64_t end) {
        const std::unique_ptr<T[]> buffer{new T[static_cast<size_t>(last.out)]};
        PoolRange before[kMaxSpatial];  // outputs that contain the previous row
        for (int64_t unit = begin; unit < end; ++unit) {
            const T* plane = gy + unit / plan.in_rows * plan.out_plane;
            T* out = gx + unit * last.in;
            int64_t at[kMaxSpatial];
            plan.Unravel(unit % plan.in_rows, true, at);
            // Adjacent rows in the same windows have equal gradients.
            bool same = unit > begin && unit % plan.in_rows != 0;
            for (int i = 0; i < plan.ndim() - 1; ++i) {
                const PoolRange now = plan.axis(i).Outputs(at[i]);
                same = same && now.begin == before[i].begin && now.end == before[i].end;
                before[i] = now;
            }
            if (same) {
                std::copy_n(out - last.in, last.in, out);
                continue;
            }
            RowSum<T> rows{last.out, buffer.get()};
            plan.ForOutputRows(at, [&](int64_t row) { rows.Add(plane + row * last.out); });
            const T* total = rows.Finish(divisor);
            if (total == nullptr) {
                std::fill_n(out, last.in, T(0));
            } else {
                SpreadRow(last, total, out);
            }
        }
    });
}

void SumPoolGrad(const Array& gy, const PoolWindow& window, PoolDivisor divisor, const Array& gx) {
    VisitFloat(gx.dtype(), [&]<typename T>() {
        if constexpr (std::is_floating_point_v<T>) {
            const PoolPlan plan{gx.shape(), gy.shape(), window, true};
            if (divisor == PoolDivisor::kInside && !(plan.IsRegular() && plan.AllInside())) {
                const Array each = EmptyUnchecked(gy.shape(), gy.dtype(), gy.device());
                DivideEach(plan, PoolData<T>(gy), PoolData<T>(each));
                SpreadRows(plan, T(1), PoolData<T>(each), PoolData<T>(gx));
                return;
            }
            SpreadRows(plan, static_cast<T>(DivisorOf(plan, divisor, plan.taps)), PoolData<T>(gy),
                       PoolData<T>(gx));
        } else {
            PoolInFloat32(gy, gx, [&](const Array& wide_gy, const Array& wide_gx) {
                SumPoolGrad(wide_gy, window, divisor, wide_gx);
            });
        }
    });
}
CX_NATIVE_KERNEL(SumPoolGrad)

}  // namespace
}  // namespace chainerx::native
