// Diagonals, and methods of NumPy's arrays that call routines.
#include <algorithm>
#include <iterator>
#include <string_view>

#include "chainerx/ops/elementwise/complex_parts.h"
#include "chainerx/ops/reduce/reduction_options.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/view.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/elementwise.h"

namespace chainerx::python {
namespace {

// `a` begins with the offset.
Array CallDiagonal(const char* op, const Array& x, PyObject* const* a) {
    return Diagonal(x, ToDiagonal(op, "offset", a[0]),
                    a[1] != nullptr ? ToAxis(op, "axis1", a[1]) : int8_t{0},
                    a[2] != nullptr ? ToAxis(op, "axis2", a[2]) : int8_t{1});
}

// Sums in the requested dtype, else in that of sum().
PyObject* CallTrace(const Array& x, PyObject* const* a) {
    TotalOptions options;
    if (Given(a[3])) options.dtype = ToDtype(a[3]);
    return Finish("trace", Sum(CallDiagonal("trace", x, a), Axes{-1}, options), a[4]);
}

#define CX_ARGS_DIAGONAL                                                         \
    "    a (ndarray): 2 dimensions or more, any dtype.\n"                        \
    "    offset (int): Which diagonal: 0 is the main one, 1 begins at (0, 1).\n" \
    "    axis1, axis2 (int): The axes of the matrices.\n"
#define CX_RAISES_DIAGONAL \
    "Raises:\n"            \
    "    DimensionError: If there are no two such axes."

CX_ROUTINE(diagonal, "a: ndarray, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray",
           "Diagonals of the matrices of two axes.\n\n"
           "Args:\n" CX_ARGS_DIAGONAL
           "Returns:\n"
           "    ndarray: The other axes, followed by the diagonal; a view. Differentiable, any "
           "order.\n" CX_RAISES_DIAGONAL) {
    return Wrap(CallDiagonal("diagonal", ToArray("diagonal", "a", a[0]), a + 1));
}
CX_METHOD(diagonal, "offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray",
          "See chainerx.diagonal().") {
    return Wrap(CallDiagonal("diagonal", Self(self), a));
}

CX_ROUTINE(trace,
           "a: ndarray, offset: int = 0, axis1: int = 0, axis2: int = 1, "
           "dtype: DtypeLike | None = None, " CX_RESULT_OUT ") -> ndarray",
           "Sums of the diagonals of the matrices of two axes.\n\n"
           "Args:\n" CX_ARGS_DIAGONAL
           "    dtype: To compute in. Default: as for sum().\n" CX_RESULT_OUT_ARG
           "Returns:\n"
           "    ndarray: The other axes. Differentiable, any order.\n" CX_RAISES_DIAGONAL) {
    return CallTrace(ToArray("trace", "a", a[0]), a + 1);
}
CX_METHOD(trace,
          "offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DtypeLike | None = "
          "None, " CX_RESULT_OUT ") -> ndarray",
          "See chainerx.trace().") {
    return CallTrace(Self(self), a);
}

#undef CX_ARGS_DIAGONAL
#undef CX_RAISES_DIAGONAL

CX_METHOD(conj, ") -> ndarray", "See chainerx.conj().") { return Wrap(Conj(Self(self))); }
CX_METHOD(conjugate, ") -> ndarray", "See chainerx.conj().") { return Wrap(Conj(Self(self))); }

CX_METHOD(__array_namespace__, "*, api_version: str | None = None) -> Any",
          "The module chainerx, for programs written for the array API standard.\n\n"
          "Raises:\n"
          "    ValueError: For an unknown version of the standard.") {
    if (Given(a[0])) {
        const std::string_view version = ToString("__array_namespace__", "api_version", a[0]);
        constexpr std::string_view kKnown[] = {"2021.12", "2022.12", "2023.12", "2024.12",
                                               "2025.12"};
        if (std::ranges::find(kKnown, version) == std::end(kKnown)) {
            throw ValueError{"__array_namespace__: api_version is '", version,
                             "', expected at most '2025.12'"};
        }
    }
    PyObject* module = PyImport_ImportModule("chainerx");
    if (module == nullptr) throw PythonError{};
    return module;
}

CX_METHOD(tobytes, "order: str = 'C') -> bytes",
          "The elements as bytes, in C order, or in Fortran order for 'F'.") {
    const std::string_view order = a[0] != nullptr ? ToString("tobytes", "order", a[0]) : "C";
    if (order != "C" && order != "F") {
        throw ValueError{"tobytes: order must be 'C' or 'F', got '", order, "'"};
    }
    const Array x = internal::Detached(Self(self));
    const Array packed = AsContiguous(order == "F" ? Transpose(x) : x);
    Ref bytes{PyBytes_FromStringAndSize(nullptr, packed.GetNBytes())};
    if (!bytes) throw PythonError{};
    if (packed.GetNBytes() != 0) {
        packed.device().CopyToHost(PyBytes_AS_STRING(bytes.get()), packed.raw_data(),
                                   packed.GetNBytes());
    }
    return bytes.Release();
}

}  // namespace
}  // namespace chainerx::python
