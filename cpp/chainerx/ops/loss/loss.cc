#include "chainerx/ops/loss/loss.h"

#include "chainerx/kernels/norm/softmax.h"
#include "chainerx/ops/elementwise/composed.h"
#include "chainerx/ops/elementwise/tables/activation.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/reduce/reduce_output.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

constexpr OpInfo kHuberLoss{"huber_loss", nullptr, Batching::kElementwise};
constexpr OpInfo kSigmoidCrossEntropy{"sigmoid_cross_entropy", nullptr, Batching::kElementwise};
constexpr OpInfo kHinge{"hinge"};

void CheckLabels(const char* op, const char* name, const Array& t) {
    CheckDtype(IsInt(t.dtype()), op, name, t.dtype(), "integers");
}

void CheckReal(const char* op, const char* name, const Array& x) {
    CheckDtype(!IsComplex(x.dtype()), op, name, x.dtype(), "a real one");
}

void CheckNumber(const char* op, const char* name, const Array& x) {
    CheckReal(op, name, x);
    if (IsBool(x.dtype())) throw DtypeError{op, ": ", name, " has dtype bool, expected numbers"};
}

// Integers are converted to the default float: differences of unsigned ones would wrap around.
Array ToFloat(const Array& x) { return AsType(x, FloatResult(x.dtype()), false); }

}  // namespace

Array GaussianKlDivergence(const Array& mean, const Array& ln_var) {
    CheckReal("gaussian_kl_divergence", "mean", mean);
    CheckReal("gaussian_kl_divergence", "ln_var", ln_var);
    const Dtype dtype = FloatResult(PromoteTypes(mean.dtype(), ln_var.dtype()));
    const Array m = AsType(mean, internal::WideDtype(dtype), false);
    const Array v = AsType(ln_var, internal::WideDtype(dtype), false);
    // Computes exp(v) - 1 - v as Expm1(v) - v: near 0 it is v^2 / 2, which exp(v) - 1 would lose.
    return AsType((Square(m) + (Expm1(v) - v)) * 0.5, dtype, false);
}

Array HuberLoss(const Array& x1, const Array& x2, double delta) {
    CheckNumber(kHuberLoss.name, "x1", x1);
    CheckNumber(kHuberLoss.name, "x2", x2);
    const Array f1 = ToFloat(x1);
    const Array f2 = ToFloat(x2);
    const Array a = Absolute(internal::Detached(f1) - internal::Detached(f2));
    Array y = Where(a <= delta, Square(a) * 0.5, (a - delta / 2) * delta);
    if (Record rec{kHuberLoss, {f1, f2}, y}) {
        const auto grad = [delta](const Saved& f1, const Saved& f2, const Array& gy) {
            return gy * Clip(f1() - f2(), Scalar{-delta}, Scalar{delta});
        };
        rec.Grad(0, [grad, f1 = rec.Save(f1), f2 = rec.Save(f2)](const Array& gy) {
            return grad(f1, f2, gy);
        });
        rec.Grad(1, [grad, f1 = rec.Save(f1), f2 = rec.Save(f2)](const Array& gy) {
            return -grad(f1, f2, gy);
        });
    }
    return y;
}

Array SigmoidCrossEntropy(const Array& x1, const Array& x2) {
    constexpr const char* kOp = kSigmoidCrossEntropy.name;
    CheckReal(kOp, "x1", x1);
    CheckLabels(kOp, "x2", x2);
    if (x1.shape() != x2.shape()) {
        throw DimensionError{kOp, ": x1.shape is ", x1.shape(), ", but x2.shape is ", x2.shape()};
    }
    // Computes log(1 + exp(x1)) - x1 x2 such that no term overflows before the loss does. For a
    // correct label the large term is exactly 0, so that the small rest is not lost.
    const Array x = ToFloat(x1);
    const Array detached = internal::Detached(x);
    const KeptOperand kept{kOp, "x2", x2};
    const Array& labels = kept();
    const Array t = AsType(labels, x.dtype(), false);
    Array y =
        Where(labels == -1, Scalar{0.0},
              Softplus(-Absolute(detached)) + (Maximum(detached, Scalar{0.0}) - detached * t));
    if (Record rec{kSigmoidCrossEntropy, {x}, y}) {
        rec.Grad(0, [x = rec.Save(x), kept](const Array& gy) {
            const Array p = Sigmoid(x());
            const Array& t = kept();
            return gy * Where(t == -1, Scalar{0.0}, p - AsType(t, p.dtype(), false));
        });
    }
    return y;
}

Array Hinge(const Array& x1, const Array& x2, double norm) {
    constexpr const char* kOp = kHinge.name;
    CheckReal(kOp, "x1", x1);
    CheckLabels(kOp, "x2", x2);
    if (x1.ndim() != 2 || x2.ndim() != 1 || x1.shape()[0] != x2.shape()[0]) {
        throw DimensionError{kOp,        ": x1.shape is ",
                             x1.shape(), " and x2.shape is ",
                             x2.shape(), ", expected (rows, classes) and (rows,)"};
    }
    CheckSameDevice(kOp, x1.device(), x2.device());
    const Array x = AsType(x1, FloatResult(x1.dtype()), false);
    const KeptOperand t{kOp, "x2", x2};
    const auto slopes = [shape = x.shape(), dtype = x.dtype()](const Array& t) {
        const Array one_hot = EmptyUnchecked(shape, dtype, t.device());
        CallOn<kernels::OneHot>(t.device(), kHinge.name,
                                AsContiguous(AsType(t, Dtype::kInt64, false)), std::nullopt,
                                one_hot);
        return 1 - one_hot * 2;
    };
    const Array margin = Maximum(internal::Detached(x) * slopes(t()) + 1, Scalar{0.0});
    Array y = norm == 1 ? margin : Power(margin, norm);
    if (Record rec{kHinge, {x}, y}) {
        rec.Grad(0, [x = rec.Save(x), t, slopes, norm](const Array& gy) {
            const Array s = slopes(t());
            const Array margin = x() * s + 1;
            if (norm == 1) return gy * Where(margin > 0, s, Scalar{0.0});
            return gy * s * norm * Power(Maximum(margin, Scalar{0.0}), norm - 1);
        });
    }
    return y;
}

Array Accuracy(const Array& y, const Array& t, std::optional<int64_t> ignore_label) {
    constexpr const char* kOp = "accuracy";
    CheckDtype(IsFloat(y.dtype()), kOp, "y", y.dtype(), "a real float");
    CheckLabels(kOp, "t", t);
    // Trailing axes of length 1 don't count, on either side.
    const auto significant = [](Shape shape) {
        while (shape.ndim() > 1 && shape.back() == 1) shape.pop_back();
        return shape;
    };
    Shape expected = y.shape();
    if (y.ndim() >= 2) expected.erase(1);
    if (y.ndim() < 2 || t.ndim() < 1 || significant(expected) != significant(t.shape())) {
        throw DimensionError{kOp,       ": y.shape is ",
                             y.shape(), " and t.shape is ",
                             t.shape(), ", expected (rows, classes, ...) and (rows, ...)"};
    }
    CheckSameDevice(kOp, y.device(), t.device());
    const int64_t rows = y.shape()[0];
    const int64_t classes = y.shape()[1];
    int64_t n = 1;
    for (int8_t i = 2; i < y.ndim(); ++i) n *= y.shape()[i];
    const Array y3 = Reshape(internal::Detached(y), Shape{rows, classes, n});
    const Array labels =
        AsContiguous(AsType(Reshape(internal::Detached(t), Shape{rows, n}), Dtype::kInt64, false));
    const Array hits = EmptyUnchecked(Shape{}, Dtype::kInt64, y.device());
    const Array counted = EmptyUnchecked(Shape{}, Dtype::kInt64, y.device());
    CallOn<kernels::CountHits>(y.device(), y3, labels, ignore_label, hits, counted);
    // float16 can't represent counts above 2048.
    const Dtype wide = y.dtype() == Dtype::kFloat64 ? y.dtype() : Dtype::kFloat32;
    return AsType(AsType(hits, wide) / AsType(Maximum(counted, Scalar{1}), wide), y.dtype(), false);
}

}  // namespace chainerx
