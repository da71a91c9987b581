#include "chainerx/ops/softmax.h"

#include <utility>

#include "chainerx/autograd/record.h"
#include "chainerx/core/error.h"
#include "chainerx/kernels/kernel.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/operators.h"
#include "chainerx/ops/reduction.h"
#include "chainerx/ops/view.h"

namespace chainerx {
namespace {

// Transposes `axis` with the last one.
Array MoveToLast(const Array& x, int8_t axis) {
    Axes axes;
    for (int8_t i = 0; i < x.ndim(); ++i) axes.push_back(i);
    std::swap(axes[axis], axes[x.ndim() - 1]);
    return Transpose(x, axes);
}

// Applies a kernel for rows of a matrix along any axis, outside the graph.
template <typename K>
Array CallAlongAxis(const Array& x, int8_t axis) {
    const Dtype dtype = FloatResult(x.dtype());
    if (IsComplex(dtype))
        throw DtypeError{"softmax: x has dtype ", GetDtypeName(dtype), ", expected a real one"};
    const Array moved = MoveToLast(AsType(internal::Detached(x), dtype, false), axis);
    Array y = EmptyUnchecked(moved.shape(), dtype, x.device());
    if (x.GetTotalSize() > 0) {
        const int64_t cols = moved.shape().back();
        const Shape matrix{x.GetTotalSize() / cols, cols};
        CallOn<K>(x.device(), Reshape(moved.IsContiguous() ? moved : Copy(moved), matrix),
                  Reshape(y, matrix));
    }
    return axis == x.ndim() - 1 ? y : MoveToLast(y, axis);
}

Array SumAlong(const Array& x, int8_t axis) { return Sum(x, Axes{axis}, true); }

// What all orders of derivatives of the loss are made of. x is (rows, classes), t int64.
struct Labels {
    Array one_hot;  // zeros in ignored rows
    Array counted;  // (rows, 1): 0 in ignored rows, else 1
};

Labels MakeLabels(const Array& t, const Shape& shape, Dtype dtype) {
    const Array one_hot = EmptyUnchecked(shape, dtype, t.device());
    CallOn<kernels::OneHot>(t.device(), "softmax_cross_entropy", t, true, one_hot);
    return {one_hot, SumAlong(one_hot, 1)};
}

Array Column(const Array& x) { return Reshape(x, Shape{x.shape()[0], 1}); }

// gy * (softmax(x) - one_hot(t)), in one pass over x; differentiable in x and gy.
Array SoftmaxCrossEntropyGrad(const Array& x, const Array& t, const Array& stats, const Array& gy) {
    Array gx = EmptyUnchecked(x.shape(), x.dtype(), x.device());
    CallOn<kernels::SoftmaxCrossEntropyGrad>(x.device(), x, t, stats, gy, gx);
    if (Record rec{"softmax_cross_entropy_grad", {x, gy}, gx}) {
        rec.Grad(0, [x = rec.Save(x), gy = rec.Save(gy), t](const Array& ggx) {
            const Array p = Softmax(x(), 1);
            const Labels labels = MakeLabels(t, p.shape(), p.dtype());
            const Array inner = SumAlong(Multiply(ggx, p), 1);
            return Multiply(Multiply(Column(gy()), labels.counted), Multiply(p, ggx - inner));
        });
        rec.Grad(1, [x = rec.Save(x), t](const Array& ggx) {
            const Array p = Softmax(x(), 1);
            const Labels labels = MakeLabels(t, p.shape(), p.dtype());
            const Array d = p * labels.counted - labels.one_hot;
            return Sum(Multiply(ggx, d), Axes{1});
        });
    }
    return gx;
}

}  // namespace

Array Softmax(const Array& x, int8_t axis) {
    axis = NormalizeAxis("softmax", axis, x.ndim());
    Array y = CallAlongAxis<kernels::Softmax>(x, axis);
    if (Record rec{"softmax", {x}, y}) {
        rec.Grad(0, [y = rec.SaveOutput(y), axis](const Array& gy) {
            const Array p = y();
            const Array g = Multiply(gy, p);
            return g - p * SumAlong(g, axis);
        });
    }
    return y;
}

Array LogSoftmax(const Array& x, int8_t axis) {
    axis = NormalizeAxis("log_softmax", axis, x.ndim());
    Array y = CallAlongAxis<kernels::LogSoftmax>(x, axis);
    if (Record rec{"log_softmax", {x}, y}) {
        rec.Grad(0, [y = rec.SaveOutput(y), axis](const Array& gy) {
            return gy - Exp(y()) * SumAlong(gy, axis);
        });
    }
    return y;
}

Array SoftmaxCrossEntropy(const Array& x1, const Array& x2) {
    constexpr const char* kOp = "softmax_cross_entropy";
    if (x1.ndim() != 2 || x2.ndim() != 1 || x1.shape()[0] != x2.shape()[0]) {
        throw DimensionError{kOp,        ": x1.shape is ",
                             x1.shape(), " and x2.shape is ",
                             x2.shape(), ", expected (rows, classes) and (rows,)"};
    }
    if (!IsInt(x2.dtype())) {
        throw DtypeError{kOp, ": x2 has dtype ", GetDtypeName(x2.dtype()), ", expected integers"};
    }
    const Dtype dtype = FloatResult(x1.dtype());
    if (IsComplex(dtype))
        throw DtypeError{kOp, ": x1 has dtype ", GetDtypeName(dtype), ", expected a real one"};
    CheckSameDevice(kOp, x1.device(), x2.device());
    const int64_t rows = x1.shape()[0];
    // The cast is part of the graph: the derivatives below are those of a float array.
    const Array x = AsContiguous(AsType(x1, dtype, false));
    const Array t = AsContiguous(AsType(x2, Dtype::kInt64, false));
    const Dtype wide = dtype == Dtype::kFloat64 ? dtype : Dtype::kFloat32;
    Array y = EmptyUnchecked(Shape{rows}, dtype, x1.device());
    const Array stats = EmptyUnchecked(Shape{rows, 2}, wide, x1.device());
    CallOn<kernels::SoftmaxCrossEntropy>(x1.device(), x, t, y, stats);
    if (Record rec{kOp, {x}, y}) {
        rec.Grad(0, [x = rec.Save(x), t, stats](const Array& gy) {
            return SoftmaxCrossEntropyGrad(x(), t, stats, gy);
        });
    }
    return y;
}

}  // namespace chainerx
