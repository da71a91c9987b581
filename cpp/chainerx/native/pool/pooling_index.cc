// Pooling by index: scatters to, and gathers from, the positions of elements in windows.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "chainerx/core/kernel_error.h"
#include "chainerx/kernels/pool/pooling.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/pool/pooling_kernel.h"
#include "chainerx/native/pool/pooling_plan.h"

namespace chainerx::native {
namespace {

// Adjacent outputs and the elements of the plane that their indices name, for a loop of the dtype.
class Run {
 public:
    // Handles n outputs from `first` on: of scatters, adds from[first + i] to to[elements[i]]; of
    // gathers, sets to[first + i] to from[elements[i]].
    using Loop = void (*)(const char* from, char* to, int64_t first, const int64_t* elements,
                          int64_t n);
    static constexpr int64_t kMax = 256;

    Run(Loop loop, const char* from, char* to) : loop_{loop}, from_{from}, to_{to} {}
    void Add(int64_t output, int64_t element) {
        if (n_ == kMax || output != first_ + n_) Flush(output);
        elements_[n_++] = element;
    }
    // Makes room for up to kMax elements of outputs from `output` on.
    int64_t* Extend(int64_t output, int64_t n) {
        Flush(output);
        n_ = n;
        return elements_;
    }
    void Flush(int64_t next = 0) {
        loop_(from_, to_, first_, elements_, n_);
        first_ = next;
        n_ = 0;
    }

 private:
    Loop loop_;
    const char* from_;
    char* to_;
    int64_t first_{0};
    int64_t n_{0};
    int64_t elements_[kMax];
};

template <typename T>
void AddRun(const char* from, char* to, int64_t first, const int64_t* elements, int64_t n) {
    const T* const gy = reinterpret_cast<const T*>(from) + first;
    T* const gx = reinterpret_cast<T*>(to);
    for (int64_t i = 0; i < n; ++i) {
        T& sum = gx[elements[i]];
        sum = static_cast<T>(sum + gy[i]);
    }
}

template <typename T>
void CopyRun(const char* from, char* to, int64_t first, const int64_t* elements, int64_t n) {
    const T* const x = reinterpret_cast<const T*>(from);
    T* const y = reinterpret_cast<T*>(to) + first;
    for (int64_t i = 0; i < n; ++i) y[i] = x[elements[i]];
}

// Maps indices in a window to elements of the plane. MaxPool's own one-byte indices are not
// checked, unless there are windows of padding only; other indices may have any value.
template <typename Index>
class Places {
 public:
    Places(const char* op, const PoolPlan& plan)
        : op_{op}, plan_{plan}, checks_{!std::is_same_v<Index, uint8_t> || plan.HasEmpty()} {
        if (checks_) return;
        for (int64_t k = 0; k < plan.taps; ++k) {
            int64_t steps[kMaxSpatial];
            Split(k, steps);
            offsets_[k] = Join(steps);
        }
    }

    // Adds each output of a plane whose index is not padding to `run`; `plane` is for errors.
    void ForPlane(int64_t plane, const Index* indices, Run& run) const {
        const PoolAxis& last = plan_.last();
        int64_t at[kMaxSpatial];
        int64_t origin[kMaxSpatial];
        int64_t output = 0;
        int64_t next_check = kSlice;
        for (int64_t row = 0; row < plan_.out_rows; ++row) {
            plan_.Unravel(row, false, at);
            for (int i = 0; i < plan_.ndim() - 1; ++i) {
                origin[i] = plan_.axis(i).Window(at[i]).begin;
            }
            origin[plan_.ndim() - 1] = 0;
            for (int64_t o = 0; o < last.out;) {
                const int64_t end = std::min(o + kSlice, last.out);
                ForSlice(plane, indices, o, end, output, origin, run);
                output += end - o;
                o = end;
                if (output < next_check) continue;
                internal::CheckInterrupt();
                next_check = output + kSlice;
            }
        }
        run.Flush();
    }

 private:
    static constexpr int64_t kSlice = 1 << 16;  // outputs between two interrupt checks

    // Handles outputs `o` to `end` of a row, whose windows begin at `origin` along all axes but the
    // last; the first is number `output` of its plane.
    void ForSlice(int64_t plane, const Index* indices, int64_t o, int64_t end, int64_t output,
                  int64_t* origin, Run& run) const {
        const PoolAxis& last = plan_.last();
        if (!checks_) {
            const int64_t base = Join(origin);
            const bool is_regular = last.IsRegular();
            while (o < end) {
                const int64_t n = std::min(Run::kMax, end - o);
                int64_t* const elements = run.Extend(output, n);
                for (int64_t i = 0; i < n; ++i) {
                    const int64_t begin =
                        is_regular ? (o + i) * last.stride - last.pad : last.Window(o + i).begin;
                    const auto number = static_cast<uint8_t>(indices[output + i]);
                    elements[i] = base + begin + offsets_[number];
                }
                o += n;
                output += n;
            }
            return;
        }
        for (; o < end; ++o, ++output) {
            constexpr bool kIsUnsigned = std::is_same_v<Index, uint64_t>;
            const auto given = static_cast<int64_t>(indices[output]);
            const int64_t number = given < 0 && !kIsUnsigned ? given + plan_.taps : given;
            if (number < 0 || number >= plan_.taps) {
                const int64_t position = plane * plan_.out_plane + output;
                Fail(KernelError::Index(op_, "indices", position, given, plan_.taps, kIsUnsigned));
            }
            int64_t place[kMaxSpatial];
            Split(number, place);
            origin[plan_.ndim() - 1] = last.Window(o).begin;
            bool inside = true;
            for (int i = 0; i < plan_.ndim(); ++i) {
                place[i] += origin[i];
                inside = inside && place[i] >= 0 && place[i] < plan_.axis(i).in;
            }
            if (inside) run.Add(output, Join(place));
        }
    }

    // Splits an index into steps along each axis of the window.
    void Split(int64_t number, int64_t* steps) const {
        for (int i = plan_.ndim() - 1; i >= 0; --i) {
            steps[i] = number % plan_.axis(i).size;
            number /= plan_.axis(i).size;
        }
    }
    int64_t Join(const int64_t* place) const {
        int64_t element = 0;
        for (int i = 0; i < plan_.ndim(); ++i) element = element * plan_.axis(i).in + place[i];
        return element;
    }

    const char* op_;
    const PoolPlan& plan_;
    bool checks_;
    int64_t offsets_[256];
};

// Calls f.operator()<Index>().
void VisitIndex(const Array& indices, const auto& f) {
    if (indices.dtype() == Dtype::kUInt8) {
        f.template operator()<uint8_t>();
    } else if (indices.dtype() == Dtype::kUInt64) {
        f.template operator()<uint64_t>();
    } else {
        f.template operator()<int64_t>();
    }
}

// Returns whether windows are 2 x 2 and tile the input exactly.
bool IsTwoByTwo(const PoolPlan& plan) {
    const auto two = [](const PoolAxis& a) { return a.size == 2 && a.stride == 2 && a.pad == 0; };
    return plan.ndim() == 2 && two(plan.axis(0)) && two(plan.axis(1)) && plan.AllInside();
}

template <typename T>
void PlaceTwoByTwo(const PoolPlan& plan, const T* gy, const uint8_t* indices, T* gx) {
    const int64_t in = plan.last().in;
    const int64_t out = plan.last().out;
    const auto place = pooling_loops().Of<T>().place;
    ForPieces(plan.planes, plan.in_plane, [&](int64_t begin, int64_t end) {
        const int64_t n =
            plan.axis(0).IsExact() ? 1 : end - begin;  // parts; adjacent planes are one
        const int64_t rows = (end - begin) / n * plan.out_rows;
        for (int64_t k = 0; k < n; ++k) {
            const int64_t plane = begin + k;
            T* to = gx + plane * plan.in_plane;
            const int64_t from = plane * plan.out_plane;
            place(gy + from, indices + from, rows, out, in - 2 * out, to);
            std::fill(to + 2 * rows * in, to + plan.in_plane * (end - begin) / n, T{0});
        }
    });
}

// For each plane of `to`, zeros and then what `loop` makes of the run.
void Move(const char* op, const PoolPlan& plan, const Array& from, int64_t from_plane,
          const Array& indices, const Array& to, int64_t to_plane, Run::Loop loop) {
    const int64_t item_size = to.GetItemSize();
    VisitIndex(indices, [&]<typename Index>() {
        const Places<Index> places{op, plan};
        ForPieces(plan.planes, to_plane, [&](int64_t begin, int64_t end) {
            for (int64_t p = begin; p < end; ++p) {
                char* const plane = to.raw_data() + p * to_plane * item_size;
                std::memset(plane, 0, to_plane * item_size);
                Run run{loop, from.raw_data() + p * from_plane * item_size, plane};
                places.ForPlane(p, PoolData<Index>(indices) + p * plan.out_plane, run);
            }
        });
    });
}

void PoolScatter(const char* op, const Array& gy, const Array& indices, const PoolWindow& window,
                 const Array& gx) {
    const PoolPlan plan{gx.shape(), gy.shape(), window, false};
    VisitDtype(gx.dtype(), [&]<typename T>() {
        if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
            PoolInFloat32(gy, gx, [&](const Array& wide_gy, const Array& wide_gx) {
                PoolScatter(op, wide_gy, indices, window, wide_gx);
            });
        } else if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
            if constexpr (std::is_floating_point_v<T>) {
                if (indices.dtype() == Dtype::kUInt8 && IsTwoByTwo(plan)) {
                    return PlaceTwoByTwo(plan, PoolData<T>(gy), PoolData<uint8_t>(indices),
                                         PoolData<T>(gx));
                }
            }
            Move(op, plan, gy, plan.out_plane, indices, gx, plan.in_plane, AddRun<T>);
        } else {
            ThrowUnexpectedDtype(gx.dtype(), "a real one");
        }
    });
}
CX_NATIVE_KERNEL(PoolScatter)

void PoolGather(const char* op, const Array& x, const Array& indices, const PoolWindow& window,
                const Array& y) {
    const PoolPlan plan{x.shape(), y.shape(), window, false};
    VisitItemSize(y.GetItemSize(), [&]<typename T>() {
        Move(op, plan, x, plan.in_plane, indices, y, plan.out_plane, CopyRun<T>);
    });
}
CX_NATIVE_KERNEL(PoolGather)

}  // namespace
}  // namespace chainerx::native
