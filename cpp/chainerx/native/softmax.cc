// Normalized exponentials, row by row.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "chainerx/core/error.h"
#include "chainerx/core/thread_pool.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/softmax_rows.h"

namespace chainerx::native {
namespace {

// Calls f(row) for all rows, some ten thousand elements to a block.
template <typename F>
void ForEachRow(int64_t rows, int64_t cols, const F& f) {
    const int64_t step = std::max<int64_t>(1, 8192 / std::max<int64_t>(cols, 1));
    ParallelFor((rows + step - 1) / step, [&](int64_t block) {
        const int64_t end = std::min(rows, (block + 1) * step);
        for (int64_t i = block * step; i < end; ++i) f(i);
    });
}

template <typename T>
T* Data(const Array& x) {
    return reinterpret_cast<T*>(x.raw_data());
}

// Calls f<T>() for float and double, the two types that rows are computed in.
template <typename F>
void VisitWide(Dtype dtype, const F& f) {
    if (dtype == Dtype::kFloat64) {
        f.template operator()<double>();
    } else {
        f.template operator()<float>();
    }
}

bool IsHalf(const Array& x) { return x.GetItemSize() == 2; }

Array ToFloat32(const Array& x) {
    const Array y = EmptyUnchecked(x.shape(), Dtype::kFloat32, x.device());
    CallOn<kernels::AsType>(x.device(), x, y);
    return y;
}

// For 16-bit floats: `f` on float32 copies of input and output.
template <typename F>
bool RunWide(const Array& x, const Array& out, const F& f) {
    if (!IsHalf(x)) return false;
    const Array y = EmptyUnchecked(out.shape(), Dtype::kFloat32, out.device());
    f(ToFloat32(x), y);
    CallOn<kernels::AsType>(out.device(), y, out);
    return true;
}

void Softmax(const Array& x, const Array& out) {
    if (RunWide(x, out, Softmax)) return;
    VisitWide(x.dtype(), [&]<typename T>() {
        const int64_t cols = x.shape()[1];
        ForEachRow(x.shape()[0], cols, [&](int64_t i) {
            SoftmaxRow(Data<T>(x) + i * cols, Data<T>(out) + i * cols, cols);
        });
    });
}
CX_NATIVE_KERNEL(Softmax)

void LogSoftmax(const Array& x, const Array& out) {
    if (RunWide(x, out, LogSoftmax)) return;
    VisitWide(x.dtype(), [&]<typename T>() {
        const int64_t cols = x.shape()[1];
        ForEachRow(x.shape()[0], cols, [&](int64_t i) {
            const T* from = Data<T>(x) + i * cols;
            T* to = Data<T>(out) + i * cols;
            const RowStats<T> s = GetRowStats(from, cols);
            for (int64_t j = 0; j < cols; ++j) to[j] = (from[j] - s.max) - s.log_sum;
        });
    });
}
CX_NATIVE_KERNEL(LogSoftmax)

[[noreturn]] CX_COLD void ThrowLabel(int64_t row, int64_t label, int64_t classes) {
    throw IndexError{"softmax_cross_entropy: x2[",
                     row,
                     "] is ",
                     label,
                     ", but x1 has ",
                     classes,
                     " classes; expected 0 to ",
                     classes - 1,
                     ", or -1 to ignore the row"};
}

void SoftmaxCrossEntropy(const Array& x, const Array& t, const Array& loss, const Array& stats) {
    if (IsHalf(x)) {
        const Array wide_loss = EmptyUnchecked(loss.shape(), Dtype::kFloat32, loss.device());
        SoftmaxCrossEntropy(ToFloat32(x), t, wide_loss, stats);
        CallOn<kernels::AsType>(loss.device(), wide_loss, loss);
        return;
    }
    VisitWide(x.dtype(), [&]<typename T>() {
        const int64_t cols = x.shape()[1];
        ForEachRow(x.shape()[0], cols, [&](int64_t i) {
            const int64_t label = Data<const int64_t>(t)[i];
            if (label < -1 || label >= cols) ThrowLabel(i, label, cols);
            const T* from = Data<T>(x) + i * cols;
            const RowStats<T> s = GetRowStats(from, cols);
            Data<T>(stats)[2 * i] = s.max;
            Data<T>(stats)[2 * i + 1] = s.log_sum;
            Data<T>(loss)[i] = label < 0 ? T{0} : s.log_sum - (from[label] - s.max);
        });
    });
}
CX_NATIVE_KERNEL(SoftmaxCrossEntropy)

void SoftmaxCrossEntropyGrad(const Array& x, const Array& t, const Array& stats, const Array& gy,
                             const Array& gx) {
    if (IsHalf(x)) {
        const Array wide_gx = EmptyUnchecked(gx.shape(), Dtype::kFloat32, gx.device());
        SoftmaxCrossEntropyGrad(ToFloat32(x), t, stats, ToFloat32(gy), wide_gx);
        CallOn<kernels::AsType>(gx.device(), wide_gx, gx);
        return;
    }
    VisitWide(x.dtype(), [&]<typename T>() {
        const int64_t cols = x.shape()[1];
        ForEachRow(x.shape()[0], cols, [&](int64_t i) {
            const int64_t label = Data<const int64_t>(t)[i];
            T* to = Data<T>(gx) + i * cols;
            if (label < 0) {
                std::fill_n(to, cols, T{0});
                return;
            }
            const T g = *reinterpret_cast<const T*>(gy.raw_data() + i * gy.strides()[0]);
            const RowStats<T> s{Data<T>(stats)[2 * i], Data<T>(stats)[2 * i + 1]};
            ScaledSoftmaxRow(Data<T>(x) + i * cols, s, g, to, cols);
            to[label] -= g;
        });
    });
}
CX_NATIVE_KERNEL(SoftmaxCrossEntropyGrad)

void OneHot(const Array& t, const Array& out) {
    CallOn<kernels::Fill>(out.device(), out, Scalar{0});
    VisitFloat(out.dtype(), [&]<typename T>() {
        for (int64_t i = 0; i < t.GetTotalSize(); ++i) {
            const int64_t label = Data<const int64_t>(t)[i];
            if (label >= 0) Data<T>(out)[i * out.shape()[1] + label] = Cast<T>(1);
        }
    });
}
CX_NATIVE_KERNEL(OneHot)

}  // namespace
}  // namespace chainerx::native
