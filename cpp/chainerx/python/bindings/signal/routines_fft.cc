// chainerx.fft, and complex numbers.
#include "chainerx/ops/signal/fft.h"

#include <string_view>

#include "chainerx/core/error.h"
#include "chainerx/ops/elementwise/complex_parts.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/elementwise.h"
#include "chainerx/python/ndarray/ndarray.h"
#include "chainerx/python/ref.h"

namespace chainerx::python {
namespace {

FftNorm ToNorm(const char* op, PyObject* o) {
    if (!Given(o)) return FftNorm::kBackward;
    const std::string_view name = ToString(op, "norm", o);
    if (name == "backward") return FftNorm::kBackward;
    if (name == "ortho") return FftNorm::kOrtho;
    if (name == "forward") return FftNorm::kForward;
    throw ValueError{op, ": norm is '", name, "', expected backward, ortho or forward"};
}

FftAxis ToFftAxis(const char* op, PyObject* n, PyObject* axis, PyObject* norm) {
    FftAxis out;
    if (Given(n)) out.n = ToIntNotBool(op, "n", n);
    if (axis != nullptr) out.axis = ToAxis(op, "axis", axis);
    out.norm = ToNorm(op, norm);
    return out;
}

std::optional<std::vector<int64_t>> ToList(const char* op, const char* name, PyObject* o) {
    if (!Given(o)) return std::nullopt;
    if (auto ints = TryInts(op, name, o)) return ints;
    return std::vector<int64_t>{ToIntNotBool(op, name, o)};
}

FftAxes ToFftAxes(const char* op, PyObject* s, PyObject* axes, PyObject* norm, bool two) {
    FftAxes out;
    out.shape = ToList(op, "s", s);
    if (axes == nullptr && two) {
        out.axes = {-2, -1};
    } else {
        out.axes = ToList(op, "axes", axes);
    }
    out.norm = ToNorm(op, norm);
    return out;
}

#define CX_DOC(what, operand, length, result, raises)                                        \
    what "\n\nArgs:\n    a (ndarray): At least one axis" operand "\n    n (int): " length    \
         "\n    axis (int): Along which.\n"                                                  \
         "    norm (str): Which direction is divided by n: ``'backward'``, the default, or " \
         "``'forward'``; ``'ortho'`` divides both by its square root.\n" CX_RESULT_OUT_ARG   \
         "Returns:\n    ndarray: " result                                                    \
         " Differentiable, any order.\n"                                                     \
         "Raises:\n    DimensionError: If there is no number along the axis.\n"              \
         "    ValueError: If ``norm`` is none of the three.\n" raises                        \
         "Note:\n    The gradient of a complex number a + bi is dL/da - i dL/db."
#define CX_ALL_NUMBERS \
    "How many numbers are transformed: the first ones, or zeros behind; all by default."
#define CX_HALF "How many numbers the result has, 2 (length - 1) by default."
#define CX_ANY ", any dtype."
#define CX_REAL ", any real dtype."
#define CX_HERMITIAN ": the first n / 2 + 1 of n numbers, the others being their conjugates."
#define CX_COMPLEX "complex128 for 64-bit operands, else complex64."
#define CX_NO_COMPLEX "    DtypeError: If ``a`` is complex.\n"

#define CX_ALONG(name, Function, ...)                                                              \
    CX_FFT(name,                                                                                   \
           "a: ndarray, n: int | None = None, axis: int = -1, norm: str | None = "                 \
           "None, " CX_RESULT_OUT ") -> ndarray",                                                  \
           CX_DOC(__VA_ARGS__)) {                                                                  \
        return Finish(                                                                             \
            #name, Function(ToArray(#name, "a", a[0]), ToFftAxis(#name, a[1], a[2], a[3])), a[4]); \
    }

CX_ALONG(fft, Fft, "The discrete Fourier transform.", CX_ANY, CX_ALL_NUMBERS, CX_COMPLEX, "")
CX_ALONG(ifft, Ifft, "The inverse of fft.", CX_ANY, CX_ALL_NUMBERS, CX_COMPLEX, "")
CX_ALONG(rfft, Rfft, "The first half of fft for real numbers.", CX_REAL, CX_ALL_NUMBERS,
         "n / 2 + 1 numbers; " CX_COMPLEX, CX_NO_COMPLEX)
CX_ALONG(irfft, Irfft, "The inverse of rfft.", CX_HERMITIAN, CX_HALF,
         "Real: float64 for 64-bit operands, else float32.", "")
CX_ALONG(hfft, Hfft, "The transform of numbers whose other half are conjugates.", CX_HERMITIAN,
         CX_HALF, "Real: float64 for 64-bit operands, else float32.", "")
CX_ALONG(ihfft, Ihfft, "The inverse of hfft.", CX_REAL, CX_ALL_NUMBERS,
         "n / 2 + 1 numbers; " CX_COMPLEX, CX_NO_COMPLEX)
#undef CX_ALONG
#undef CX_DOC

#define CX_DOC(what, default_axes, result, raises)                                               \
    what "\n\nArgs:\n    a (ndarray): Any shape and dtype.\n"                                    \
         "    s (sequence of int): How many numbers of each axis (of irfft: of the result); -1 " \
         "for as many as ``a`` has, as in NumPy.\n"                                              \
         "    axes (sequence of int): " default_axes                                             \
         "\n    norm (str): As of fft.\n" CX_RESULT_OUT_ARG "Returns:\n    ndarray: " result     \
         " Differentiable, any order.\n"                                                         \
         "Raises:\n    DimensionError: If there is no number along an axis, or ``s`` and "       \
         "``axes`` have different lengths.\n"                                                    \
         "    ValueError: If ``norm`` is none of the three.\n" raises                            \
         "Note:\n    The gradient of a complex number a + bi is dL/da - i dL/db."

#define CX_OVER(name, Function, default_axes, two, ...)                                          \
    CX_FFT(name,                                                                                 \
           "a: ndarray, s: Sequence[int] | None = None, axes: Axis = " default_axes              \
           ", norm: str | None = None, " CX_RESULT_OUT ") -> ndarray",                           \
           CX_DOC(__VA_ARGS__)) {                                                                \
        return Finish(                                                                           \
            #name,                                                                               \
            Function(ToArray(#name, "a", a[0]), ToFftAxes(#name, a[1], a[2], a[3], two), #name), \
            a[4]);                                                                               \
    }
#define CX_OVER_ALL(name, Function, text, result, raises)                                          \
    CX_OVER(name, Function, "None", false, text, "All, or as many of the last ones as ``s`` has.", \
            result, raises)
#define CX_OVER_TWO(name, Function, text, result, raises) \
    CX_OVER(name, Function, "(-2, -1)", true, text, "The last two.", result, raises)
#define CX_FROM_REAL "Half of the last of the axes; " CX_COMPLEX

CX_OVER_ALL(fftn, FftN, "The discrete Fourier transform over axes.", CX_COMPLEX, "")
CX_OVER_ALL(ifftn, IfftN, "The inverse of fftn.", CX_COMPLEX, "")
CX_OVER_ALL(rfftn, RfftN, "The first half of fftn for real numbers.", CX_FROM_REAL, CX_NO_COMPLEX)
CX_OVER_ALL(irfftn, IrfftN, "The inverse of rfftn.",
            "Real: float64 for 64-bit operands, else float32.", "")
CX_OVER_TWO(fft2, FftN, "The discrete Fourier transform over two axes.", CX_COMPLEX, "")
CX_OVER_TWO(ifft2, IfftN, "The inverse of fft2.", CX_COMPLEX, "")
CX_OVER_TWO(rfft2, RfftN, "The first half of fft2 for real numbers.", CX_FROM_REAL, CX_NO_COMPLEX)
CX_OVER_TWO(irfft2, IrfftN, "The inverse of rfft2.",
            "Real: float64 for 64-bit operands, else float32.", "")
#undef CX_OVER
#undef CX_DOC

#define CX_FREQ(name, Function, which)                                                          \
    CX_FFT(name,                                                                                \
           "n: int, d: float = 1.0, dtype: DtypeLike | None = None, device: DeviceLike | None " \
           "= None) -> ndarray",                                                                \
           "The frequencies that " which                                                        \
           " numbers, in cycles per unit of ``d``.\n\nArgs:\n"                                  \
           "    n (int): How many numbers are transformed.\n"                                   \
           "    d (float): Their distance.\n"                                                   \
           "    dtype (dtype): A real float; float32 by default.\n"                             \
           "    device (Device or str): The default device by default.\n"                       \
           "Returns:\n    ndarray: One axis, in no graph.\n"                                    \
           "Raises:\n    DimensionError: If ``n`` is not positive.\n"                           \
           "    DtypeError: If ``dtype`` is no real float.") {                                  \
        return Wrap(Function(ToIntNotBool(#name, "n", a[0]),                                    \
                             a[1] == nullptr ? 1.0 : ToDouble(#name, "d", a[1]),                \
                             ToDtypeOr(a[2], kDefaultFloat), ToDevice(a[3])));                  \
    }
CX_FREQ(fftfreq, FftFreq, "fft gives for ``n``")
CX_FREQ(rfftfreq, RfftFreq, "rfft gives for ``n``")
#undef CX_FREQ

CX_FFT(fftshift, "x: ndarray, axes: Axis = None) -> ndarray",
       "Moves frequency 0 to the middle.\n\n"
       "Args:\n    x (ndarray): Any shape and dtype.\n"
       "    axes (int or sequence of int): Along which; all by default.\n"
       "Returns:\n    ndarray: Shape and dtype of ``x``. Differentiable, any order.\n"
       "Raises:\n    DimensionError: If an axis is not there.") {
    return Wrap(FftShift(ToArray("fftshift", "x", a[0]), ToAxes("fftshift", "axes", a[1])));
}

CX_FFT(ifftshift, "x: ndarray, axes: Axis = None) -> ndarray",
       "The inverse of fftshift.\n\n"
       "Args:\n    x (ndarray): Any shape and dtype.\n"
       "    axes (int or sequence of int): Along which; all by default.\n"
       "Returns:\n    ndarray: Shape and dtype of ``x``. Differentiable, any order.\n"
       "Raises:\n    DimensionError: If an axis is not there.") {
    return Wrap(IfftShift(ToArray("ifftshift", "x", a[0]), ToAxes("ifftshift", "axes", a[1])));
}

// ---- complex numbers
CX_ELEMENTWISE_ROUTINE(
    real, "x: ndarray) -> ndarray",
    "The real part.\n\n"
    "Args:\n    x (ndarray): Any shape and dtype.\n"
    "Returns:\n    ndarray: A view of the real parts; of all of ``x`` if it is not complex. "
    "Differentiable, any order.\n"
    "Note:\n    The gradient of a complex number a + bi is dL/da - i dL/db.") {
    return Wrap(Real(ToArray("real", "x", a[0])));
}

CX_ELEMENTWISE_ROUTINE(
    imag, "x: ndarray) -> ndarray",
    "The imaginary part.\n\n"
    "Args:\n    x (ndarray): Any shape and dtype.\n"
    "Returns:\n    ndarray: A view of the imaginary parts; zeros if ``x`` is not complex. "
    "Differentiable, any order.\n"
    "Note:\n    The gradient of a complex number a + bi is dL/da - i dL/db.") {
    return Wrap(Imag(ToArray("imag", "x", a[0])));
}

CX_ELEMENTWISE(kRoutine, conj, 1, "x: ndarray", CX_OPTIONS, nullptr,
               "Numbers with the opposite imaginary part.\n\n"
               "Args:\n    x (ndarray): Any shape and dtype.\n" CX_OPTION_ARGS
               "Returns:\n    ndarray: A copy. Differentiable, any order.\n"
               "Note:\n    The gradient of a complex number a + bi is dL/da - i dL/db.") {
    return Wrap(Conj(ToArray("conj", "x", a[0])));
}
CX_ALIAS(conjugate, conj)

// ---- for chainer, whose functions take and return the real and the imaginary part
void CheckParts(const char* op, const Array& real, const Array& imag) {
    CheckSameDevice(op, real.device(), imag.device());
    if (!IsFloat(real.dtype()) || real.dtype() != imag.dtype()) {
        throw DtypeError{op,           ": real has dtype ", real.dtype(),
                         " and imag ", imag.dtype(),        ", expected one real float dtype"};
    }
    if (real.shape() != imag.shape()) {
        throw DimensionError{op, ": real has shape ", real.shape(), ", but imag ", imag.shape()};
    }
}

PyObject* OfParts(const char* op, PyObject* const* a,
                  Array (*transform)(const Array&, const FftAxis&)) {
    const Array& real = ToArray(op, "real", a[0]);
    const Array& imag = ToArray(op, "imag", a[1]);
    CheckParts(op, real, imag);
    const Dtype dtype = real.dtype();
    const Dtype wide = dtype == Dtype::kFloat64 ? dtype : Dtype::kFloat32;
    const Array y =
        transform(MakeComplex(AsType(real, wide, false), AsType(imag, wide, false)), {});
    const Ref first = Check(Wrap(AsType(Real(y), dtype)));
    const Ref second = Check(Wrap(AsType(Imag(y), dtype)));
    return Check(PyTuple_Pack(2, first.get(), second.get())).Release();
}

CX_ROUTINE(_fft, "real: ndarray, imag: ndarray) -> tuple[ndarray, ndarray]",
           "The discrete Fourier transform along the last axis, for chainer.") {
    return OfParts("fft", a, &Fft);
}

CX_ROUTINE(_ifft, "real: ndarray, imag: ndarray) -> tuple[ndarray, ndarray]",
           "The inverse of the discrete Fourier transform along the last axis, for chainer.") {
    return OfParts("ifft", a, &Ifft);
}

}  // namespace
}  // namespace chainerx::python
