#include "chainerx/ops/linalg/linalg.h"

#include <string>

#include "chainerx/kernels/elementwise/activation.h"
#include "chainerx/kernels/elementwise/arithmetic.h"
#include "chainerx/kernels/linalg/linalg.h"
#include "chainerx/ops/linalg/linear_grad.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

using internal::SwapLast;

Array AddPart(const Array& sum, const Array& part) { return sum.is_null() ? part : sum + part; }

// The product rule.
Array MatmulForward(const ForwardInputs& f) {
    Array t;
    if (!f.tangents[0].is_null()) t = Matmul(f.tangents[0], f.x[1]);
    if (!f.tangents[1].is_null()) t = AddPart(t, Matmul(f.x[0], f.tangents[1]));
    return t;
}

Array LinearForward(const ForwardInputs& f) {
    const int64_t n_batch_axes = f.y.ndim() - 1;
    Array t;
    if (!f.tangents[0].is_null()) t = Linear(f.tangents[0], f.x[1], std::nullopt, n_batch_axes);
    if (!f.tangents[1].is_null()) {
        t = AddPart(t, Linear(f.x[0], f.tangents[1], std::nullopt, n_batch_axes));
    }
    if (f.x.size() > 2 && !f.tangents[2].is_null()) {
        t = AddPart(t, BroadcastTo(f.tangents[2], f.y.shape()));
    }
    return t;
}

constexpr OpInfo kMatmul{"matmul", &kernels::Matmul::kInfo, Batching::kUnknown, &MatmulForward, 2};
constexpr OpInfo kDot{"dot", &kernels::Matmul::kInfo, Batching::kUnknown, &MatmulForward, 2};
constexpr OpInfo kLinear{"linear", &kernels::Linear::kInfo, Batching::kUnknown, &LinearForward};

Array InsertAxis(const Array& x, int8_t axis) {
    Shape shape = x.shape();
    shape.insert(axis, 1);
    return Reshape(x, shape);
}

Array RemoveAxis(const Array& x, int8_t axis) {
    Shape shape = x.shape();
    shape.erase(axis);
    return Reshape(x, shape);
}

// Merges all axes but the last.
Array Rows(const Array& x) {
    if (x.ndim() == 2) return x;
    const int64_t cols = x.shape().back();
    int64_t rows = 1;
    for (int8_t i = 0; i < x.ndim() - 1; ++i) rows *= x.shape()[i];
    return Reshape(x, Shape{rows, cols});
}

// Converts an operand for a kernel: outside the graph, to the dtype of the result.
Array ToOperand(const Array& x, Dtype dtype) { return AsType(internal::Detached(x), dtype, false); }

[[noreturn]] CX_COLD void ThrowInner(const char* op, const Array& x1, const Array& x2, int8_t axis1,
                                     int8_t axis2) {
    const bool dot = op[0] == 'd';  // dot calls its arguments a and b
    const std::string shape1 = StrCat(dot ? "a" : "x1", ".shape");
    const std::string shape2 = StrCat(dot ? "b" : "x2", ".shape");
    throw DimensionError{op,
                         ": ",
                         shape1,
                         "[",
                         static_cast<int>(axis1),
                         "] is ",
                         x1.shape()[axis1],
                         ", but ",
                         shape2,
                         "[",
                         static_cast<int>(axis2),
                         "] is ",
                         x2.shape()[axis2],
                         " (shapes ",
                         x1.shape(),
                         " and ",
                         x2.shape(),
                         ")"};
}

// Multiplies arrays of at least one axis, outside the graph. A vector is a row on the left, a
// column on the right, and the result lacks the axis that the vector lacks.
Array ComputeMatmul(const char* op, const Array& x1, const Array& x2) {
    CheckSameDevice(op, x1.device(), x2.device());
    const int8_t axis1 = x1.ndim() - 1;
    const int8_t axis2 = x2.ndim() == 1 ? 0 : x2.ndim() - 2;
    if (x1.shape()[axis1] != x2.shape()[axis2]) ThrowInner(op, x1, x2, axis1, axis2);
    const bool same = x1.dtype() == x2.dtype();
    const Dtype dtype = same ? x1.dtype() : PromoteTypes(x1.dtype(), x2.dtype());
    if (same && x1.ndim() == 2 && x2.ndim() == 2) {
        const Shape shape{x1.shape()[0], x2.shape()[1]};
        CheckedNBytes(op, shape, GetItemSize(dtype));
        Array y = EmptyUnchecked(shape, dtype, x1.device());
        CallOn<kernels::Matmul>(y.device(), x1, x2, y);
        return y;
    }
    Array b1 = ToOperand(x1, dtype);
    Array b2 = ToOperand(x2, dtype);
    if (x1.ndim() == 1) b1 = InsertAxis(b1, 0);
    if (x2.ndim() == 1) b2 = InsertAxis(b2, 1);
    const auto batch_of = [](const Array& x) {
        return Shape(x.shape().begin(), x.shape().end() - 2);
    };
    const Shape batch = BroadcastShapes(op, batch_of(b1), batch_of(b2));
    const auto with_matrix = [&batch](int64_t rows, int64_t cols) {
        Shape shape = batch;
        shape.push_back(rows);
        shape.push_back(cols);
        return shape;
    };
    const int64_t m = b1.shape()[b1.ndim() - 2];
    const int64_t k = b1.shape().back();
    const int64_t n = b2.shape().back();
    const Shape full = with_matrix(m, n);
    CheckedNBytes(op, full, GetItemSize(dtype));
    Array y = EmptyUnchecked(full, dtype, x1.device());
    CallOn<kernels::Matmul>(y.device(), BroadcastTo(b1, with_matrix(m, k)),
                            BroadcastTo(b2, with_matrix(k, n)), y);
    if (x2.ndim() == 1) y = RemoveAxis(y, y.ndim() - 1);
    if (x1.ndim() == 1) y = RemoveAxis(y, y.ndim() - (x2.ndim() == 1 ? 1 : 2));
    return y;
}

// Gradients of a product with vectors: adds the missing axes, and removes them from the result.
Array MatmulGrad1(const Array& gy, const Array& x2, int8_t ndim1) {
    Array g = gy;
    Array b2 = x2;
    if (x2.ndim() == 1) {
        b2 = InsertAxis(x2, 1);
        g = InsertAxis(g, g.ndim());
    }
    if (ndim1 == 1) g = InsertAxis(g, g.ndim() - 1);
    const Array gx = Matmul(g, SwapLast(b2));
    return ndim1 == 1 ? RemoveAxis(gx, gx.ndim() - 2) : gx;
}

Array MatmulGrad2(const Array& gy, const Array& x1, int8_t ndim2) {
    Array g = ndim2 == 1 ? InsertAxis(gy, gy.ndim()) : gy;
    Array b1 = x1;
    if (x1.ndim() == 1) {
        b1 = InsertAxis(x1, 0);
        g = InsertAxis(g, g.ndim() - 1);
    }
    // The whole batch shares x2: its gradient is one product instead of a sum of many.
    const bool shared = ndim2 <= 2 && x1.ndim() >= 2;
    const Array gx = shared ? Matmul(SwapLast(Rows(b1)), Rows(g)) : Matmul(SwapLast(b1), g);
    return ndim2 == 1 ? RemoveAxis(gx, gx.ndim() - 1) : gx;
}

Array RecordedMatmul(const OpInfo& op, const Array& x1, const Array& x2) {
    Array y = ComputeMatmul(op.name, x1, x2);
    if (Record rec{op, {x1, x2}, y}) {
        if (x1.ndim() == 2 && x2.ndim() == 2) {
            rec.Grad(0,
                     [x2 = rec.Save(x2)](const Array& gy) { return Matmul(gy, Transpose(x2())); });
            rec.Grad(1,
                     [x1 = rec.Save(x1)](const Array& gy) { return Matmul(Transpose(x1()), gy); });
        } else {
            rec.Grad(0, [x2 = rec.Save(x2), ndim1 = x1.ndim()](const Array& gy) {
                return MatmulGrad1(gy, x2(), ndim1);
            });
            rec.Grad(1, [x1 = rec.Save(x1), ndim2 = x2.ndim()](const Array& gy) {
                return MatmulGrad2(gy, x1(), ndim2);
            });
        }
    }
    return y;
}

[[noreturn]] CX_COLD void ThrowLinear(const Array& x, const Array& w, int64_t ins,
                                      int64_t n_batch_axes) {
    throw DimensionError{
        "linear: x of shape ",          x.shape(), " has ", ins, " features after ", n_batch_axes,
        " batch axes, but w.shape is ", w.shape()};
}

// Returns the shape of the result. Sets the number of rows and of features of x.
Shape LinearShape(const Array& x, const Array& w, const std::optional<Array>& b,
                  int64_t n_batch_axes, int64_t* rows, int64_t* ins) {
    if (w.ndim() != 2) {
        throw DimensionError{"linear: w.ndim is ", static_cast<int>(w.ndim()), ", expected 2"};
    }
    if (n_batch_axes < 0 || n_batch_axes > x.ndim()) {
        throw DimensionError{"linear: n_batch_axes is ", n_batch_axes, ", but x.ndim is ",
                             static_cast<int>(x.ndim())};
    }
    Shape shape;
    *rows = 1;
    *ins = 1;
    for (int64_t i = 0; i < x.ndim(); ++i) {
        if (i < n_batch_axes) {
            shape.push_back(x.shape()[i]);
            *rows *= x.shape()[i];
        } else {
            *ins *= x.shape()[i];
        }
    }
    if (*ins != w.shape()[1]) ThrowLinear(x, w, *ins, n_batch_axes);
    const int64_t outs = w.shape()[0];
    if (b.has_value() && (b->ndim() != 1 || b->shape()[0] != outs)) {
        throw DimensionError{"linear: b.shape is ", b->shape(),     ", expected ",
                             Shape{outs},           " by w.shape ", w.shape()};
    }
    shape.push_back(outs);
    return shape;
}

}  // namespace

Array internal::SwapLast(const Array& x) {
    Axes axes;
    for (int8_t i = 0; i < x.ndim() - 2; ++i) axes.push_back(i);
    axes.push_back(static_cast<int8_t>(x.ndim() - 1));
    axes.push_back(static_cast<int8_t>(x.ndim() - 2));
    return Transpose(x, axes);
}

Array Matmul(const Array& x1, const Array& x2) {
    if (x1.ndim() == 0 || x2.ndim() == 0) {
        throw DimensionError{"matmul: ", x1.ndim() == 0 ? "x1" : "x2",
                             " is 0-dimensional, expected at least 1 dimension; use multiply"};
    }
    return RecordedMatmul(kMatmul, x1, x2);
}

Array Dot(const Array& a, const Array& b) {
    if (a.ndim() == 0 || b.ndim() == 0) return Multiply(a, b);
    if (b.ndim() <= 2) return RecordedMatmul(kDot, a, b);
    // For many matrices b, their columns side by side form one matrix.
    const int8_t axis = b.ndim() - 2;
    if (a.shape().back() != b.shape()[axis]) ThrowInner("dot", a, b, a.ndim() - 1, axis);
    Axes axes{axis};
    Shape shape(a.shape().begin(), a.shape().end() - 1);
    int64_t cols = 1;
    for (int8_t i = 0; i < b.ndim(); ++i) {
        if (i == axis) continue;
        axes.push_back(i);
        shape.push_back(b.shape()[i]);
        cols *= b.shape()[i];
    }
    const Array b2 = Reshape(Transpose(b, axes), Shape{b.shape()[axis], cols});
    return Reshape(RecordedMatmul(kDot, a, b2), shape);
}

Array internal::ComputeLinear(const Array& x, const Array& w, const std::optional<Array>& b,
                              int64_t n_batch_axes, bool rectified) {
    int64_t rows;
    int64_t ins;
    const Shape shape = LinearShape(x, w, b, n_batch_axes, &rows, &ins);
    CheckSameDevice("linear", x.device(), w.device());
    Dtype dtype = PromoteTypes(x.dtype(), w.dtype());
    if (b.has_value()) {
        CheckSameDevice("linear", x.device(), b->device());
        dtype = PromoteTypes(dtype, b->dtype());
    }
    CheckedNBytes("linear", shape, GetItemSize(dtype));
    const bool flat = x.ndim() == 2 && n_batch_axes == 1;
    const auto prepare = [dtype](const Array& a) {
        return a.dtype() == dtype ? a : ToOperand(a, dtype);
    };
    const Array x2 = flat ? prepare(x) : Reshape(ToOperand(x, dtype), Shape{rows, ins});
    const Array wc = prepare(w);
    Array y = EmptyUnchecked(shape, dtype, x.device());
    const int64_t outs = w.shape()[0];
    const Array y2 =
        flat ? y
             : internal::MakeView(y, Shape{rows, outs},
                                  Strides(Shape{rows, outs}, GetItemSize(dtype)), y.raw_data());
    if (rectified && b.has_value() && HasKernel<kernels::RectifiedLinear>(x.device())) {
        CallOn<kernels::RectifiedLinear>(x.device(), x2, wc, prepare(*b), y2);
        return y;
    }
    if (b.has_value() && HasKernel<kernels::Linear>(x.device())) {
        CallOn<kernels::Linear>(x.device(), x2, wc, prepare(*b), y2);
    } else {
        CallOn<kernels::Matmul>(x.device(), x2, Transpose(internal::Detached(wc)), y2);
        if (b.has_value()) {
            const Array bias = BroadcastTo(ToOperand(*b, dtype), y2.shape());
            CallOn<kernels::Add>(x.device(), Operand{y2}, Operand{bias}, y2);
        }
    }
    if (rectified) CallOn<kernels::Rectify>(x.device(), y2, y2);
    return y;
}

Array Linear(const Array& x, const Array& w, const std::optional<Array>& b, int64_t n_batch_axes) {
    Array y = internal::ComputeLinear(x, w, b, n_batch_axes, false);
    const auto record = [&](Record&& rec) {
        if (!rec) return;
        const bool flat = x.ndim() == 2 && n_batch_axes == 1;
        rec.Grad(0, [w = rec.Save(w), flat, shape = x.shape()](const Array& gy) {
            return flat ? Matmul(gy, w()) : Reshape(Matmul(Rows(gy), w()), shape);
        });
        const bool of_w = rec.IsInputGradRequired(1);
        if (!of_w && !(b.has_value() && rec.IsInputGradRequired(2))) return;
        rec.GradAll([x = of_w ? rec.Save(x) : Saved{}, flat,
                     ins = w.shape()[1]](GradContext& context) {
            const Array g = Rows(context.output_grad());
            internal::SetParamGrads(
                context, g, [&] { return flat ? x() : Reshape(x(), Shape{g.shape()[0], ins}); });
        });
    };
    if (b.has_value()) {
        record(Record{kLinear, {x, w, *b}, y});
    } else {
        record(Record{kLinear, {x, w}, y});
    }
    return y;
}

}  // namespace chainerx
