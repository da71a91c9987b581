"""Runs a row: arrays of every layout, the expected result, and the comparison."""

import functools

import chainerx as chx
import numpy as np
import pytest

from cases import CASES
from cases import _promotion as p
from cases._table import Arg, np_dtype, seeded

LAYOUTS = ('contiguous', 'transposed', 'reversed', 'strided', 'offset', 'broadcast')
REFERENCED = [case for case in CASES if case.ref is not None]
# Half a unit in the last place for one rounding, with a margin for a few roundings.
RTOL = {
    'float16': 1e-3,
    'bfloat16': 8e-3,
    'float32': 1e-6,
    'float64': 1e-13,
    'complex64': 2e-6,
    'complex128': 2e-13,
}


def ids(cases):
    seen = {}
    for case in cases:
        seen[case.name] = n = seen.get(case.name, 0) + 1
        yield case.name if n == 1 else f'{case.name}-{n}'


def each(cases):
    """Runs a test for each of these rows."""
    cases = list(cases)
    return pytest.mark.parametrize('case', cases, ids=list(ids(cases)))


def make(values, layout, device):
    """A chainerx array of these values (of their first slice, if broadcast) in a layout."""
    values = np.asarray(values)

    def array(x):
        return chx.array(np.ascontiguousarray(x).reshape(x.shape), device=device)

    if layout == 'transposed':
        return array(values.T).transpose()
    if layout == 'reversed':
        flip = (slice(None, None, -1),) * values.ndim
        return array(values[flip])[flip]
    if layout == 'strided' and values.ndim:
        wide = np.zeros((*values.shape[:-1], 2 * values.shape[-1] + 1), values.dtype)
        wide[..., 1::2] = values
        return array(wide)[..., 1::2]
    if layout == 'offset':
        # One element after the start of the memory: aligned to the element only.
        flat = np.concatenate([values.ravel()[:0], np.zeros(1, values.dtype), values.ravel()])
        return array(flat)[1:].reshape(values.shape)
    if layout == 'broadcast' and values.ndim and values.shape[0]:
        return chx.broadcast_to(array(values[:1]), values.shape)
    return array(values)


def to_numpy(x):
    return chx.to_numpy(x)


@functools.cache
def name_of(dtype):
    return dtype.name  # which NumPy puts together in Python


def wide(x):
    """Casts to float64, complex128, int64 or bool, in which the references compute."""
    kind = 'f' if name_of(x.dtype) == 'bfloat16' else x.dtype.kind
    return x.astype({'b': bool, 'i': 'i8', 'u': 'i8', 'f': 'f8', 'c': 'c16'}[kind])


class Prepared:
    """One call with its arrays made: for the op, and for the reference.

    With `like`, the same call in another layout: what it has drawn, and found, is not done again.
    """

    def __init__(
        self, case, call, dtype, layout='contiguous', device=None, dtypes=None, *, like=None
    ):
        self.drawn = like.drawn if like else list(self.draw(case, call, dtype, dtypes))
        # A broadcast array has only its first slice: other values, other results.
        self.references = like.references if like and layout != 'broadcast' else {}
        self.arrays, self.values, self.dtypes, self.varies = [], [], [], []
        drawn = iter(self.drawn)

        def build(arg):
            x = make(next(drawn), layout, device)
            self.arrays.append(x)
            self.values.append(to_numpy(x))
            self.varies.append(arg.dtype is None)
            self.dtypes.append(name_of(x.dtype))
            return x

        self.case = case
        self.call = call.map(build)
        self.spec = call

    @staticmethod
    def draw(case, call, dtype, dtypes):
        rng = seeded(case.name, dtype, len(call.args))
        given = iter(dtypes or ())
        for arg in call.arrays():
            yield arg.draw(rng, next(given) if dtypes and arg.dtype is None else dtype)

    def varying(self):
        """Dtypes of the arrays that determine that of the result, else of all arrays."""
        some = [d for d, v in zip(self.dtypes, self.varies, strict=True) if v]
        return some or self.dtypes

    def result_dtype(self):
        scalars = [
            x for x in self.call.args if self.case.scalar and type(x) in (int, float, complex, bool)
        ]
        return self.case.result_dtype([*self.varying(), *scalars], self.call.kw)

    def expected(self, result_dtype, values=None):
        """The reference's result for the same values."""
        if values is not None:
            return self.compute(result_dtype, values)
        if result_dtype not in self.references:
            self.references[result_dtype] = self.compute(result_dtype, self.values)
        return self.references[result_dtype]

    def compute(self, result_dtype, values):
        values = iter(values)

        def to_reference(_):
            return wide(next(values))

        floating = p.category(result_dtype) >= 2 if isinstance(result_dtype, str) else False

        def cast(x):
            # Integer ops with float results are computed in floats.
            return x.astype('f8') if floating and x.dtype.kind in 'biu' else x

        call = self.spec.map(lambda a: a)
        converted = [to_reference(a) for a in call.arrays()]
        varying = iter(self.varies)
        converted = [cast(x) if next(varying) else x for x in converted]
        it = iter(converted)
        mapped = call.map(lambda a: next(it))
        kw = {k: v for k, v in mapped.kw.items() if k != 'device'}
        with np.errstate(all='ignore'):
            return self.case.ref(*mapped.args, **kw)

    def differentiable(self):
        """Indices of the arrays that have a gradient."""
        floats = [n for n, d in enumerate(self.dtypes) if p.category(d) == 2 and self.varies[n]]
        return [n for n in floats if self.case.diff is None or n in self.case.diff]


def as_list(y):
    return list(y) if isinstance(y, (list, tuple)) else [y]


def call_text(spec):
    parts = [repr(a.shape) if isinstance(a, Arg) else repr(a) for a in spec.args]
    return ', '.join(parts + [f'{k}={v!r}' for k, v in spec.kw.items()])[:300]


def compare(actual, expected, dtype, factor, where, rtol=None):
    """Shape, dtype and values; the tolerance is that of the dtype times `factor`."""
    expected = np.asarray(expected)
    assert actual.shape == expected.shape, f'{where}: shape {actual.shape} != {expected.shape}'
    assert name_of(actual.dtype) == dtype, f'{where}: dtype {actual.dtype.name} != {dtype}'
    x = wide(to_numpy(actual))
    # NumPy's comparisons describe differences, but take a hundred times as long: they run second.
    if p.category(dtype) < 2:
        e = wide(expected.astype(np_dtype(dtype)))  # wraps like the library's integers
        if not (x == e).all():
            np.testing.assert_array_equal(x, e, err_msg=where)
        return
    rtol = RTOL[dtype] * factor if rtol is None else rtol
    e = expected.astype(x.dtype)
    with np.errstate(all='ignore'):
        if dtype == 'float16':
            e = np.where(np.abs(e) > 65520, np.copysign(np.inf, e), e)
        near = (np.abs(x - e) <= rtol + rtol * np.abs(e)) & np.isfinite(e)
    if not near.all():
        np.testing.assert_allclose(x, e, rtol=rtol, atol=rtol, err_msg=where)


def numerical_gradient(function, values, gys, position, eps=1e-6):
    """Gradient of sum(gy * y) in one input by central differences, in float64."""
    base = [wide(v) for v in values]
    x = base[position].copy()
    base[position] = x
    gradient = np.zeros(x.shape)

    def total():
        ys = as_list(function(base))
        return sum(np.sum(np.asarray(y) * g) for y, g in zip(ys, gys, strict=True))

    for index in np.ndindex(*x.shape):
        kept = x[index]
        x[index] = kept + eps
        high = total()
        x[index] = kept - eps
        low = total()
        x[index] = kept
        gradient[index] = (high - low) / (2 * eps)
    return gradient
