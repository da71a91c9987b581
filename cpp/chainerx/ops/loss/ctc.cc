#include "chainerx/ops/loss/ctc.h"

#include "chainerx/kernels/loss/ctc.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

constexpr OpInfo kCtc{"connectionist_temporal_classification", &kernels::Ctc::kInfo};
constexpr OpInfo kCtcGrad{"connectionist_temporal_classification_grad", &kernels::CtcGrad::kInfo};
constexpr OpInfo kCtcGradAlong{"connectionist_temporal_classification_grad_along",
                               &kernels::CtcGradAlong::kInfo};

constexpr const char* kOp = kCtc.name;

// The arguments besides the scores.
struct Rows {
    KeptOperand t;
    KeptOperand input_length;
    KeptOperand label_length;
    int64_t blank;
};

Array AsInt64(const KeptOperand& x) { return AsContiguous(AsType(x(), Dtype::kInt64, false)); }

// Sums per row; rows are axis 1 of (steps, rows, classes).
Array SumOfRows(const Array& x) { return Sum(x, Axes{0, 2}); }

// gy times the directional derivative of the gradient along v. Differentiable in gy and v.
Array CtcGradAlong(const Array& x, const Rows& rows, const Array& gy, const Array& v) {
    Array out = EmptyUnchecked(x.shape(), x.dtype(), x.device());
    const Array scores = AsContiguous(internal::Detached(x));
    CallOn<kernels::CtcGradAlong>(
        x.device(), scores, AsInt64(rows.t), AsInt64(rows.input_length), AsInt64(rows.label_length),
        rows.blank, AsContiguous(internal::Detached(gy)), AsContiguous(internal::Detached(v)), out);
    if (Record rec{kCtcGradAlong, {x, gy, v}, out}) {
        rec.Grad(0, [](const Array&) -> Array {
            throw GradientError{kOp, ": there is no third derivative"};
        });
        rec.Grad(1, [x = rec.Save(x), v = rec.Save(v), rows](const Array& g) {
            const Array scores = x();
            const Array ones = Ones(Shape{scores.shape()[1]}, scores.dtype(), scores.device());
            return SumOfRows(Multiply(g, CtcGradAlong(scores, rows, ones, v())));
        });
        rec.Grad(2, [x = rec.Save(x), gy = rec.Save(gy), rows](const Array& g) {
            return CtcGradAlong(x(), rows, gy(), g);  // second derivatives commute
        });
    }
    return out;
}

// Differentiable in x and gy.
Array CtcGrad(const Array& x, const Rows& rows, const Array& stats, const Array& gy) {
    Array gx = EmptyUnchecked(x.shape(), x.dtype(), x.device());
    CallOn<kernels::CtcGrad>(x.device(), AsContiguous(internal::Detached(x)), AsInt64(rows.t),
                             AsInt64(rows.input_length), AsInt64(rows.label_length), rows.blank,
                             stats, AsContiguous(internal::Detached(gy)), gx);
    if (Record rec{kCtcGrad, {x, gy}, gx}) {
        rec.Grad(0, [x = rec.Save(x), gy = rec.Save(gy), rows](const Array& g) {
            return CtcGradAlong(x(), rows, gy(), g);
        });
        rec.Grad(1, [x = rec.Save(x), rows, stats](const Array& g) {
            const Array scores = x();
            const Array ones = Ones(Shape{scores.shape()[1]}, scores.dtype(), scores.device());
            return SumOfRows(Multiply(g, CtcGrad(scores, rows, stats, ones)));
        });
    }
    return gx;
}

void CheckInts(const char* name, const Array& x) {
    CheckDtype(IsInt(x.dtype()), kOp, name, x.dtype(), "integers");
}

}  // namespace

Array ConnectionistTemporalClassification(const Array& x_given, const Array& t,
                                          const Array& input_length, const Array& label_length,
                                          int64_t blank) {
    if (x_given.ndim() != 3 || t.ndim() != 2 || x_given.shape()[1] != t.shape()[0]) {
        throw DimensionError{kOp,
                             ": x.shape is ",
                             x_given.shape(),
                             " and t.shape is ",
                             t.shape(),
                             ", expected (steps, rows, classes) and (rows, labels)"};
    }
    const Shape expected{t.shape()[0]};
    const auto check_lengths = [&](const char* name, const Array& lengths) {
        CheckInts(name, lengths);
        CheckSameDevice(kOp, x_given.device(), lengths.device());
        if (lengths.shape() != expected) {
            throw DimensionError{kOp,           ": ",    name, ".shape is ", lengths.shape(),
                                 ", expected ", expected};
        }
    };
    CheckInts("t", t);
    CheckSameDevice(kOp, x_given.device(), t.device());
    check_lengths("input_length", input_length);
    check_lengths("label_length", label_length);
    const Dtype dtype = FloatResult(x_given.dtype());
    CheckDtype(!IsComplex(dtype), kOp, "x", dtype, "a real one");
    const int64_t classes = x_given.shape()[2];
    if (blank < 0 || blank >= classes) {
        throw IndexError{kOp,     ": blank_symbol is ",       blank,      ", but x has ",
                         classes, " classes; expected 0 to ", classes - 1};
    }
    const Array x = AsType(x_given, dtype, false);
    const Rows rows{{kOp, "t", t},
                    {kOp, "input_length", input_length},
                    {kOp, "label_length", label_length},
                    blank};
    const Dtype wide = dtype == Dtype::kFloat64 ? dtype : Dtype::kFloat32;
    Array y = EmptyUnchecked(expected, dtype, x.device());
    const Array stats = EmptyUnchecked(Shape{x.shape()[0] * x.shape()[1], 2}, wide, x.device());
    CallOn<kernels::Ctc>(x.device(), AsContiguous(internal::Detached(x)), AsInt64(rows.t),
                         AsInt64(rows.input_length), AsInt64(rows.label_length), blank, y, stats);
    if (Record rec{kCtc, {x}, y}) {
        rec.Grad(0, [x = rec.Save(x), rows, stats](const Array& gy) {
            return CtcGrad(x(), rows, stats, gy);
        });
    }
    return y;
}

}  // namespace chainerx
