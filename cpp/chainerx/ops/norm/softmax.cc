#include "chainerx/ops/norm/softmax.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "chainerx/kernels/norm/softmax.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

constexpr OpInfo kSoftmaxCrossEntropyGrad{"softmax_cross_entropy_grad",
                                          &kernels::SoftmaxCrossEntropyGrad::kInfo};
constexpr OpInfo kSoftmax{"softmax", &kernels::Softmax::kInfo, Batching::kAxes};
constexpr OpInfo kLogSoftmax{"log_softmax", &kernels::LogSoftmax::kInfo, Batching::kAxes};
constexpr OpInfo kSoftmaxCrossEntropy{"softmax_cross_entropy",
                                      &kernels::SoftmaxCrossEntropy::kInfo};

// Applies a row kernel along several axes together, outside the graph.
template <typename K>
Array CallAlongAxes(const Array& x, const Axes& axes) {
    const Dtype dtype = FloatResult(x.dtype());
    CheckDtype(!IsComplex(dtype), "softmax", "x", dtype, "a real one");
    Array y = EmptyUnchecked(x.shape(), dtype, x.device());
    if (x.GetTotalSize() == 0) return y;
    Axes order;
    int64_t cols = 1;
    for (int8_t i = 0; i < x.ndim(); ++i) {
        if (std::ranges::find(axes, i) == axes.end()) order.push_back(i);
    }
    for (int8_t a : axes) {
        order.push_back(a);
        cols *= x.shape()[a];
    }
    const Shape matrix{x.GetTotalSize() / cols, cols};
    const Array in = AsType(internal::Detached(x), dtype, false);
    if (std::ranges::is_sorted(order)) {
        CallOn<K>(x.device(), Reshape(AsContiguous(in), matrix), Reshape(y, matrix));
        return y;
    }
    const Array rows = Copy(Transpose(in, order));
    const Array out = EmptyUnchecked(rows.shape(), dtype, x.device());
    CallOn<K>(x.device(), Reshape(rows, matrix), Reshape(out, matrix));
    Axes inverse = order;
    for (int8_t i = 0; i < x.ndim(); ++i) inverse[order[i]] = i;
    CallOn<kernels::AsType>(x.device(), Transpose(out, inverse), y);
    return y;
}

Array SumAlong(const Array& x, const Axes& axes) { return Sum(x, axes, true); }

// The terms of all derivatives of the loss. x is (rows, classes).
struct Labels {
    Array one_hot;  // zeros in ignored rows
    Array counted;  // (rows, 1): 0 in ignored rows, else 1
};

// The options of the loss.
struct LossOptions {
    int64_t ignore;
    double smoothing;
};

Labels MakeLabels(const Array& t, int64_t ignore, const Shape& shape, Dtype dtype) {
    const Array one_hot = EmptyUnchecked(shape, dtype, t.device());
    CallOn<kernels::OneHot>(t.device(), "softmax_cross_entropy", t, std::optional{ignore}, one_hot);
    return {one_hot, SumAlong(one_hot, {1})};
}

Array Column(const Array& x) { return Reshape(x, Shape{x.shape()[0], 1}); }

// Multiplies by the scale of a mean; without one it is empty.
Array Scaled(const Array& x, const Array& scale) {
    if (scale.GetTotalSize() == 0) return x;
    return AsType(Multiply(x, scale), x.dtype(), false);
}

// scale * gy * (softmax(x) - q), in one pass over x, where q is the smoothed one_hot(t);
// differentiable in x and gy.
Array SoftmaxCrossEntropyGrad(const Array& x, const Array& t, const LossOptions& options,
                              const Array& stats, const Array& gy, const Array& scale) {
    Array gx = EmptyUnchecked(x.shape(), x.dtype(), x.device());
    CallOn<kernels::SoftmaxCrossEntropyGrad>(x.device(), x, t, options.ignore, options.smoothing,
                                             stats, gy, scale, gx);
    if (Record rec{kSoftmaxCrossEntropyGrad, {x, gy}, gx}) {
        const KeptOperand labelled{"softmax_cross_entropy", "x2", t};
        rec.Grad(
            0, [x = rec.Save(x), gy = rec.Save(gy), labelled, options, scale](const Array& ggx) {
                const Array p = Softmax(x());
                const Labels labels = MakeLabels(labelled(), options.ignore, p.shape(), p.dtype());
                const Array inner = SumAlong(Multiply(ggx, p), {1});
                const Array g = Scaled(Column(gy()), scale);
                return Multiply(Multiply(g, labels.counted), Multiply(p, ggx - inner));
            });
        rec.Grad(1, [x = rec.Save(x), labelled, options, scale](const Array& ggx) {
            const auto [ignore, smoothing] = options;
            const Array p = Softmax(x());
            const Labels labels = MakeLabels(labelled(), ignore, p.shape(), p.dtype());
            Array d = p * labels.counted - labels.one_hot;
            if (smoothing != 0) {
                const double even = 1 / static_cast<double>(p.shape()[1]);
                d = d + Scalar{smoothing} * (labels.one_hot - labels.counted * Scalar{even});
            }
            return Scaled(Sum(Multiply(ggx, d), Axes{1}), scale);
        });
    }
    return gx;
}

}  // namespace

Array Softmax(const Array& x, const Axes& axes) {
    const Axes along = NormalizeAxes("softmax", axes, x.ndim());
    Array y = CallAlongAxes<kernels::Softmax>(x, along);
    if (Record rec{kSoftmax, {x}, y}) {
        rec.Grad(0, [y = rec.SaveOutput(y), along](const Array& gy) {
            const Array p = y();
            const Array g = Multiply(gy, p);
            return g - p * SumAlong(g, along);
        });
    }
    return y;
}

Array LogSoftmax(const Array& x, const Axes& axes) {
    const Axes along = NormalizeAxes("log_softmax", axes, x.ndim());
    Array y = CallAlongAxes<kernels::LogSoftmax>(x, along);
    if (Record rec{kLogSoftmax, {x}, y}) {
        rec.Grad(0, [y = rec.SaveOutput(y), along](const Array& gy) {
            return gy - Exp(y()) * SumAlong(gy, along);
        });
    }
    return y;
}

Array SoftmaxCrossEntropy(const Array& x1, const Array& x2, double label_smoothing) {
    if (x1.ndim() != 2 || x2.ndim() != 1 || x1.shape()[0] != x2.shape()[0]) {
        throw DimensionError{"softmax_cross_entropy: x1.shape is ", x1.shape(), " and x2.shape is ",
                             x2.shape(), ", expected (rows, classes) and (rows,)"};
    }
    return SoftmaxCrossEntropy(x1, x2, -1, false, label_smoothing);
}

namespace {

// Views (n, classes, ...) as a matrix with one row per label. Differentiable.
Array ToRows(const Array& x) {
    if (x.ndim() == 2) return AsContiguous(x);
    Axes order{0};
    for (int8_t i = 2; i < x.ndim(); ++i) order.push_back(i);
    order.push_back(1);
    const int64_t classes = x.shape()[1];
    int64_t rows = x.shape()[0];
    for (int8_t i = 2; i < x.ndim(); ++i) rows *= x.shape()[i];
    // For one image, reshaping the transposed array gives a view.
    return AsContiguous(Reshape(Transpose(x, order), Shape{rows, classes}));
}

Array FromRows(const Array& rows, const Shape& shape) {
    if (shape.ndim() == 2) return rows;
    Shape moved{shape[0]};
    Axes order{0, static_cast<int8_t>(shape.ndim() - 1)};
    for (int8_t i = 2; i < shape.ndim(); ++i) {
        moved.push_back(shape[i]);
        order.push_back(static_cast<int8_t>(i - 1));
    }
    moved.push_back(shape[1]);
    return Transpose(Reshape(rows, moved), order);
}

Array AsVector(const Array& x) { return x.ndim() == 1 ? x : Ravel(x); }

}  // namespace

Array SoftmaxCrossEntropy(const Array& x1, const Array& x2, int64_t ignore_label, bool mean,
                          double label_smoothing) {
    constexpr const char* kOp = kSoftmaxCrossEntropy.name;
    Shape expected = x1.shape();
    if (x1.ndim() >= 2) expected.erase(1);
    if (x1.ndim() < 2 || x2.shape() != expected) {
        throw DimensionError{kOp,        ": x1.shape is ",
                             x1.shape(), " and x2.shape is ",
                             x2.shape(), ", expected (rows, classes, ...) and (rows, ...)"};
    }
    CheckDtype(IsInt(x2.dtype()), kOp, "x2", x2.dtype(), "integers");
    const Dtype dtype = FloatResult(x1.dtype());
    CheckDtype(!IsComplex(dtype), kOp, "x1", dtype, "a real one");
    if (!(label_smoothing >= 0 && label_smoothing <= 1)) {
        throw ValueError{kOp, ": label_smoothing is ", label_smoothing, ", expected 0 to 1"};
    }
    const LossOptions options{ignore_label, label_smoothing};
    CheckSameDevice(kOp, x1.device(), x2.device());
    // The cast is part of the graph: the derivatives below are those of a float array.
    const Array x = AsType(x1, dtype, false);
    // Backward saves the caller's labels, not a copy.
    const auto labels = [given = KeptOperand{kOp, "x2", x2}] {
        return AsContiguous(AsVector(given()));
    };
    const Dtype wide = dtype == Dtype::kFloat64 ? dtype : Dtype::kFloat32;
    const int64_t rows = x2.GetTotalSize();
    Array y = EmptyUnchecked(x2.shape(), dtype, x1.device());
    const Array stats = EmptyUnchecked(Shape{rows, 2}, wide, x1.device());
    const Array t = labels();
    CallOn<kernels::SoftmaxCrossEntropy>(x1.device(), ToRows(internal::Detached(x)), t,
                                         ignore_label, label_smoothing, AsVector(y), stats);
    if (mean) {
        const Array losses = std::exchange(y, EmptyUnchecked(Shape{}, dtype, x1.device()));
        const Array scale = EmptyUnchecked(Shape{}, wide, x1.device());
        CallOn<kernels::MeanOfLabelled>(x1.device(), losses, t, ignore_label, y, scale);
        if (Record rec{kSoftmaxCrossEntropy, {x}, y}) {
            rec.Grad(0, [x = rec.Save(x), labels, options, stats, scale](const Array& gy) {
                const Array scores = x();
                const Array gys = BroadcastTo(gy, Shape{stats.shape()[0]});
                return FromRows(
                    SoftmaxCrossEntropyGrad(ToRows(scores), labels(), options, stats, gys, scale),
                    scores.shape());
            });
        }
        return y;
    }
    if (Record rec{kSoftmaxCrossEntropy, {x}, y}) {
        rec.Grad(0, [x = rec.Save(x), labels, options, stats](const Array& gy) {
            const Array scores = x();
            const Array none = EmptyUnchecked(Shape{0}, stats.dtype(), stats.device());
            return FromRows(SoftmaxCrossEntropyGrad(ToRows(scores), labels(), options, stats,
                                                    AsVector(gy), none),
                            scores.shape());
        });
    }
    return y;
}

}  // namespace chainerx
