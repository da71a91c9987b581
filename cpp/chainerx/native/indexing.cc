// Gathering and scattering along an axis.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "chainerx/core/interrupt.h"
#include "chainerx/core/kernel_error.h"
#include "chainerx/core/thread_pool.h"
#include "chainerx/kernels/indexing.h"
#include "chainerx/native/copy_block.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/parts.h"
#include "chainerx/native/reduce_policies.h"
#include "chainerx/native/walk.h"

namespace chainerx::native {
namespace {

constexpr int64_t kChunk = 512;           // indices that are resolved at a time, on the stack
constexpr int64_t kParallel = 64 * 1024;  // elements per block of work

// What an index has to fit, and who says so if it does not.
struct Bound {
    const char* op;
    int64_t length;
    IndexBoundsMode mode;
};

template <typename T>
int64_t ResolveOne(T index, int64_t position, const Bound& bound) {
    const auto [op, length, mode] = bound;
    using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    const auto n = static_cast<Wide>(length);
    auto i = static_cast<Wide>(index);
    if (mode == IndexBoundsMode::kWrap) {
        i %= n;
        if (i < 0) i += n;
    } else if (mode == IndexBoundsMode::kClip) {
        i = std::clamp(i, Wide{0}, n - 1);
    } else {
        if (i < 0) i += n;
        if (i < 0 || i >= n) {
            Fail(KernelError::Index(op, "indices", position, static_cast<int64_t>(index), length,
                                    !std::is_signed_v<T>));
        }
    }
    return static_cast<int64_t>(i);
}

// Brings n <= kChunk indices from `begin` on into [0, length). What is checked is what is used: the
// array itself may change meanwhile, if another thread writes to it.
const int64_t* Resolve(const Array& indices, int64_t begin, int64_t n, const Bound& bound,
                       int64_t* buffer) {
    VisitInt(indices.dtype(), [&]<typename T>() {
        const T* p = reinterpret_cast<const T*>(indices.raw_data()) + begin;
        for (int64_t i = 0; i < n; ++i) buffer[i] = static_cast<int64_t>(p[i]);
        // Nearly always they all are in range: then no sign bit is set in either of these.
        int64_t signs = 0;
        for (int64_t i = 0; i < n; ++i) signs |= buffer[i] | (bound.length - 1 - buffer[i]);
        if (signs >= 0) return;
        for (int64_t i = 0; i < n; ++i) {
            buffer[i] = ResolveOne(static_cast<T>(buffer[i]), begin + i, bound);
        }
    });
    return buffer;
}

// IndexError if one is out of range, before anything is written, or where there is nothing to
// write.
void CheckAll(const Array& indices, const Bound& bound) {
    if (bound.mode == IndexBoundsMode::kWrap || bound.mode == IndexBoundsMode::kClip) return;
    const int64_t n = indices.GetTotalSize();
    VisitInt(indices.dtype(), [&]<typename T>() {
        const T* p = reinterpret_cast<const T*>(indices.raw_data());
        for (int64_t begin = 0; begin < n; begin += kChunk) {
            const int64_t end = std::min(n, begin + kChunk);
            int64_t signs = 0;  // as in Resolve
            for (int64_t i = begin; i < end; ++i) {
                const auto index = static_cast<int64_t>(p[i]);
                signs |= index | (bound.length - 1 - index);
            }
            if (signs >= 0) continue;
            for (int64_t i = begin; i < end; ++i) ResolveOne(p[i], i, bound);
        }
    });
}

// An array `x` taken apart along an axis beside a contiguous `y` with the indices in its place; or
// beside one element, which stands for all of y.
// What the two have in common is split into outer positions and runs: a run is contiguous in y, or
// one element.
struct Plan {
    const Array& indices;
    Bound bound;
    int64_t n;         // indices
    int64_t axis_x;    // its stride in x
    int64_t axis_y;    // stride of an index in y
    int64_t outer{1};  // positions
    int64_t run{1};
    int64_t run_x{0};
    int64_t run_y{0};
    Walk<2> rest;  // from position to position

    Plan(const char* op, const Array& x, int8_t axis, const Array& indices, IndexBoundsMode mode,
         const Array& y, bool is_one = false)
        : indices{indices},
          bound{op, x.shape()[axis], mode},
          n{indices.GetTotalSize()},
          axis_x{x.strides()[axis]},
          rest{AxisOrder::kGiven, Without(x, axis, 1), Without(y, axis, indices.ndim())} {
        axis_y = is_one ? 0 : y.GetItemSize();
        for (int8_t i = axis + 1; i < x.ndim(); ++i) axis_y *= x.shape()[i];
        const auto is_run = [&] {
            if (is_one) return std::abs(rest.run_stride(0)) < std::abs(axis_x);
            return rest.run_stride(1) == y.GetItemSize() && axis_y != y.GetItemSize();
        };
        if (rest.ndim > 0 && is_run()) {
            run = rest.run_length();
            run_x = rest.run_stride(0);
            run_y = rest.run_stride(1);
            --rest.ndim;
        }
        for (int i = 0; i < rest.ndim; ++i) outer *= rest.dims[i];
    }

    static Array Without(const Array& x, int8_t axis, int8_t count) {
        Shape shape;
        Strides strides;
        for (int8_t i = 0; i < x.ndim(); ++i) {
            if (i >= axis && i < axis + count) continue;
            shape.push_back(x.shape()[i]);
            strides.push_back(x.strides()[i]);
        }
        return internal::MakeView(x, shape, strides, x.raw_data());
    }

    bool empty() const { return n == 0 || outer == 0 || run == 0; }

    // Calls f(x, y, resolved, count) for pieces of the given outer positions and indices: the runs
    // start at x + resolved[j] * axis_x and y + j * axis_y.
    template <typename F>
    void Range(int64_t outer_begin, int64_t outer_end, int64_t begin, int64_t end,
               const F& f) const {
        int64_t buffer[kChunk];
        int64_t work = 0;
        for (; begin < end; begin += kChunk) {
            const int64_t count = std::min(kChunk, end - begin);
            const int64_t* resolved = Resolve(indices, begin, count, bound, buffer);
            Cursor<2> at{rest, outer_begin};
            for (int64_t o = outer_begin; o < outer_end; ++o, at.Advance(1)) {
                f(at.p[0], at.p[1] + begin * axis_y, resolved, count);
                work += count * run;
                if (work > kParallel) {
                    work = 0;
                    internal::CheckInterrupt();
                }
            }
        }
    }
};

// Copies `count` items that lie anywhere.
template <typename T>
void GatherItems(const char* from, int64_t stride, const int64_t* at, int64_t count, char* to,
                 int64_t to_stride) {
    constexpr int64_t kSize = sizeof(T);
    if (stride == kSize && to_stride == kSize) {
        for (int64_t j = 0; j < count; ++j) {
            std::memcpy(to + j * kSize, from + at[j] * kSize, kSize);
        }
    } else {
        for (int64_t j = 0; j < count; ++j) {
            std::memcpy(to + j * to_stride, from + at[j] * stride, kSize);
        }
    }
}

// Copies the items at indices [begin, end), checking each index on the way. Stops at the first one
// that is out of range or counts from the end, and returns where that is.
template <typename T, typename Index>
int64_t GatherChecked(const T* from, int64_t length, const Index* indices, int64_t begin,
                      int64_t end, T* to) {
    const auto n = static_cast<uint64_t>(length);
#pragma GCC unroll 4
    for (; begin < end; ++begin) {
        const auto i = static_cast<uint64_t>(static_cast<int64_t>(indices[begin]));
        if (i >= n) [[unlikely]]
            break;
        to[begin] = from[i];
    }
    return begin;
}

// Copies `count` rows of `nbytes` that lie anywhere, side by side.
void CopyRows(const char* from, int64_t stride, const int64_t* rows, int64_t count, int64_t nbytes,
              char* to, int64_t to_stride) {
    constexpr int64_t kAhead = 8;           // rows that are on their way at a time
    constexpr int64_t kLine = 64;           // bytes
    constexpr int64_t kPart = 16;           // bytes that are moved at a time
    constexpr int64_t kInline = 8 * kPart;  // above, memcpy is as fast
    const int64_t fetched = std::min(nbytes, 4 * kLine);
    const auto prefetch = [&](int64_t j) {
        const char* p = from + rows[j] * stride;
        for (int64_t k = 0; k < fetched; k += kLine) __builtin_prefetch(p + k);
    };
    const bool by_parts = nbytes % kPart == 0 && nbytes <= kInline;
    for (int64_t j = 0; j < std::min(count, kAhead); ++j) prefetch(j);
    for (int64_t j = 0; j < count; ++j) {
        if (j + kAhead < count) prefetch(j + kAhead);
        const char* p = from + rows[j] * stride;
        char* q = to + j * to_stride;
        if (by_parts) {
            for (int64_t k = 0; k < nbytes; k += kPart) std::memcpy(q + k, p + k, kPart);
        } else {
            std::memcpy(q, p, static_cast<size_t>(nbytes));
        }
    }
}

void Take(const char* op, const Array& x, int8_t axis, const Array& indices, IndexBoundsMode mode,
          const Array& out) {
    const Plan plan{op, x, axis, indices, mode, out};
    if (plan.empty()) {
        CheckAll(indices, plan.bound);
        return;
    }
    // f(from, to, resolved, count, items of each run)
    const auto all = [&](const auto& f) {
        const int64_t part = std::min(plan.run, kParallel);
        const int64_t parts = CeilDiv(plan.run, part);
        const int64_t index_block = std::min(plan.n, kParallel / part);
        const int64_t index_blocks = CeilDiv(plan.n, index_block);
        const int64_t outer_block = std::max<int64_t>(1, kParallel / (part * index_block));
        const int64_t outer_blocks = CeilDiv(plan.outer, outer_block);
        ParallelFor(outer_blocks * index_blocks * parts, [&](int64_t block) {
            const int64_t first = block % parts * part;
            block /= parts;
            const int64_t j = block % index_blocks * index_block;
            const int64_t o = block / index_blocks * outer_block;
            const int64_t items = std::min(part, plan.run - first);
            plan.Range(
                o, std::min(o + outer_block, plan.outer), j, std::min(j + index_block, plan.n),
                [&](const char* from, char* to, const int64_t* resolved, int64_t count) {
                    f(from + first * plan.run_x, to + first * plan.run_y, resolved, count, items);
                });
        });
    };
    if (plan.run > 1 && plan.run_x == x.GetItemSize()) {
        all([&](const char* from, char* to, const int64_t* at, int64_t count, int64_t items) {
            CopyRows(from, plan.axis_x, at, count, items * plan.run_x, to, plan.axis_y);
        });
        return;
    }
    VisitItemSize(x.GetItemSize(), [&]<typename T>() {
        if (plan.run == 1) {
            const auto gather = [&](const char* from, char* to, const int64_t* at, int64_t count,
                                    auto...) {
                GatherItems<T>(from, plan.axis_x, at, count, to, plan.axis_y);
            };
            const bool adjacent = plan.axis_x == sizeof(T) && plan.axis_y == sizeof(T);
            if (plan.outer == 1 && adjacent && indices.dtype() == Dtype::kInt64) {
                const auto* from = reinterpret_cast<const T*>(plan.rest.data[0]);
                const auto* at = reinterpret_cast<const int64_t*>(indices.raw_data());
                auto* to = reinterpret_cast<T*>(plan.rest.data[1]);
                ParallelFor(CeilDiv(plan.n, kParallel), [&](int64_t block) {
                    const int64_t end = std::min((block + 1) * kParallel, plan.n);
                    const int64_t begin =
                        GatherChecked(from, plan.bound.length, at, block * kParallel, end, to);
                    plan.Range(0, 1, begin, end, gather);
                });
            } else {
                all(gather);
            }
        } else {
            all([&](const char* from, char* to, const int64_t* at, int64_t count, int64_t items) {
                for (int64_t j = 0; j < count; ++j) {
                    CopyStrided(to + j * plan.axis_y, plan.run_y, from + at[j] * plan.axis_x,
                                plan.run_x, items, sizeof(T));
                }
            });
        }
    });
}
CX_NATIVE_KERNEL(Take)

// An element as an array with the indices in the place of the axis.
Array ForEach(const Array& one, const Array& out, int8_t axis, const Array& indices) {
    Shape shape{out.shape().begin(), out.shape().begin() + axis};
    for (const int64_t d : indices.shape()) shape.push_back(d);
    for (int8_t i = axis + 1; i < out.ndim(); ++i) shape.push_back(out.shape()[i]);
    Strides strides;
    strides.resize(shape.ndim(), 0);
    return internal::MakeView(one, shape, strides, one.raw_data());
}

// One element for each index, which is checked on the way as in GatherChecked.
template <typename T, typename F>
void ScatterItems(const Plan& plan, const F& f) {
    char* const x = plan.rest.data[0];
    char* const y = plan.rest.data[1];
    const auto n = static_cast<uint64_t>(plan.bound.length);
    const auto write = [&](int64_t place, int64_t j) {
        f(*reinterpret_cast<T*>(x + place * plan.axis_x),
          *reinterpret_cast<const T*>(y + j * plan.axis_y));
    };
    const auto all = [&](const auto* at) {
        for (int64_t j = 0; j < plan.n;) {
            const int64_t end = std::min(plan.n, j + kParallel);
            for (; j < end; ++j) {
                const auto i = static_cast<uint64_t>(static_cast<int64_t>(at[j]));
                if (i >= n) [[unlikely]]
                    break;
                write(static_cast<int64_t>(i), j);
            }
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

// The order of indices counts, so threads share out positions and parts of runs.
template <typename T, typename F>
void Scatter(const char* op, const Array& out, int8_t axis, const Array& indices,
             IndexBoundsMode mode, const Array& x, const F& f) {
    const bool is_one = x.ndim() == 0;
    const Plan plan{op,    out, axis, indices, mode, is_one ? ForEach(x, out, axis, indices) : x,
                    is_one};
    // A single chunk is resolved before its elements are written, in each block of work.
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
    VisitItemSize(out.GetItemSize(), [&]<typename T>() {
        Scatter<T>(op, out, axis, indices, mode, x, [](T& to, const T& from) { to = from; });
    });
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

void LinearIndex(const char* op, const Array& indices, int64_t length, int64_t factor,
                 const Array& out) {
    const Bound bound{op, length, IndexBoundsMode::kRaise};
    auto* to = reinterpret_cast<int64_t*>(out.raw_data());
    const int64_t n = indices.GetTotalSize();
    int64_t buffer[kChunk];
    for (int64_t begin = 0; begin < n; begin += kChunk) {
        const int64_t count = std::min(kChunk, n - begin);
        const int64_t* resolved = Resolve(indices, begin, count, bound, buffer);
        for (int64_t i = 0; i < count; ++i) to[begin + i] += factor * resolved[i];
        if (begin % (128 * kChunk) == 127 * kChunk) internal::CheckInterrupt();
    }
}
CX_NATIVE_KERNEL(LinearIndex)

}  // namespace
}  // namespace chainerx::native
