// Scatter along an axis.
#include <algorithm>
#include <cstdlib>
#include <type_traits>

#include "chainerx/kernels/index/indexing.h"
#include "chainerx/native/index/index_plan.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/reduce/reduce_policies.h"

namespace chainerx::native {
namespace {

// Broadcasts a single element to the shape with the indices in place of the axis.
Array ForEach(const Array& one, const Array& out, int8_t axis, const Array& indices) {
    Shape shape{out.shape().begin(), out.shape().begin() + axis};
    for (const int64_t d : indices.shape()) shape.push_back(d);
    for (int8_t i = axis + 1; i < out.ndim(); ++i) shape.push_back(out.shape()[i]);
    Strides strides;
    strides.resize(shape.ndim(), 0);
    return internal::MakeView(one, shape, strides, one.raw_data());
}

// Elements of x that are written at indices along an axis of length n: the one at index i lies at
// x + i * axis_x, and takes the one of index number j, at y + j * axis_y.
struct Items {
    char* x;
    int64_t axis_x;
    const char* y;
    int64_t axis_y;
    uint64_t n;
};

// Writes elements `from` to elements `to`, by loops for each dtype and rule. All else is said once,
// for any dtype.
struct ScatterLoops {
    // For indices from number j on, to `end`; returns the first that is out of range or counts from
    // the end.
    using Checked = int64_t (*)(const Items& items, const void* at, int64_t j, int64_t end);

    // For n indices that are known to be in range.
    void (*items)(char* x, int64_t axis_x, const int64_t* at, const char* y, int64_t axis_y,
                  int64_t n);
    // A run; its elements lie as many bytes apart as the steps say.
    void (*run)(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t n);
    Checked int32[2];  // without and with a prefetch, which reads kIndicesAhead more indices
    Checked int64[2];
};

template <typename T, typename F, typename Index, bool kPrefetches>
int64_t WriteChecked(const Items& items, const void* indices, int64_t j, int64_t end) {
    const auto [x, axis_x, y, axis_y, n] = items;
    const Index* const at = static_cast<const Index*>(indices);
    for (; j < end; ++j) {
        const auto i = static_cast<uint64_t>(static_cast<int64_t>(at[j]));
        if (i >= n) [[unlikely]]
            break;
        if constexpr (kPrefetches) PrefetchItem(x, axis_x, at[j + kIndicesAhead]);
        F{}(*reinterpret_cast<T*>(x + static_cast<int64_t>(i) * axis_x),
            *reinterpret_cast<const T*>(y + j * axis_y));
    }
    return j;
}

template <typename T, typename F>
void WriteItems(char* x, int64_t axis_x, const int64_t* at, const char* y, int64_t axis_y,
                int64_t n) {
    for (int64_t j = 0; j < n; ++j) {
        F{}(*reinterpret_cast<T*>(x + at[j] * axis_x), *reinterpret_cast<const T*>(y + j * axis_y));
    }
}

template <typename T, typename F>
void WriteRun(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t n) {
    T* const t = reinterpret_cast<T*>(to);
    const T* const s = reinterpret_cast<const T*>(from);
    if (to_step == sizeof(T) && from_step == 0) {
        const T value = *s;
        for (int64_t i = 0; i < n; ++i) F{}(t[i], value);
    } else if (to_step == sizeof(T) && from_step == sizeof(T)) {
        for (int64_t i = 0; i < n; ++i) F{}(t[i], s[i]);
    } else {
        for (int64_t i = 0; i < n; ++i) {
            F{}(*reinterpret_cast<T*>(to + i * to_step),
                *reinterpret_cast<const T*>(from + i * from_step));
        }
    }
}

template <typename T, typename F>
constexpr ScatterLoops kLoops{
    &WriteItems<T, F>,
    &WriteRun<T, F>,
    {&WriteChecked<T, F, int32_t, false>, &WriteChecked<T, F, int32_t, true>},
    {&WriteChecked<T, F, int64_t, false>, &WriteChecked<T, F, int64_t, true>}};

// One element for each of many indices, which are checked on the way.
void ScatterItems(const Plan& plan, const ScatterLoops& loops) {
    char* const x = plan.rest.data[0];
    const char* const y = plan.rest.data[1];
    int64_t j = 0;
    const auto write_chunk = [&](auto*, auto*, const int64_t* at, int64_t count) {
        loops.items(x, plan.axis_x, at, y + j * plan.axis_y, plan.axis_y, count);
        j += count;
    };
    const bool is_int64 = plan.indices.dtype() == Dtype::kInt64;
    if (!is_int64 && plan.indices.dtype() != Dtype::kInt32) {
        plan.Range(0, 1, 0, plan.n, write_chunk);
        return;
    }
    const bool is_far =
        plan.bound.length > kNearBytes / std::max<int64_t>(1, std::abs(plan.axis_x));
    const auto& checked = is_int64 ? loops.int64 : loops.int32;
    const void* const at = plan.indices.raw_data();
    const Items items{x, plan.axis_x, y, plan.axis_y, static_cast<uint64_t>(plan.bound.length)};
    while (j < plan.n) {
        const int64_t end = std::min(plan.n, j + kParallel);
        if (is_far) j = checked[true](items, at, j, std::min(end, plan.n - kIndicesAhead));
        j = checked[false](items, at, j, end);
        if (j < end) plan.Range(0, 1, j, end, write_chunk);
        internal::CheckInterrupt();
    }
}

// The order of indices counts, so threads share out positions and parts of runs.
void Scatter(const char* op, const Array& out, int8_t axis, const Array& indices,
             IndexBoundsMode mode, const Array& x, const ScatterLoops& loops) {
    const bool is_one = x.ndim() == 0;
    const Plan plan{op,    out, axis, indices, mode, is_one ? ForEach(x, out, axis, indices) : x,
                    is_one};
    // A single chunk is resolved before its elements are written, in each block of work.
    if (plan.empty() || plan.n > kChunk) CheckAll(indices, plan.bound);
    if (plan.empty()) return;
    if (plan.n > kChunk && plan.outer == 1 && plan.run == 1) {
        ScatterItems(plan, loops);
        return;
    }
    const int64_t part = std::max<int64_t>(64, std::min(CeilDiv(plan.run, 16), kParallel));
    const int64_t parts = CeilDiv(plan.run, part);
    const int64_t outer_block = std::max<int64_t>(1, kParallel / (plan.n * part));
    const bool small = plan.outer * plan.n * plan.run <= kParallel;
    const auto work = [&](int64_t o, int64_t o_end, int64_t first, int64_t last) {
        plan.Range(o, o_end, 0, plan.n, [&](char* x0, char* y0, const int64_t* at, int64_t count) {
            if (plan.run == 1) {
                loops.items(x0, plan.axis_x, at, y0, plan.axis_y, count);
                return;
            }
            char* const to = x0 + first * plan.run_x;
            const char* const from = y0 + first * plan.run_y;
            for (int64_t j = 0; j < count; ++j) {
                loops.run(to + at[j] * plan.axis_x, plan.run_x, from + j * plan.axis_y, plan.run_y,
                          last - first);
            }
        });
    };
    if (small) {
        work(0, plan.outer, 0, plan.run);
        return;
    }
    ParallelFor(CeilDiv(plan.outer, outer_block) * parts, [&](int64_t block) {
        const int64_t o = block / parts * outer_block;
        const int64_t first = block % parts * part;
        work(o, std::min(o + outer_block, plan.outer), first, std::min(first + part, plan.run));
    });
}

struct Assign {
    template <typename T>
    void operator()(T& to, const T& from) const {
        to = from;
    }
};

struct AddTo {
    template <typename T>
    void operator()(T& to, const T& from) const {
        using C = ComputeType<T>;
        to = Cast<T>(static_cast<C>(Cast<C>(to) + Cast<C>(from)));
    }
};

struct MultiplyBy {
    template <typename T>
    void operator()(T& to, const T& from) const {
        using C = ComputeType<T>;
        to = Cast<T>(static_cast<C>(Cast<C>(to) * Cast<C>(from)));
    }
};

template <bool kLargest>
struct KeepExtreme {
    template <typename T>
    void operator()(T& to, const T& from) const {
        using C = ComputeType<T>;
        if (Surpasses<kLargest, false>(Cast<C>(from), Cast<C>(to))) to = from;
    }
};

template <typename F>
const ScatterLoops& LoopsOf(Dtype dtype) {
    const ScatterLoops* loops = nullptr;
    VisitDtype(dtype, [&]<typename T>() {
        constexpr bool kHasOrder = !kIsComplexType<T>;
        if constexpr (kHasOrder || std::is_same_v<F, AddTo> || std::is_same_v<F, MultiplyBy>) {
            loops = &kLoops<T, F>;
        } else {
            ThrowUnexpectedDtype(dtype, "a dtype with an order");
        }
    });
    return *loops;
}

void AddAt(const char* op, const Array& out, int8_t axis, const Array& indices,
           IndexBoundsMode mode, const Array& x) {
    Scatter(op, out, axis, indices, mode, x, LoopsOf<AddTo>(out.dtype()));
}
CX_NATIVE_KERNEL(AddAt)

void SetAt(const char* op, const Array& out, int8_t axis, const Array& indices,
           IndexBoundsMode mode, const Array& x) {
    VisitItemSize(out.GetItemSize(), [&]<typename T>() {
        Scatter(op, out, axis, indices, mode, x, kLoops<T, Assign>);
    });
}
CX_NATIVE_KERNEL(SetAt)

void CombineAt(const char* op, const Array& out, int8_t axis, const Array& indices,
               IndexBoundsMode mode, ScatterRule rule, const Array& x) {
    const ScatterLoops& loops = rule == ScatterRule::kMultiply ? LoopsOf<MultiplyBy>(out.dtype())
                                : rule == ScatterRule::kMinimum
                                    ? LoopsOf<KeepExtreme<false>>(out.dtype())
                                    : LoopsOf<KeepExtreme<true>>(out.dtype());
    Scatter(op, out, axis, indices, mode, x, loops);
}
CX_NATIVE_KERNEL(CombineAt)

}  // namespace
}  // namespace chainerx::native
