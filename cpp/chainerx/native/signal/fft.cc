// FFT along an axis: prepares rows for the library from arrays.
#include "chainerx/kernels/signal/fft.h"

#include <algorithm>
#include <cstdint>

#include "chainerx/core/dims.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/signal/fourier.h"

namespace chainerx::native {
namespace {

// Offsets of the rows along an axis, in elements.
class Rows {
 public:
    Rows(const Array& x, int8_t axis) : step_{x.strides()[axis] / x.GetItemSize()} {
        for (int8_t i = 0; i < x.ndim(); ++i) {
            if (i == axis) continue;
            shape_.push_back(x.shape()[i]);
            strides_.push_back(x.strides()[i] / x.GetItemSize());
        }
    }
    int64_t step() const { return step_; }

    void Find(int64_t first, int64_t count, int64_t* at) const {
        const auto ndim = static_cast<int8_t>(shape_.size());
        int64_t index[kMaxNdim];
        int64_t place = 0;
        for (int8_t i = ndim - 1; i >= 0; --i) {
            index[i] = first % shape_[i];
            first /= shape_[i];
            place += index[i] * strides_[i];
        }
        for (int64_t k = 0; k < count; ++k) {
            at[k] = place;
            for (int8_t i = ndim - 1; i >= 0; --i) {
                place += strides_[i];
                if (++index[i] < shape_[i]) break;
                place -= shape_[i] * strides_[i];
                index[i] = 0;
            }
        }
    }

 private:
    Shape shape_;
    Strides strides_;
    int64_t step_;
};

// Evenly spaced rows.
struct Progression {
    int64_t step;
    void Find(int64_t first, int64_t count, int64_t* at) const {
        for (int64_t k = 0; k < count; ++k) at[k] = (first + k) * step;
    }
};

template <typename T>
using Run = void (*)(const FourierRows<T>&);

// Runs `count` rows like `like`, in blocks whose size depends on the row length alone.
template <typename T, typename In, typename Out>
void InBlocks(Run<T> run, const FourierRows<T>& like, int64_t count, const In& in, const Out& out) {
    constexpr int64_t kMax = 256;
    const FourierLoops<T>& loops = fourier_loops().Of<T>();
    const int64_t groups = std::max<int64_t>(1, (1 << 13) / (like.n * loops.lanes));
    const int64_t block = std::min(kMax, groups * loops.lanes);
    ParallelFor(CeilDiv(count, block), [&](int64_t b) {
        const Scratch<char> work{loops.work(like.n)};
        FourierRows<T> rows = like;
        int64_t in_at[kMax];
        int64_t out_at[kMax];
        const int64_t first = b * block;
        rows.rows = std::min(block, count - first);
        in.Find(first, rows.rows, in_at);
        out.Find(first, rows.rows, out_at);
        rows.in_at = in_at;
        rows.out_at = out_at;
        rows.work = work.data();
        run(rows);
    });
}

// Computes one row by the four-step algorithm, as two batches of shorter rows.
template <typename T>
void RunSplit(const FourierSplit<T>& split, const FourierRows<T>& row, const T* in, T* out) {
    const Run<T> run = fourier_loops().Of<T>().complex;
    const int64_t n1 = split.first->n();
    const int64_t n2 = split.second->n();
    const Scratch<T> middle{2 * split.n};
    FourierRows<T> part = row;
    part.plan = split.first->get();
    part.n = n1;
    part.scale = 1;
    part.in = in;
    part.in_step = n2 * row.in_step;
    part.out = middle.data();
    part.out_step = n2;
    part.twiddles = split.twiddles.data();
    InBlocks(run, part, n2, Progression{row.in_step}, Progression{1});
    part.plan = split.second->get();
    part.n = n2;
    part.scale = row.scale;
    part.in = middle.data();
    part.in_step = 1;
    part.out = out;
    part.out_step = n1 * row.out_step;
    part.twiddles = nullptr;
    InBlocks(run, part, n1, Progression{n2}, Progression{row.out_step});
}

// Few rows leave lanes empty, and many long ones exceed the caches.
template <typename T>
bool IsWorthSplitting(int64_t n, int64_t rows) {
    constexpr int64_t kMin = 256;
    constexpr int64_t kCache = 512 << 10;
    return n >= kMin &&
           (2 * rows < fourier_loops().Of<T>().lanes || fourier_loops().Of<T>().work(n) > kCache);
}

template <typename T>
void RunComplex(FourierRows<T> rows, int64_t count, const Rows& in, const Rows& out) {
    if (IsWorthSplitting<T>(rows.n, count)) {
        if (const auto split = GetFourierSplit<T>(rows.n)) {
            const auto run = [&](int64_t k) {
                int64_t in_at;
                int64_t out_at;
                in.Find(k, 1, &in_at);
                out.Find(k, 1, &out_at);
                RunSplit(*split, rows, rows.in + 2 * in_at, rows.out + 2 * out_at);
            };
            constexpr int64_t kLong = 1 << 15;  // one such row is enough work for all threads
            if (rows.n < kLong) {
                ParallelFor(count, run);
            } else {
                for (int64_t k = 0; k < count; ++k) run(k);
            }
            return;
        }
    }
    const auto plan = GetFourierPlan<T>(kFourierComplex, rows.n);
    rows.plan = plan->get();
    InBlocks(fourier_loops().Of<T>().complex, rows, count, in, out);
}

// The rows of arrays; the plan is set later.
template <typename T>
FourierRows<T> Describe(const Array& x, bool inverse, double scale, double inside, int64_t n,
                        const Rows& in, const Rows& out, const Array& y) {
    FourierRows<T> rows{};
    rows.n = n;
    rows.forward = !inverse;
    rows.scale = static_cast<T>(scale);
    rows.inside = static_cast<T>(inside);
    rows.in = reinterpret_cast<const T*>(x.raw_data());
    rows.in_step = in.step();
    rows.out = reinterpret_cast<T*>(y.raw_data());
    rows.out_step = out.step();
    return rows;
}

// Calls f with operands whose strides are multiples of the element size.
void WithElementStrides(const Array& x, const auto& f) {
    const int64_t size = x.GetItemSize();
    bool whole = reinterpret_cast<uintptr_t>(x.raw_data()) % std::min<int64_t>(size, 8) == 0;
    for (int8_t i = 0; i < x.ndim(); ++i) whole = whole && x.strides()[i] % size == 0;
    if (whole) {
        f(x);
    } else {
        const Array copy = EmptyUnchecked(x.shape(), x.dtype(), x.device());
        CallOn<kernels::AsType>(x.device(), x, copy);
        f(copy);
    }
}

void VisitPrecision(const Array& x, const auto& f) {
    if (x.dtype() == Dtype::kFloat32 || x.dtype() == Dtype::kComplex64) {
        f.template operator()<float>();
    } else {
        f.template operator()<double>();
    }
}

void FourierTransform(const Array& x, int8_t axis, bool inverse, double scale, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    WithElementStrides(x, [&](const Array& x) {
        VisitPrecision(x, [&]<typename T>() {
            const Rows from{x, axis};
            const Rows to{out, axis};
            const int64_t n = x.shape()[axis];
            RunComplex(Describe<T>(x, inverse, scale, 1, n, from, to, out), x.GetTotalSize() / n,
                       from, to);
        });
    });
}
CX_NATIVE_KERNEL(FourierTransform)

// Real-to-complex and complex-to-real transforms, of the nonredundant half.
void TransformReal(bool to_real, const Array& x, int8_t axis, bool inverse, double scale,
                   double inside, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    WithElementStrides(x, [&](const Array& x) {
        VisitPrecision(x, [&]<typename T>() {
            const Rows from{x, axis};
            const Rows to{out, axis};
            const Array& real = to_real ? out : x;
            const int64_t n = real.shape()[axis];
            FourierRows<T> rows = Describe<T>(x, inverse, scale, inside, n, from, to, out);
            const auto plan = GetFourierPlan<T>(kFourierReal, n);
            rows.plan = plan->get();
            const FourierLoops<T>& loops = fourier_loops().Of<T>();
            InBlocks(to_real ? loops.to_real : loops.from_real, rows, real.GetTotalSize() / n, from,
                     to);
        });
    });
}

void FourierFromReal(const Array& x, int8_t axis, bool inverse, double scale, double inside,
                     const Array& out) {
    TransformReal(false, x, axis, inverse, scale, inside, out);
}
CX_NATIVE_KERNEL(FourierFromReal)

void FourierToReal(const Array& x, int8_t axis, bool inverse, double scale, double inside,
                   const Array& out) {
    TransformReal(true, x, axis, inverse, scale, inside, out);
}
CX_NATIVE_KERNEL(FourierToReal)

}  // namespace
}  // namespace chainerx::native
