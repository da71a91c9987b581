// Max pooling.
#include <algorithm>
#include <cstdint>
#include <cstring>
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

// The loop for a dtype, and what the maximum of no element is.
struct MaxOf {
    PoolMaxLoop loop;
    void (*fill)(void* out, int64_t n);
};

template <typename T>
void FillSmallest(void* out, int64_t n) {
    if constexpr (std::is_floating_point_v<T>) {
        std::fill_n(static_cast<T*>(out), n, -std::numeric_limits<T>::infinity());
    } else {
        std::fill_n(static_cast<T*>(out), n, std::numeric_limits<T>::lowest());
    }
}

// `index_size` is 0 without indices.
template <typename T>
MaxOf MaxOfType(int64_t index_size) {
    const auto choose = [&](PoolMaxLoop none, PoolMaxLoop uint8, PoolMaxLoop int64) {
        return MaxOf{index_size == 0 ? none : (index_size == 1 ? uint8 : int64), FillSmallest<T>};
    };
    if constexpr (std::is_floating_point_v<T>) {
        const PoolLoopsOf<T>& loops = pooling_loops().Of<T>();
        return choose(loops.max, loops.max_uint8, loops.max_int64);
    } else {
        return choose(ScalarMax<T, void>, ScalarMax<T, uint8_t>, ScalarMax<T, int64_t>);
    }
}

void MaxRows(const PoolPlan& plan, const Array& x, const Array& y, const Array& indices,
             int64_t index_size, const MaxOf& max) {
    const int64_t size = x.GetItemSize();
    const bool has_empty = plan.HasEmpty();
    const PoolAxis& last = plan.last();
    ForRuns(plan, [&](int64_t plane, int64_t* at, int64_t end) {
        const char* in = x.raw_data() + plane * plan.in_plane * size;
        int64_t& place = at[plan.ndim() - 2];
        plan.rows().ForSegments(place, end, [&](int64_t o, int64_t n_rows, PoolRange) {
            place = o;
            const int64_t begin = plane * plan.out_plane + plan.Row(at) * last.out;
            char* out = y.raw_data() + begin * size;
            char* index = indices.raw_data() + begin * index_size;
            if (has_empty) {
                max.fill(out, n_rows * last.out);
                if (index_size != 0) std::memset(index, 0, n_rows * last.out * index_size);
            }
            const char* starts[PoolRows::kMax];
            int64_t numbers[PoolRows::kMax];
            PoolRows rows;
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
                        rows.data[r] = starts[r] + range.begin * size;
                        rows.first[r] = numbers[r] + skipped;
                    }
                    max.loop(rows, n, out + o * size, index + o * index_size);
                });
                rows.count = 0;
                rows.resume = true;
            };
            plan.ForInputRows(at, [&](int64_t row, int64_t number) {
                starts[rows.count] = in + row * last.in * size;
                numbers[rows.count] = number;
                if (++rows.count == PoolRows::kMax) flush();
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
            const int64_t index_size = indices.GetTotalSize() == 0 ? 0 : indices.GetItemSize();
            MaxRows(plan, x, y, indices, index_size, MaxOfType<T>(index_size));
        } else {
            ThrowUnexpectedDtype(x.dtype(), "real");
        }
    });
}
CX_NATIVE_KERNEL(MaxPool)

}  // namespace
}  // namespace chainerx::native
