// chainerx.fft, and complex numbers.
#include "chainerx/ops/signal/fft.h"

#include <string_view>

#include "chainerx/ops/elementwise/complex_parts.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/elementwise.h"

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

#define CX_DOC(what, operand, length, result, raises)                                           \
    what "\n\nArgs:\n    a (ndarray): At least one axis" operand "\n    n (int): " length       \
         "\n"                                                                                   \
         "    axis (int): The axis to transform.\n"                                             \
         "    norm (str): The direction that is divided by n: ``'backward'``, the default, or " \
         "``'forward'``; ``'ortho'`` divides both by the square root of n.\n" CX_RESULT_OUT_ARG \
         "Returns:\n    ndarray: " result                                                       \
         " Differentiable, any order.\n"                                                        \
         "Raises:\n"                                                                            \
         "    DimensionError: If the axis is empty.\n"                                          \
         "    ValueError: If ``norm`` is none of the three.\n" raises                           \
         "Note:\n    The gradient of a complex number a + bi is dL/da - i dL/db."
#define CX_ALL_NUMBERS                                                                          \
    "Length of the transform: the input is truncated, or padded with zeros; its own length by " \
    "default."
#define CX_HALF "Length of the result, ``2 * (length - 1)`` by default."
#define CX_ANY ", any dtype."
#define CX_REAL ", any real dtype."
#define CX_HERMITIAN ": the first n / 2 + 1 of n coefficients; the others are their conjugates."
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
CX_ALONG(ifft, Ifft, "The inverse of :func:`fft`.", CX_ANY, CX_ALL_NUMBERS, CX_COMPLEX, "")
CX_ALONG(rfft, Rfft, "The discrete Fourier transform of real input: the first half of :func:`fft`.",
         CX_REAL, CX_ALL_NUMBERS, "n / 2 + 1 numbers; " CX_COMPLEX, CX_NO_COMPLEX)
CX_ALONG(irfft, Irfft, "The inverse of :func:`rfft`.", CX_HERMITIAN, CX_HALF,
         "Real: float64 for 64-bit operands, else float32.", "")
CX_ALONG(hfft, Hfft,
         "The discrete Fourier transform of Hermitian-symmetric input, of which half is given.",
         CX_HERMITIAN, CX_HALF, "Real: float64 for 64-bit operands, else float32.", "")
CX_ALONG(ihfft, Ihfft, "The inverse of :func:`hfft`.", CX_REAL, CX_ALL_NUMBERS,
         "n / 2 + 1 numbers; " CX_COMPLEX, CX_NO_COMPLEX)
#undef CX_ALONG
#undef CX_DOC

#define CX_DOC(what, default_axes, result, raises)                                                 \
    what                                                                                           \
        "\n\n"                                                                                     \
        "Args:\n"                                                                                  \
        "    a (ndarray): Any shape and dtype.\n"                                                  \
        "    s (sequence of int): Lengths of the transforms (for inverse real ones, of the "       \
        "result); -1 means the length in ``a``, as in NumPy.\n"                                    \
        "    axes (sequence of int): " default_axes                                                \
        "\n"                                                                                       \
        "    norm (str): As for :func:`fft`.\n" CX_RESULT_OUT_ARG "Returns:\n    ndarray: " result \
        " Differentiable, any order.\n"                                                            \
        "Raises:\n"                                                                                \
        "    DimensionError: If an axis is empty, or ``s`` and ``axes`` have different lengths.\n" \
        "    ValueError: If ``norm`` is none of the three.\n" raises                               \
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
#define CX_OVER_ALL(name, Function, text, result, raises) \
    CX_OVER(name, Function, "None", false, text,          \
            "The axes to transform; all, or as many last ones as ``s`` has.", result, raises)
#define CX_OVER_TWO(name, Function, text, result, raises) \
    CX_OVER(name, Function, "(-2, -1)", true, text,       \
            "The axes to transform; by default the last two.", result, raises)
#define CX_FROM_REAL "Half of the last of the axes; " CX_COMPLEX

CX_OVER_ALL(fftn, FftN, "The discrete Fourier transform over axes.", CX_COMPLEX, "")
CX_OVER_ALL(ifftn, IfftN, "The inverse of :func:`fftn`.", CX_COMPLEX, "")
CX_OVER_ALL(
    rfftn, RfftN,
    "The discrete Fourier transform of real input over axes: the first half of :func:`fftn`.",
    CX_FROM_REAL, CX_NO_COMPLEX)
CX_OVER_ALL(irfftn, IrfftN, "The inverse of :func:`rfftn`.",
            "Real: float64 for 64-bit operands, else float32.", "")
CX_OVER_TWO(fft2, FftN, "The discrete Fourier transform over two axes.", CX_COMPLEX, "")
CX_OVER_TWO(ifft2, IfftN, "The inverse of :func:`fft2`.", CX_COMPLEX, "")
CX_OVER_TWO(
    rfft2, RfftN,
    "The discrete Fourier transform of real input over two axes: the first half of :func:`fft2`.",
    CX_FROM_REAL, CX_NO_COMPLEX)
CX_OVER_TWO(irfft2, IrfftN, "The inverse of :func:`rfft2`.",
            "Real: float64 for 64-bit operands, else float32.", "")
#undef CX_OVER
#undef CX_DOC

#define CX_FREQ(name, Function, which)                                                          \
    CX_FFT(name,                                                                                \
           "n: int, d: float = 1.0, dtype: DtypeLike | None = None, device: DeviceLike | None " \
           "= None) -> ndarray",                                                                \
           "The frequencies that " which                                                        \
           " numbers, in cycles per unit of ``d``.\n\n"                                         \
           "Args:\n"                                                                            \
           "    n (int): Length of the transform.\n"                                            \
           "    d (float): Sample spacing.\n"                                                   \
           "    dtype (dtype): A real float dtype; float32 by default.\n"                       \
           "    device (Device or str): Default: the default device.\n"                         \
           "Returns:\n"                                                                         \
           "    ndarray: 1-d, in no graph.\n"                                                   \
           "Raises:\n"                                                                          \
           "    DimensionError: If ``n`` is not positive.\n"                                    \
           "    DtypeError: If ``dtype`` is not a real float dtype.") {                         \
        return Wrap(Function(ToIntNotBool(#name, "n", a[0]),                                    \
                             a[1] == nullptr ? 1.0 : ToDouble(#name, "d", a[1]),                \
                             ToDtypeOr(a[2], kDefaultFloat), ToDevice(a[3])));                  \
    }
CX_FREQ(fftfreq, FftFreq, "fft gives for ``n``")
CX_FREQ(rfftfreq, RfftFreq, "rfft gives for ``n``")
#undef CX_FREQ

#define CX_SHIFT(name, Name, text)                                                   \
    CX_FFT(name, "x: ndarray, axes: Axis = None) -> ndarray",                        \
           text                                                                      \
           "\n\n"                                                                    \
           "Args:\n"                                                                 \
           "    x (ndarray): Any shape and dtype.\n"                                 \
           "    axes (int or sequence of int): The axes to shift; all by default.\n" \
           "Returns:\n"                                                              \
           "    ndarray: Shape and dtype of ``x``. Differentiable, any order.\n"     \
           "Raises:\n"                                                               \
           "    DimensionError: If there is no such axis.") {                        \
        return Wrap(Name(ToArray(#name, "x", a[0]), ToAxes(#name, "axes", a[1])));   \
    }
CX_SHIFT(fftshift, FftShift, "Shifts the zero frequency to the center.")
CX_SHIFT(ifftshift, IfftShift, "The inverse of :func:`fftshift`.")
#undef CX_SHIFT

// ---- complex numbers
CX_ELEMENTWISE_ROUTINE(real, "x: ndarray) -> ndarray",
                       "The real part.\n\n"
                       "Args:\n"
                       "    x (ndarray): Any shape and dtype.\n"
                       "Returns:\n"
                       "    ndarray: A view of the real parts, or of ``x`` if it is not complex. "
                       "Differentiable, any order.\n"
                       "Note:\n"
                       "    The gradient of a complex number a + bi is dL/da - i dL/db.") {
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
               "Complex conjugate of each element.\n\n"
               "Args:\n"
               "    x (ndarray): Any shape and dtype.\n" CX_OPTION_ARGS
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
           "The discrete Fourier transform along the last axis; for chainer.") {
    return OfParts("fft", a, &Fft);
}

CX_ROUTINE(_ifft, "real: ndarray, imag: ndarray) -> tuple[ndarray, ndarray]",
           "The inverse discrete Fourier transform along the last axis; for chainer.") {
    return OfParts("ifft", a, &Ifft);
}

}  // namespace
}  // namespace chainerx::python
