// Methods of ndarray that reduce.
#include "chainerx/ops/reduction.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/ndarray.h"

namespace chainerx::python {
namespace {

CX_METHOD(sum, "axis: Axis = None, keepdims: bool = False) -> ndarray", "See chainerx.sum().") {
    return Wrap(Sum(Self(self), ToAxes("sum", "axis", a[0]), ToBool(a[1], false)));
}

CX_METHOD(prod, "axis: Axis = None, keepdims: bool = False) -> ndarray", "See chainerx.prod().") {
    return Wrap(Prod(Self(self), ToAxes("prod", "axis", a[0]), ToBool(a[1], false)));
}

CX_METHOD(mean, "axis: Axis = None, keepdims: bool = False) -> ndarray", "See chainerx.mean().") {
    return Wrap(Mean(Self(self), ToAxes("mean", "axis", a[0]), ToBool(a[1], false)));
}

CX_METHOD(var, "axis: Axis = None, keepdims: bool = False) -> ndarray", "See chainerx.var().") {
    return Wrap(Var(Self(self), ToAxes("var", "axis", a[0]), ToBool(a[1], false)));
}

CX_METHOD(std, "axis: Axis = None, keepdims: bool = False) -> ndarray", "See chainerx.std().") {
    return Wrap(Std(Self(self), ToAxes("std", "axis", a[0]), ToBool(a[1], false)));
}

CX_METHOD(max, "axis: Axis = None, keepdims: bool = False) -> ndarray", "See chainerx.max().") {
    return Wrap(AMax(Self(self), ToAxes("max", "axis", a[0]), ToBool(a[1], false)));
}

CX_METHOD(min, "axis: Axis = None, keepdims: bool = False) -> ndarray", "See chainerx.min().") {
    return Wrap(AMin(Self(self), ToAxes("min", "axis", a[0]), ToBool(a[1], false)));
}

CX_METHOD(all, "axis: Axis = None, keepdims: bool = False) -> ndarray", "See chainerx.all().") {
    return Wrap(All(Self(self), ToAxes("all", "axis", a[0]), ToBool(a[1], false)));
}

CX_METHOD(any, "axis: Axis = None, keepdims: bool = False) -> ndarray", "See chainerx.any().") {
    return Wrap(Any(Self(self), ToAxes("any", "axis", a[0]), ToBool(a[1], false)));
}

CX_METHOD(argmax, "axis: int | None = None) -> ndarray", "See chainerx.argmax().") {
    return Wrap(ArgMax(Self(self), ToOptionalAxis("argmax", "axis", a[0])));
}

CX_METHOD(argmin, "axis: int | None = None) -> ndarray", "See chainerx.argmin().") {
    return Wrap(ArgMin(Self(self), ToOptionalAxis("argmin", "axis", a[0])));
}

CX_METHOD(cumsum, "axis: int | None = None) -> ndarray", "See chainerx.cumsum().") {
    return Wrap(CumSum(Self(self), ToOptionalAxis("cumsum", "axis", a[0])));
}

CX_METHOD(cumprod, "axis: int | None = None) -> ndarray", "See chainerx.cumprod().") {
    return Wrap(CumProd(Self(self), ToOptionalAxis("cumprod", "axis", a[0])));
}

}  // namespace
}  // namespace chainerx::python
