// Fourier transforms, for chainer.
#include "chainerx/ops/fft.h"

#include "chainerx/python/convert.h"
#include "chainerx/python/ndarray.h"
#include "chainerx/python/ref.h"

namespace chainerx::python {
namespace {

PyObject* WrapParts(const std::pair<Array, Array>& parts) {
    const Ref real = Check(Wrap(parts.first));
    const Ref imag = Check(Wrap(parts.second));
    return Check(PyTuple_Pack(2, real.get(), imag.get())).Release();
}

CX_ROUTINE(_fft, "real: ndarray, imag: ndarray) -> tuple[ndarray, ndarray]",
           "The discrete Fourier transform along the last axis, for chainer.") {
    return WrapParts(Fft(ToArray("fft", "real", a[0]), ToArray("fft", "imag", a[1])));
}

CX_ROUTINE(_ifft, "real: ndarray, imag: ndarray) -> tuple[ndarray, ndarray]",
           "The inverse of the discrete Fourier transform along the last axis, for chainer.") {
    return WrapParts(Ifft(ToArray("ifft", "real", a[0]), ToArray("ifft", "imag", a[1])));
}

}  // namespace
}  // namespace chainerx::python
