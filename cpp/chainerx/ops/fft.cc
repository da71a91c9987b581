#include "chainerx/ops/fft.h"

#include "chainerx/autograd/record.h"
#include "chainerx/core/error.h"
#include "chainerx/kernels/fft.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/creation.h"

namespace chainerx {
namespace {

constexpr OpInfo kFft{"fft", &kernels::FourierTransform::kInfo};
constexpr OpInfo kIfft{"ifft", &kernels::FourierTransform::kInfo};

void Check(const char* op, const Array& real, const Array& imag) {
    CheckSameDevice(op, real.device(), imag.device());
    if (!IsFloat(real.dtype()) || real.dtype() != imag.dtype()) {
        throw DtypeError{op,           ": real has dtype ", real.dtype(),
                         " and imag ", imag.dtype(),        ", expected one real float dtype"};
    }
    if (real.shape() != imag.shape()) {
        throw DimensionError{op, ": real has shape ", real.shape(), ", but imag ", imag.shape()};
    }
    if (real.ndim() == 0) throw DimensionError{op, ": real has no axes, expected at least 1"};
    if (real.shape().back() == 0) {
        throw DimensionError{op, ": the last axis of real, shape ", real.shape(), ", is empty"};
    }
}

// Without the division of the inverse. The transpose of the matrix of a transform is itself, so
// that what goes back takes the opposite sign, for which imaginary parts count negatively.
std::pair<Array, Array> Transform(const Array& real, const Array& imag, bool inverse) {
    const auto operand = [](const Array& x) { return AsContiguous(internal::Detached(x)); };
    const Array outputs[] = {EmptyUnchecked(real.shape(), real.dtype(), real.device()),
                             EmptyUnchecked(real.shape(), real.dtype(), real.device())};
    CallOn<kernels::FourierTransform>(real.device(), operand(real), operand(imag), inverse,
                                      outputs[0], outputs[1]);
    const ConstArrayRef inputs[] = {real, imag};
    if (Record rec{inverse ? kIfft : kFft, inputs, outputs}) {
        rec.GradAll([inverse](GradContext& context) {
            const auto [gr, gi] =
                Transform(context.output_grad(0), context.output_grad(1), !inverse);
            if (context.IsInputGradRequired(0)) context.SetInputGrad(0, gr);
            if (context.IsInputGradRequired(1)) context.SetInputGrad(1, gi);
        });
    }
    return {outputs[0], outputs[1]};
}

std::pair<Array, Array> Run(const char* op, const Array& real, const Array& imag, bool inverse) {
    Check(op, real, imag);
    if (real.GetItemSize() == 2) {
        const auto [y, z] =
            Run(op, AsType(real, Dtype::kFloat32), AsType(imag, Dtype::kFloat32), inverse);
        return {AsType(y, real.dtype()), AsType(z, real.dtype())};
    }
    auto result = Transform(real, imag, inverse);
    if (!inverse) return result;
    const double n = static_cast<double>(real.shape().back());
    return {Divide(result.first, n), Divide(result.second, n)};
}

}  // namespace

std::pair<Array, Array> Fft(const Array& real, const Array& imag) {
    return Run("fft", real, imag, false);
}

std::pair<Array, Array> Ifft(const Array& real, const Array& imag) {
    return Run("ifft", real, imag, true);
}

}  // namespace chainerx
