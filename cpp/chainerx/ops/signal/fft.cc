#include "chainerx/ops/signal/fft.h"

#include <cmath>

#include "chainerx/kernels/signal/fft.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/shape/padding.h"

namespace chainerx {
namespace {

constexpr OpInfo kComplex{"fft", &kernels::FourierTransform::kInfo};
constexpr OpInfo kFromReal{"rfft", &kernels::FourierFromReal::kInfo};
constexpr OpInfo kToReal{"irfft", &kernels::FourierToReal::kInfo};

// The parameters of the three kernels. `inside` scales the numbers that stand for a conjugate pair;
// the transposed transform needs another value. All three are transposes of each other.
struct Transform {
    int8_t axis;
    bool inverse;
    double scale;
    double inside{1};
};

Array Run(const Array& x, const Transform& t) {
    Array y = EmptyUnchecked(x.shape(), x.dtype(), x.device());
    CallOn<kernels::FourierTransform>(y.device(), internal::Detached(x), t.axis, t.inverse, t.scale,
                                      y);
    if (Record rec{kComplex, {x}, y}) {
        rec.Grad(0, [t](const Array& gy) { return Run(gy, t); });
    }
    return y;
}

Array RunToReal(const Array& x, Transform t, int64_t n);

Array RunFromReal(const Array& x, Transform t) {
    const int64_t n = x.shape()[t.axis];
    Shape shape = x.shape();
    shape[t.axis] = n / 2 + 1;
    const Dtype dtype = x.dtype() == Dtype::kFloat64 ? Dtype::kComplex128 : Dtype::kComplex64;
    CheckedNBytes("rfft", shape, GetItemSize(dtype));
    Array y = EmptyUnchecked(shape, dtype, x.device());
    CallOn<kernels::FourierFromReal>(y.device(), internal::Detached(x), t.axis, t.inverse, t.scale,
                                     t.inside, y);
    if (Record rec{kFromReal, {x}, y}) {
        t.inside /= 2;
        rec.Grad(0, [t, n](const Array& gy) { return RunToReal(gy, t, n); });
    }
    return y;
}

Array RunToReal(const Array& x, Transform t, int64_t n) {
    Shape shape = x.shape();
    shape[t.axis] = n;
    const Dtype dtype = RealDtype(x.dtype());
    CheckedNBytes("irfft", shape, GetItemSize(dtype));
    Array y = EmptyUnchecked(shape, dtype, x.device());
    CallOn<kernels::FourierToReal>(y.device(), internal::Detached(x), t.axis, t.inverse, t.scale,
                                   t.inside, y);
    if (Record rec{kToReal, {x}, y}) {
        t.inside *= 2;
        rec.Grad(0, [t](const Array& gy) { return RunFromReal(gy, t); });
    }
    return y;
}

[[noreturn]] CX_COLD void ThrowEmpty(const char* op, int64_t n, int64_t axis, const Shape& shape) {
    throw DimensionError{op,   ": ",         n,     " numbers along axis ",
                         axis, " of shape ", shape, ", expected at least 1"};
}

// Returns the first n elements along the axis, zero-padded if it is shorter.
Array CutOrPad(const Array& x, int8_t axis, int64_t n) {
    const int64_t length = x.shape()[axis];
    if (n == length) return x;
    if (n < length) {
        std::vector<ArrayIndex> index(static_cast<size_t>(axis), ArrayIndex{Slice{}});
        index.emplace_back(Slice{0, n, 1});
        return At(x, index);
    }
    std::vector<std::pair<int64_t, int64_t>> widths(static_cast<size_t>(x.ndim()));
    widths[static_cast<size_t>(axis)].second = n - length;
    return Pad(x, widths);
}

int8_t AxisOf(const char* op, const Array& x, int64_t axis) {
    if (x.ndim() == 0) throw DimensionError{op, ": a has no axes, expected at least 1"};
    return NormalizeAxis(op, axis, x.ndim());
}

Array ToComplex(const Array& x) {
    if (IsComplex(x.dtype())) return x;
    return AsType(x, x.dtype() == Dtype::kFloat64 ? Dtype::kComplex128 : Dtype::kComplex64);
}

Array ToReal(const char* op, const Array& x) {
    CheckDtype(!IsComplex(x.dtype()), op, "a", x.dtype(), "a real one");
    if (x.dtype() == Dtype::kFloat64) return x;
    return AsType(x, Dtype::kFloat32, false);
}

// Returns the scale of a transform of n numbers: 1 / n in the direction that `norm` selects.
double Scale(FftNorm norm, bool inverse, int64_t n) {
    const auto length = static_cast<double>(n);
    if (norm == FftNorm::kOrtho) return 1 / std::sqrt(length);
    return (norm == FftNorm::kBackward) == inverse ? 1 / length : 1;
}

// Returns the transformed length of x, or of the result.
int64_t LengthOf(const char* op, const Array& x, int8_t axis, const std::optional<int64_t>& n,
                 int64_t fallback) {
    const int64_t length = n.value_or(fallback);
    if (length < 1) ThrowEmpty(op, length, axis, x.shape());
    return length;
}

Array Complex(const char* op, const Array& x, const FftAxis& a, bool inverse) {
    const int8_t axis = AxisOf(op, x, a.axis);
    const int64_t n = LengthOf(op, x, axis, a.n, x.shape()[axis]);
    const Array fitted = CutOrPad(x, axis, n);
    return Run(ToComplex(fitted), {axis, inverse, Scale(a.norm, inverse, n)});
}

Array FromReal(const char* op, const Array& x, const FftAxis& a, bool inverse) {
    const Array real = ToReal(op, x);
    const int8_t axis = AxisOf(op, x, a.axis);
    const int64_t n = LengthOf(op, x, axis, a.n, x.shape()[axis]);
    return RunFromReal(CutOrPad(real, axis, n), {axis, inverse, Scale(a.norm, inverse, n)});
}

Array FromHalf(const char* op, const Array& x, const FftAxis& a, bool inverse) {
    const int8_t axis = AxisOf(op, x, a.axis);
    const int64_t n = LengthOf(op, x, axis, a.n, 2 * (x.shape()[axis] - 1));
    return RunToReal(CutOrPad(ToComplex(x), axis, n / 2 + 1),
                     {axis, inverse, Scale(a.norm, inverse, n)}, n);
}

// Returns one FftAxis each, with the lengths of x, which a repeated axis keeps.
std::vector<FftAxis> EachAxis(const char* op, const Array& x, const FftAxes& a) {
    std::vector<FftAxis> out;
    const auto add = [&](int8_t axis) { out.push_back({x.shape()[axis], axis, a.norm}); };
    if (a.axes) {
        if (a.shape && a.shape->size() != a.axes->size()) {
            throw DimensionError{op, ": s has ", a.shape->size(), " lengths, but axes has ",
                                 a.axes->size()};
        }
        for (int64_t axis : *a.axes) add(AxisOf(op, x, axis));
    } else {
        const int64_t count = a.shape ? static_cast<int64_t>(a.shape->size()) : x.ndim();
        if (count > x.ndim()) {
            throw DimensionError{op, ": s has ", count, " lengths, but a has shape ", x.shape()};
        }
        for (int64_t i = x.ndim() - count; i < x.ndim(); ++i) add(static_cast<int8_t>(i));
    }
    for (size_t i = 0; a.shape && i < out.size(); ++i) {
        if ((*a.shape)[i] != -1) out[i].n = (*a.shape)[i];
    }
    return out;
}

// Transforms `axes` from the last, or the last but one, to the first.
Array ComplexN(const char* op, const Array& x, const std::vector<FftAxis>& axes, size_t count,
               bool inverse) {
    Array y = x;
    while (count > 0) y = Complex(op, y, axes[--count], inverse);
    return y;
}

Array WholeN(const char* op, const Array& x, const FftAxes& a, bool inverse) {
    const std::vector<FftAxis> axes = EachAxis(op, x, a);
    return axes.empty() ? ToComplex(x) : ComplexN(op, x, axes, axes.size(), inverse);
}

[[noreturn]] CX_COLD void ThrowNoAxes(const char* op) {
    throw DimensionError{op, ": 0 axes, expected at least 1"};
}

Array ShiftBy(const char* op, const Array& x, const OptionalAxes& axes, bool back) {
    const Axes all = NormalizeAxes(op, axes, x.ndim());
    std::vector<int64_t> shifts;
    for (int8_t axis : all) {
        const int64_t half = x.shape()[axis] / 2;
        shifts.push_back(back ? -half : half);
    }
    return Roll(x, shifts, all);
}

void CheckFreq(const char* op, int64_t n, Dtype dtype) {
    if (n < 1) throw DimensionError{op, ": n is ", n, ", expected at least 1"};
    if (!IsFloat(dtype)) throw DtypeError{op, ": dtype is ", dtype, ", expected a real float"};
}

}  // namespace

Array Fft(const Array& x, const FftAxis& a) { return Complex("fft", x, a, false); }
Array Ifft(const Array& x, const FftAxis& a) { return Complex("ifft", x, a, true); }
Array Rfft(const Array& x, const FftAxis& a) { return FromReal("rfft", x, a, false); }
Array Irfft(const Array& x, const FftAxis& a) { return FromHalf("irfft", x, a, true); }

// The exponent has the sign of the other direction, but the norm has not.
Array Hfft(const Array& x, const FftAxis& a) { return FromHalf("hfft", x, a, false); }
Array Ihfft(const Array& x, const FftAxis& a) { return FromReal("ihfft", x, a, true); }

Array FftN(const Array& x, const FftAxes& a, const char* op) { return WholeN(op, x, a, false); }
Array IfftN(const Array& x, const FftAxes& a, const char* op) { return WholeN(op, x, a, true); }

Array RfftN(const Array& x, const FftAxes& a, const char* op) {
    const std::vector<FftAxis> axes = EachAxis(op, x, a);
    if (axes.empty()) ThrowNoAxes(op);
    return ComplexN(op, FromReal(op, x, axes.back(), false), axes, axes.size() - 1, false);
}

Array IrfftN(const Array& x, const FftAxes& a, const char* op) {
    std::vector<FftAxis> axes = EachAxis(op, x, a);
    if (axes.empty()) ThrowNoAxes(op);
    if (!a.shape) axes.back().n.reset();  // x has half of the result's length
    return FromHalf(op, ComplexN(op, x, axes, axes.size() - 1, true), axes.back(), true);
}

Array FftFreq(int64_t n, double d, Dtype dtype, Device& device) {
    CheckFreq("fftfreq", n, dtype);
    const int64_t half = n / 2;
    const Array k = Arange(Scalar{-half}, Scalar{n - half}, Scalar{1}, Dtype::kInt64, device);
    const Array shifted = AsType(Roll(k, {-half}, Axes{0}), Dtype::kFloat64);
    return AsType(Divide(shifted, static_cast<double>(n) * d), dtype, false);
}

Array RfftFreq(int64_t n, double d, Dtype dtype, Device& device) {
    CheckFreq("rfftfreq", n, dtype);
    const Array k = Arange(Scalar{n / 2 + 1}, Dtype::kFloat64, device);
    return AsType(Divide(k, static_cast<double>(n) * d), dtype, false);
}

Array FftShift(const Array& x, const OptionalAxes& axes) {
    return ShiftBy("fftshift", x, axes, false);
}
Array IfftShift(const Array& x, const OptionalAxes& axes) {
    return ShiftBy("ifftshift", x, axes, true);
}

}  // namespace chainerx
