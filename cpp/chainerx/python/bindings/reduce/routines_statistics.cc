// Weighted means and covariances.
#include "chainerx/ops/reduce/covariance.h"

#include "chainerx/python/convert.h"
#include "chainerx/python/elementwise.h"

namespace chainerx::python {
namespace {

const Array* ToArrayOrNull(const char* op, const char* name, PyObject* o) {
    return Given(o) ? &ToArray(op, name, o) : nullptr;
}

CX_ROUTINE(
    average,
    "a: ndarray, axis: Axis = None, weights: ndarray | None = None, returned: bool = False, *, "
    "keepdims: bool = False) -> ndarray | tuple[ndarray, ndarray]",
    "Weighted mean over axes.\n\n"
    "Args:\n"
    "    a (ndarray): Any shape and dtype.\n"
    "    axis: One axis, several, or None for all.\n"
    "    weights (ndarray): The weights of the elements, of the shape of ``a``, or of its reduced "
    "axes alone. None gives the plain mean.\n"
    "    returned (bool): Whether to return the sum of the weights as well.\n"
    "    keepdims (bool): Keep reduced axes with length 1.\n"
    "Returns:\n"
    "    ndarray: In the promoted float dtype, or a tuple of it and the sum of the weights in its "
    "shape. Differentiable in both, any order.\n"
    "Raises:\n"
    "    DimensionError: If an axis is out of range or repeated, or ``weights`` has another "
    "shape.\n"
    "Note:\n"
    "    The mean is NaN or infinite where the weights add up to 0.") {
    auto [y, sum] = Average(ToArray("average", "a", a[0]), ToAxes("average", "axis", a[1]),
                            ToArrayOrNull("average", "weights", a[2]), ToKeepdims("average", a[4]));
    if (!ToBool(a[3], false)) return Wrap(std::move(y));
    const Ref first{Wrap(std::move(y))};
    const Ref second{Wrap(std::move(sum))};
    return PyTuple_Pack(2, first.get(), second.get());
}

#define CX_VARIABLES                                       \
    "    y (ndarray): More variables, in the same form.\n" \
    "    rowvar (bool): Whether rows are variables and columns are observations, or vice versa.\n"

CX_ROUTINE(
    cov,
    "m: ndarray, y: ndarray | None = None, rowvar: bool = True, bias: bool = False, "
    "ddof: int | None = None, fweights: ndarray | None = None, "
    "aweights: ndarray | None = None, *, dtype: DtypeLike | None = None) -> ndarray",
    "Covariance matrix of variables.\n\n"
    "Args:\n"
    "    m (ndarray): At most two dimensions, any dtype.\n" CX_VARIABLES
    "    bias (bool): Whether to divide by the number of observations, not by one less.\n"
    "    ddof (int): Subtracted from that number, instead of ``bias``.\n"
    "    fweights (ndarray): Frequencies of the observations: integers, one for each.\n"
    "    aweights (ndarray): Weights of the observations, one for each.\n"
    "    dtype: To compute in, and of the result; float or complex.\n"
    "Returns:\n"
    "    ndarray: A matrix, or 0-d for one variable, in the float dtype of the variables. "
    "Differentiable, any order.\n"
    "Raises:\n"
    "    DimensionError: If there are more dimensions, or the numbers of observations differ.\n"
    "    DtypeError: If ``fweights`` are not integers, or ``dtype`` is not a float or complex one, "
    "or is real for complex variables.") {
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
    "Correlation matrix of variables: covariances divided by both standard deviations.\n\n"
    "Args:\n"
    "    x (ndarray): At most two dimensions, any dtype.\n" CX_VARIABLES
    "    dtype: To compute in, and of the result; float or complex.\n"
    "Returns:\n"
    "    ndarray: A matrix, or 0-d for one variable, in the float dtype of the variables. "
    "Differentiable, any order.\n"
    "Raises:\n"
    "    DimensionError: If there are more dimensions, or the numbers of observations differ.\n"
    "    DtypeError: If ``dtype`` is not a float or complex one, or is real for complex "
    "variables.") {
    CovarianceOptions options;
    options.y = ToArrayOrNull("corrcoef", "y", a[1]);
    options.rowvar = ToBool(a[2], true);
    if (Given(a[3])) options.dtype = ToDtype(a[3]);
    return Wrap(Corrcoef(ToArray("corrcoef", "x", a[0]), options));
}

}  // namespace
}  // namespace chainerx::python
