// Weighted means and covariances.
#include "chainerx/ops/reduce/covariance.h"

#include "chainerx/python/convert.h"
#include "chainerx/python/elementwise.h"
#include "chainerx/python/ndarray/ndarray.h"
#include "chainerx/python/ref.h"

namespace chainerx::python {
namespace {

const Array* ToArrayOrNull(const char* op, const char* name, PyObject* o) {
    return Given(o) ? &ToArray(op, name, o) : nullptr;
}

CX_ROUTINE(
    average,
    "a: ndarray, axis: Axis = None, weights: ndarray | None = None, returned: bool = False, *, "
    "keepdims: bool = False) -> ndarray | tuple[ndarray, ndarray]",
    "The weighted mean over axes.\n\n"
    "Args:\n"
    "    a (ndarray): Any shape and dtype.\n"
    "    axis: An axis, several, or None for all.\n"
    "    weights (ndarray): How much elements count: of the shape of ``a``, or that of its axes "
    "alone. None is the plain mean.\n"
    "    returned (bool): Whether to return the sum of the weights, too.\n"
    "    keepdims (bool): Keep reduced axes with length 1.\n"
    "Returns:\n"
    "    ndarray: The promoted float dtype, or a tuple of it and the sum of the weights in its "
    "shape. Differentiable in both, any order.\n"
    "Raises:\n"
    "    DimensionError: If an axis is out of range or repeated, or the shape of ``weights`` is "
    "another one.\n"
    "Note:\n    Where the weights add up to 0, the mean is NaN or infinite.") {
    auto [y, sum] = Average(ToArray("average", "a", a[0]), ToAxes("average", "axis", a[1]),
                            ToArrayOrNull("average", "weights", a[2]), ToKeepdims("average", a[4]));
    if (!ToBool(a[3], false)) return Wrap(std::move(y));
    const Ref first{Wrap(std::move(y))};
    const Ref second{Wrap(std::move(sum))};
    return PyTuple_Pack(2, first.get(), second.get());
}

#define CX_VARIABLES                                       \
    "    y (ndarray): More variables, in the same form.\n" \
    "    rowvar (bool): Whether rows are variables and columns observations, or the reverse.\n"

CX_ROUTINE(cov,
           "m: ndarray, y: ndarray | None = None, rowvar: bool = True, bias: bool = False, "
           "ddof: int | None = None, fweights: ndarray | None = None, "
           "aweights: ndarray | None = None, *, dtype: DtypeLike | None = None) -> ndarray",
           "Covariances of variables.\n\n"
           "Args:\n"
           "    m (ndarray): At most two dimensions, any dtype.\n" CX_VARIABLES
           "    bias (bool): Divides by the number of observations, not by one less.\n"
           "    ddof (int): What is taken off that number, in the place of ``bias``.\n"
           "    fweights (ndarray): How often observations occur: integers, one for each.\n"
           "    aweights (ndarray): How much observations count, one for each.\n"
           "    dtype: To compute in, and of the result: a float or complex dtype.\n"
           "Returns:\n"
           "    ndarray: A matrix, or a number for one variable; the float dtype of the variables. "
           "Differentiable, any order.\n"
           "Raises:\n"
           "    DimensionError: If there are more dimensions, or numbers of observations differ.\n"
           "    DtypeError: If ``fweights`` are no integers, or ``dtype`` is none that holds "
           "means, or real for "
           "complex variables.") {
    CovarianceOptions options;
    options.y = ToArrayOrNull("cov", "y", a[1]);
    options.rowvar = ToBool(a[2], true);
    options.bias = ToBool(a[3], false);
    if (Given(a[4])) options.ddof = ToInt("cov", "ddof", a[4]);
    options.fweights = ToArrayOrNull("cov", "fweights", a[5]);
    options.aweights = ToArrayOrNull("cov", "aweights", a[6]);
    if (Given(a[7])) options.dtype = ToDtype(a[7]);
    return Wrap(Cov(ToArray("cov", "m", a[0]), options));
}

CX_ROUTINE(
    corrcoef,
    "x: ndarray, y: ndarray | None = None, rowvar: bool = True, *, "
    "dtype: DtypeLike | None = None) -> ndarray",
    "Correlations of variables: covariances over both standard deviations.\n\n"
    "Args:\n"
    "    x (ndarray): At most two dimensions, any dtype.\n" CX_VARIABLES
    "    dtype: To compute in, and of the result: a float or complex dtype.\n"
    "Returns:\n"
    "    ndarray: A matrix, or a number for one variable; the float dtype of the variables. "
    "Differentiable, any order.\n"
    "Raises:\n"
    "    DimensionError: If there are more dimensions, or numbers of observations differ.\n"
    "    DtypeError: If ``dtype`` is none that holds means, or real for complex variables.") {
    CovarianceOptions options;
    options.y = ToArrayOrNull("corrcoef", "y", a[1]);
    options.rowvar = ToBool(a[2], true);
    if (Given(a[3])) options.dtype = ToDtype(a[3]);
    return Wrap(Corrcoef(ToArray("corrcoef", "x", a[0]), options));
}

}  // namespace
}  // namespace chainerx::python
