// Scatter along an axis.
#include <algorithm>
#include <cstdlib>
#include <type_traits>

#include "chainerx/core/interrupt.h"
#include "chainerx/core/thread_pool.h"
#include "chainerx/kernels/index/indexing.h"
#include "chainerx/native/index/index_plan.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/parts.h"
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

struct Assign {
    template <typename T>
    void operator()(T& to, const T& from) const {
        to = from;
    }
};

// Calls write(index, j) for indices from j to `end`, and returns the first one that is negative or
// out of range. Prefetches x as GatherChecked does.
template <int64_t kAhead, typename Index, typename Write>
int64_t WriteChecked(const Plan& plan, const char* x, const Index* at, int64_t j, int64_t end,
                     const Write& write) {
    const auto n = static_cast<uint64_t>(plan.bound.length);
    for (; j < end; ++j) {
        const auto i = static_cast<uint64_t>(static_cast<int64_t>(at[j]));
        if (i >= n) [[unlikely]]
            break;
        if constexpr (kAhead != 0) AskForItem(x, plan.axis_x, at[j + kAhead]);
        write(static_cast<int64_t>(i), j);
    }
    return j;
}

// Scatters one element for each index, checking it.
template <typename Write>
void WriteItems(const Plan& plan, const Write& write) {
    const char* const x = plan.rest.data[0];
    const bool is_far =
        plan.bound.length > kNearBytes / std::max<int64_t>(1, std::abs(plan.axis_x));
    const auto all = [&](const auto* at) {
        for (int64_t j = 0; j < plan.n;) {
            const int64_t end = std::min(plan.n, j + kParallel);
            if (is_far) {
                const int64_t last = std::min(end, plan.n - kIndicesAhead);
                j = WriteChecked<kIndicesAhead>(plan, x, at, j, last, write);
            }
            j = WriteChecked<0>(plan, x, at, j, end, write);
            if (j < end) {
                plan.Range(0, 1, j, end, [&](auto*, auto*, const int64_t* resolved, int64_t count) {
                    for (int64_t k = 0; k < count; ++k) write(resolved[k], j + k);
                    j += count;
                });
            }
            internal::CheckInterrupt();
        }
    };
    if (plan.indices.dtype() == Dtype::kInt64) {
        all(reinterpret_cast<const int64_t*>(plan.indices.raw_data()));
    } else if (plan.indices.dtype() == Dtype::kInt32) {
        all(reinterpret_cast<const int32_t*>(plan.indices.raw_data()));
    } else {
        int64_t j = 0;
        plan.Range(0, 1, 0, plan.n, [&](auto*, auto*, const int64_t* resolved, int64_t count) {
            for (int64_t k = 0; k < count; ++k) write(resolved[k], j + k);
            j += count;
        });
    }
}

template <typename T, typename F>
void ScatterItems(const Plan& plan, const F& f) {
    char* const x = plan.rest.data[0];
    const char* const y = plan.rest.data[1];
    if constexpr (std::is_same_v<F, Assign>) {
        if (plan.axis_x == sizeof(T) && plan.axis_y == 0) {
            T* const to = reinterpret_cast<T*>(x);
            const T value = *reinterpret_cast<const T*>(y);
            WriteItems(plan, [=](int64_t place, int64_t) { to[place] = value; });
            return;
        }
    }
    WriteItems(plan, [&](int64_t place, int64_t j) {
        f(*reinterpret_cast<T*>(x + place * plan.axis_x),
          *reinterpret_cast<const T*>(y + j * plan.axis_y));
    });
}

// The order of indices matters, so threads split positions and parts of runs instead.
template <typename T, typename F>
void Scatter(const char* op, const Array& out, int8_t axis, const Array& indices,
             IndexBoundsMode mode, const Array& x, const F& f) {
    const bool is_one = x.ndim() == 0;
    const Plan plan{op,    out, axis, indices, mode, is_one ? ForEach(x, out, axis, indices) : x,
                    is_one};
    // A single chunk is resolved before its elements are written, in each task.
    if (plan.empty() || plan.n > kChunk) CheckAll(indices, plan.bound);
    if (plan.empty()) return;
    if (plan.n > kChunk && plan.outer == 1 && plan.run == 1) return ScatterItems<T>(plan, f);
    const int64_t part = std::max<int64_t>(64, std::min(CeilDiv(plan.run, 16), kParallel));
    const int64_t parts = CeilDiv(plan.run, part);
    const int64_t outer_block = std::max<int64_t>(1, kParallel / (plan.n * part));
    const bool small = plan.outer * plan.n * plan.run <= kParallel;
    const auto work = [&](int64_t o, int64_t o_end, int64_t first, int64_t last) {
        plan.Range(o, o_end, 0, plan.n, [&](char* x0, char* y0, const int64_t* at, int64_t count) {
            const auto each = [&](const auto& of_index) {
                for (int64_t j = 0; j < count; ++j) {
                    of_index(x0 + at[j] * plan.axis_x, y0 + j * plan.axis_y);
                }
            };
            if (plan.run == 1) {
                each([&](char* to, const char* from) {
                    f(*reinterpret_cast<T*>(to), *reinterpret_cast<const T*>(from));
                });
            } else if (plan.run_x == sizeof(T) && is_one) {
                each([&](char* to, const char* from) {
                    T* const t = reinterpret_cast<T*>(to);
                    const T value = *reinterpret_cast<const T*>(from);
                    for (int64_t i = first; i < last; ++i) f(t[i], value);
                });
            } else if (plan.run_x == sizeof(T) && plan.run_y == sizeof(T)) {
                each([&](char* to, const char* from) {
                    T* const t = reinterpret_cast<T*>(to);
                    const T* const s = reinterpret_cast<const T*>(from);
                    for (int64_t i = first; i < last; ++i) f(t[i], s[i]);
                });
            } else {
                each([&](char* to, const char* from) {
                    for (int64_t i = first; i < last; ++i) {
                        f(*reinterpret_cast<T*>(to + i * plan.run_x),
                          *reinterpret_cast<const T*>(from + i * plan.run_y));
                    }
                });
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

void AddAt(const char* op, const Array& out, int8_t axis, const Array& indices,
           IndexBoundsMode mode, const Array& x) {
    VisitDtype(out.dtype(), [&]<typename T>() {
        using C = ComputeType<T>;
        Scatter<T>(op, out, axis, indices, mode, x, [](T& to, const T& from) {
            to = Cast<T>(static_cast<C>(Cast<C>(to) + Cast<C>(from)));
        });
    });
}
CX_NATIVE_KERNEL(AddAt)

void SetAt(const char* op, const Array& out, int8_t axis, const Array& indices,
           IndexBoundsMode mode, const Array& x) {
    VisitItemSize(out.GetItemSize(),
                  [&]<typename T>() { Scatter<T>(op, out, axis, indices, mode, x, Assign{}); });
}
CX_NATIVE_KERNEL(SetAt)

void CombineAt(const char* op, const Array& out, int8_t axis, const Array& indices,
               IndexBoundsMode mode, ScatterRule rule, const Array& x) {
    VisitDtype(out.dtype(), [&]<typename T>() {
        using C = ComputeType<T>;
        if (rule == ScatterRule::kMultiply) {
            Scatter<T>(op, out, axis, indices, mode, x, [](T& to, const T& from) {
                to = Cast<T>(static_cast<C>(Cast<C>(to) * Cast<C>(from)));
            });
        } else if constexpr (kIsComplexType<T>) {
            ThrowUnexpectedDtype(out.dtype(), "a dtype with an order");
        } else {
            const auto choose = [&](auto is_largest) {
                Scatter<T>(op, out, axis, indices, mode, x, [&](T& to, const T& from) {
                    const C a = Cast<C>(to);
                    const C b = Cast<C>(from);
                    if (Surpasses<is_largest.value, false>(b, a)) to = from;
                });
            };
            if (rule == ScatterRule::kMinimum) {
                choose(std::false_type{});
            } else {
                choose(std::true_type{});
            }
        }
    });
}
CX_NATIVE_KERNEL(CombineAt)

}  // namespace
}  // namespace chainerx::native
