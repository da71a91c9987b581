// Pooling by index: scatters to, and gathers from, the positions of elements in windows.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "chainerx/core/interrupt.h"
#include "chainerx/core/kernel_error.h"
#include "chainerx/kernels/pool/pooling.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/pool/pooling_kernel.h"
#include "chainerx/native/pool/pooling_plan.h"

namespace chainerx::native {
namespace {

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

    // Calls f(output, element) for each output of a plane whose index is not padding; `plane` is
    // for errors.
    template <typename F>
    void ForPlane(int64_t plane, const Index* indices, const F& f) const {
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
                ForSlice(plane, indices, o, end, output, origin, f);
                output += end - o;
                o = end;
                if (output < next_check) continue;
                internal::CheckInterrupt();
                next_check = output + kSlice;
            }
        }
    }

 private:
    static constexpr int64_t kSlice = 1 << 16;  // outputs between two interrupt checks

    // Handles outputs `o` to `end` of a row, whose windows begin at `origin` along all axes but the
    // last; the first is number `output` of its plane.
    template <typename F>
    void ForSlice(int64_t plane, const Index* indices, int64_t o, int64_t end, int64_t output,
                  int64_t* origin, const F& f) const {
        const PoolAxis& last = plan_.last();
        if (!checks_) {
            const int64_t base = Join(origin);
            for (; o < end; ++o, ++output) {
                const int64_t begin =
                    last.IsRegular() ? o * last.stride - last.pad : last.Window(o).begin;
                f(output, base + begin + offsets_[static_cast<uint8_t>(indices[output])]);
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
            if (inside) f(output, Join(place));
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
template <typename F>
void VisitIndex(const Array& indices, const F& f) {
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
    const auto place = PoolLoopsFor<T>().place;
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

void PoolScatter(const char* op, const Array& gy, const Array& indices, const PoolWindow& window,
                 const Array& gx) {
    const PoolPlan plan{gx.shape(), gy.shape(), window, false};
    VisitDtype(gx.dtype(), [&]<typename T>() {
        if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
            PoolInFloat32(gy, gx, [&](const Array& wide_gy, const Array& wide_gx) {
                PoolScatter(op, wide_gy, indices, window, wide_gx);
            });
        } else if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
            const T* from = PoolData<T>(gy);
            T* to = PoolData<T>(gx);
            if constexpr (std::is_floating_point_v<T>) {
                if (indices.dtype() == Dtype::kUInt8 && IsTwoByTwo(plan)) {
                    return PlaceTwoByTwo(plan, from, PoolData<uint8_t>(indices), to);
                }
            }
            VisitIndex(indices, [&]<typename Index>() {
                const Places<Index> places{op, plan};
                ForPieces(plan.planes, plan.in_plane, [&](int64_t begin, int64_t end) {
                    for (int64_t p = begin; p < end; ++p) {
                        T* plane = to + p * plan.in_plane;
                        const T* values = from + p * plan.out_plane;
                        std::fill_n(plane, plan.in_plane, T{0});
                        places.ForPlane(p, PoolData<Index>(indices) + p * plan.out_plane,
                                        [=](int64_t output, int64_t element) {
                                            plane[element] =
                                                static_cast<T>(plane[element] + values[output]);
                                        });
                    }
                });
            });
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
        VisitIndex(indices, [&]<typename Index>() {
            const Places<Index> places{op, plan};
            ForPieces(plan.planes, plan.out_plane, [&](int64_t begin, int64_t end) {
                for (int64_t p = begin; p < end; ++p) {
                    const T* plane = PoolData<T>(x) + p * plan.in_plane;
                    T* out = PoolData<T>(y) + p * plan.out_plane;
                    std::fill_n(out, plan.out_plane, T{});
                    places.ForPlane(
                        p, PoolData<Index>(indices) + p * plan.out_plane,
                        [=](int64_t output, int64_t element) { out[output] = plane[element]; });
                }
            });
        });
    });
}
CX_NATIVE_KERNEL(PoolGather)

}  // namespace
}  // namespace chainerx::native
