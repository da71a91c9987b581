// Max pooling.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "chainerx/kernels/pool/pooling.h"
#include "chainerx/native/isa.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/pool/pooling_kernel.h"
#include "chainerx/native/pool/pooling_plan.h"
#include "chainerx/native/pool/pooling_scalar.h"

namespace chainerx::native {

CX_DISPATCH(pooling, PoolLoops)

namespace {

template <typename T, typename Index>
PoolMaxLoop<T, Index> MaxLoop() {
    if constexpr (std::is_floating_point_v<T>) {
        const PoolLoopsOf<T>& loops = PoolLoopsFor<T>();
        if constexpr (std::is_void_v<Index>) {
            return loops.max;
        } else if constexpr (std::is_same_v<Index, uint8_t>) {
            return loops.max_uint8;
        } else {
            return loops.max_int64;
        }
    } else {
        return ScalarMax<T, Index>;
    }
}

template <typename T>
constexpr T Smallest() {
    if constexpr (std::is_floating_point_v<T>) {
        return -std::numeric_limits<T>::infinity();
    } else {
        return std::numeric_limits<T>::lowest();
    }
}

template <typename Index>
Index* Advance(Index* index, int64_t n) {
    if constexpr (std::is_void_v<Index>) {
        return index;
    } else {
        return index + n;
    }
}

template <typename T, typename Index>
void MaxRows(const PoolPlan& plan, const T* x, T* y, Index* indices) {
    const PoolMaxLoop<T, Index> loop = MaxLoop<T, Index>();
    const bool has_empty = plan.HasEmpty();
    const PoolAxis& last = plan.last();
    ForRuns(plan, [&](int64_t plane, int64_t* at, int64_t end) {
        const T* in = x + plane * plan.in_plane;
        int64_t& place = at[plan.ndim() - 2];
        plan.rows().ForSegments(place, end, [&](int64_t o, int64_t n_rows, PoolRange) {
            place = o;
            const int64_t begin = plane * plan.out_plane + plan.Row(at) * last.out;
            T* out = y + begin;
            Index* index = Advance(indices, begin);
            if (has_empty) {
                std::fill_n(out, n_rows * last.out, Smallest<T>());
                if constexpr (!std::is_void_v<Index>) {
                    std::fill_n(index, n_rows * last.out, Index{0});
                }
            }
            const T* starts[PoolRows<T>::kMost];
            int64_t numbers[PoolRows<T>::kMost];
            PoolRows<T> rows;
            rows.stride = last.stride;
            rows.out_rows = n_rows;
            rows.in_step = plan.rows().stride * last.in;
            rows.out_step = last.out;
            const auto flush = [&] {
                last.ForSlicedSegments(plan.taps, [&](int64_t o, int64_t n, PoolRange range) {
                    rows.width = range.end - range.begin;
                    if (rows.width <= 0) return;
                    const int64_t skipped = range.begin - last.Window(o).begin;
                    for (int r = 0; r < rows.count; ++r) {
                        rows.data[r] = starts[r] + range.begin;
                        rows.first[r] = numbers[r] + skipped;
                    }
                    loop(rows, n, out + o, Advance(index, o));
                });
                rows.count = 0;
                rows.resume = true;
            };
            plan.ForInputRows(at, [&](int64_t row, int64_t number) {
                starts[rows.count] = in + row * last.in;
                numbers[rows.count] = number;
                if (++rows.count == PoolRows<T>::kMost) flush();
            });
            if (rows.count > 0) flush();
        });
    });
}

void MaxPool(const Array& x, const PoolWindow& window, const Array& y, const Array& indices) {
    const PoolPlan plan{x.shape(), y.shape(), window, true};
    VisitDtype(x.dtype(), [&]<typename T>() {
        if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
            PoolInFloat32(x, y, [&](const Array& wide_x, const Array& wide_y) {
                MaxPool(wide_x, window, wide_y, indices);
            });
        } else if constexpr (!kIsComplexType<T>) {
            if (indices.GetTotalSize() == 0) {
                MaxRows<T, void>(plan, PoolData<T>(x), PoolData<T>(y), nullptr);
            } else if (indices.dtype() == Dtype::kUInt8) {
                MaxRows(plan, PoolData<T>(x), PoolData<T>(y), PoolData<uint8_t>(indices));
            } else {
                MaxRows(plan, PoolData<T>(x), PoolData<T>(y), PoolData<int64_t>(indices));
            }
        } else {
            ThrowUnexpectedDtype(x.dtype(), "real");
        }
    });
}
CX_NATIVE_KERNEL(MaxPool)

}  // namespace
}  // namespace chainerx::native
