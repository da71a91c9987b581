// Gathering and scattering along an axis, and finding nonzero elements.
#include <algorithm>
#include <cstring>

#include "chainerx/core/error.h"
#include "chainerx/core/thread_pool.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/strided.h"

namespace chainerx::native {
namespace {

constexpr int64_t kChunk = 512;           // indices that are resolved at a time, on the stack
constexpr int64_t kParallel = 64 * 1024;  // elements per block of work

[[noreturn]] CX_COLD void ThrowIndex(const std::string& index, int64_t length) {
    throw IndexError{"index ", index, " is out of range for an axis of length ", length};
}

template <typename T>
int64_t ResolveOne(T index, int64_t length, IndexBoundsMode mode) {
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
        if (i < 0 || i >= n) ThrowIndex(std::to_string(index), length);
    }
    return static_cast<int64_t>(i);
}

// Reads n indices from `begin` on and brings them into [0, length).
void Resolve(const Array& indices, int64_t begin, int64_t n, int64_t length, IndexBoundsMode mode,
             int64_t* out) {
    VisitInt(indices.dtype(), [&]<typename T>() {
        const T* p = reinterpret_cast<const T*>(indices.raw_data()) + begin;
        for (int64_t i = 0; i < n; ++i) out[i] = ResolveOne(p[i], length, mode);
    });
}

// An array `x` taken apart along an axis beside a contiguous `y` with the indices in its place.
// What the two have in common is split into outer positions and runs: a run is contiguous in y, or
// one element.
struct Plan {
    const Array& indices;
    IndexBoundsMode mode;
    int64_t n;         // indices
    int64_t length;    // of the axis
    int64_t axis_x;    // its stride in x
    int64_t axis_y;    // stride of an index in y
    int64_t outer{1};  // positions
    int8_t ndim;       // of the outer dimensions
    int64_t run{1};
    int64_t run_x{0};
    int64_t run_y{0};
    Squashed<2> rest;

    Plan(const Array& x, int8_t axis, const Array& indices, IndexBoundsMode mode, const Array& y)
        : indices{indices},
          mode{mode},
          n{indices.GetTotalSize()},
          length{x.shape()[axis]},
          axis_x{x.strides()[axis]},
          rest{Without(x, axis, 1), Without(y, axis, indices.ndim())} {
        axis_y = y.GetItemSize();
        for (int8_t i = axis + 1; i < x.ndim(); ++i) axis_y *= x.shape()[i];
        ndim = rest.ndim;
        if (ndim > 0 && rest.strides[1][ndim - 1] == y.GetItemSize() && axis_y != y.GetItemSize()) {
            --ndim;
            run = rest.dims[ndim];
            run_x = rest.strides[0][ndim];
            run_y = rest.strides[1][ndim];
        }
        for (int8_t i = 0; i < ndim; ++i) outer *= rest.dims[i];
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

    // Calls f(x, y) for each run at the given outer positions and indices.
    template <typename F>
    void Range(int64_t outer_begin, int64_t outer_end, int64_t begin, int64_t end,
               const F& f) const {
        int64_t resolved[kChunk];
        for (; begin < end; begin += kChunk) {
            const int64_t count = std::min(kChunk, end - begin);
            Resolve(indices, begin, count, length, mode, resolved);
            for (int64_t o = outer_begin; o < outer_end; ++o) {
                char* px = rest.data[0];
                char* py = rest.data[1] + begin * axis_y;
                int64_t position = o;
                for (int8_t d = ndim - 1; d >= 0; --d) {
                    const int64_t at = position % rest.dims[d];
                    position /= rest.dims[d];
                    px += at * rest.strides[0][d];
                    py += at * rest.strides[1][d];
                }
                for (int64_t j = 0; j < count; ++j) f(px + resolved[j] * axis_x, py + j * axis_y);
            }
        }
    }
};

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

void Take(const Array& x, int8_t axis, const Array& indices, IndexBoundsMode mode,
          const Array& out) {
    const Plan plan{x, axis, indices, mode, out};
    if (plan.empty()) return;
    const auto all = [&](const auto& f) {
        const int64_t per_index = plan.run;
        const int64_t index_block =
            std::max(kChunk, kParallel / std::max<int64_t>(per_index, 1) / kChunk * kChunk);
        const int64_t outer_block =
            std::max<int64_t>(1, kParallel / (per_index * std::min(plan.n, index_block)));
        const int64_t index_blocks = CeilDiv(plan.n, index_block);
        ParallelFor(CeilDiv(plan.outer, outer_block) * index_blocks, [&](int64_t block) {
            const int64_t o = block / index_blocks * outer_block;
            const int64_t j = block % index_blocks * index_block;
            plan.Range(o, std::min(o + outer_block, plan.outer), j,
                       std::min(j + index_block, plan.n), f);
        });
    };
    VisitItemSize(x.GetItemSize(), [&]<typename T>() {
        if (plan.run == 1) {
            all([](const char* from, char* to) { std::memcpy(to, from, sizeof(T)); });
        } else if (plan.run_x == sizeof(T)) {
            all([nbytes = static_cast<size_t>(plan.run) * sizeof(T)](const char* from, char* to) {
                std::memcpy(to, from, nbytes);
            });
        } else {
            all([&](const char* from, char* to) {
                for (int64_t i = 0; i < plan.run; ++i) {
                    std::memcpy(to + i * plan.run_y, from + i * plan.run_x, sizeof(T));
                }
            });
        }
    });
}
CX_NATIVE_KERNEL(Take)

// The order of indices counts, so threads share out positions and parts of runs.
template <typename T, typename F>
void Scatter(const Array& out, int8_t axis, const Array& indices, IndexBoundsMode mode,
             const Array& x, const F& f) {
    const Plan plan{out, axis, indices, mode, x};
    if (plan.empty()) return;
    const int64_t part = std::max<int64_t>(64, CeilDiv(plan.run, 16));
    const int64_t parts = CeilDiv(plan.run, part);
    const int64_t outer_block = std::max<int64_t>(1, kParallel / (plan.n * part));
    const bool small = plan.outer * plan.n * plan.run <= kParallel;
    const auto work = [&](int64_t o, int64_t o_end, int64_t first, int64_t last) {
        plan.Range(o, o_end, 0, plan.n, [&](char* to, char* from) {
            for (int64_t i = first; i < last; ++i) {
                f(*reinterpret_cast<T*>(to + i * plan.run_x),
                  *reinterpret_cast<const T*>(from + i * plan.run_y));
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

void AddAt(const Array& out, int8_t axis, const Array& indices, IndexBoundsMode mode,
           const Array& x) {
    VisitDtype(out.dtype(), [&]<typename T>() {
        using C = ComputeType<T>;
        Scatter<T>(out, axis, indices, mode, x, [](T& to, const T& from) {
            to = Cast<T>(static_cast<C>(Cast<C>(to) + Cast<C>(from)));
        });
    });
}
CX_NATIVE_KERNEL(AddAt)

void SetAt(const Array& out, int8_t axis, const Array& indices, IndexBoundsMode mode,
           const Array& x) {
    VisitItemSize(out.GetItemSize(), [&]<typename T>() {
        Scatter<T>(out, axis, indices, mode, x, [](T& to, const T& from) { to = from; });
    });
}
CX_NATIVE_KERNEL(SetAt)

void LinearIndex(const Array& indices, int64_t length, int64_t factor, const Array& out) {
    auto* to = reinterpret_cast<int64_t*>(out.raw_data());
    const int64_t n = indices.GetTotalSize();
    int64_t resolved[kChunk];
    for (int64_t begin = 0; begin < n; begin += kChunk) {
        const int64_t count = std::min(kChunk, n - begin);
        Resolve(indices, begin, count, length, IndexBoundsMode::kRaise, resolved);
        for (int64_t i = 0; i < count; ++i) to[begin + i] += factor * resolved[i];
    }
}
CX_NATIVE_KERNEL(LinearIndex)

void NonzeroCount(const Array& x, int64_t* count) {
    const auto* p = reinterpret_cast<const uint8_t*>(x.raw_data());
    const int64_t n = x.GetTotalSize();
    int64_t total = 0;
    for (int64_t i = 0; i < n; ++i) total += p[i];
    *count = total;
}
CX_NATIVE_KERNEL(NonzeroCount)

void Nonzero(const Array& x, const Array& out) {
    const auto* p = reinterpret_cast<const bool*>(x.raw_data());
    auto* to = reinterpret_cast<int64_t*>(out.raw_data());
    const int64_t count = out.shape()[1];
    if (count == 0) return;
    const int last = x.ndim() - 1;
    const int64_t length = x.shape()[last];
    int64_t index[kMaxNdim] = {};
    for (int64_t found = 0; found < count; p += length) {
        for (int64_t i = 0; i < length; ++i) {
            if (!p[i]) continue;
            for (int d = 0; d < last; ++d) to[d * count + found] = index[d];
            to[last * count + found++] = i;
        }
        for (int d = last - 1; d >= 0 && ++index[d] == x.shape()[d]; --d) index[d] = 0;
    }
}
CX_NATIVE_KERNEL(Nonzero)

}  // namespace
}  // namespace chainerx::native
