"""Runs a row: arrays of every kind and layout, the expected result, and derivatives."""

import chainer
import chainerx
import numpy as np
from chainer import Variable
from chainer.backends import cuda
from devices import kinds, ours
from functions.cases._table import Arg, seeded

from cases._harness import RTOL, make, wide

KINDS = kinds()
ARRAY_TYPES = {'numpy': np.ndarray, 'native': chainerx.ndarray, 'cupy': cuda.ndarray}
LAYOUTS = ('transposed', 'reversed', 'strided', 'broadcast')


def lay(values, layout, kind):
    """An array of a kind with these values (of its first slice, if broadcast)."""
    if kind == 'native':
        return make(values, layout, ours())
    xp = cuda.cupy if kind == 'cupy' else np
    if layout == 'transposed':
        return xp.array(np.array(values.T, order='C')).T
    if layout == 'reversed' and values.ndim:
        flip = (slice(None, None, -1),) * values.ndim
        return xp.array(np.ascontiguousarray(values[flip]))[flip]
    if layout == 'strided' and values.ndim:
        wide_ = np.zeros((*values.shape[:-1], 2 * values.shape[-1] + 1), values.dtype)
        wide_[..., 1::2] = values
        return xp.array(wide_)[..., 1::2]
    if layout == 'broadcast' and values.ndim and values.shape[0]:
        return xp.broadcast_to(xp.array(values[:1]), values.shape)
    return xp.array(values)


def as_numpy(x):
    return chainer.backend.CpuDevice().send(x) if isinstance(x, chainer.get_array_types()) else x


class Prepared:
    """One call with its arrays made."""

    def __init__(self, case, spec, dtype, kind='numpy', layout='contiguous'):
        rng = seeded(case.name, dtype, len(spec.args))
        self.case, self.spec, self.kind = case, spec, kind
        self.arrays, self.values, self.dtypes = [], [], []
        for n, arg in enumerate(spec.arrays()):
            x = lay(arg.draw(rng, dtype), 'contiguous' if n in case.params else layout, kind)
            self.arrays.append(x)
            self.values.append(np.array(as_numpy(x)))
            self.dtypes.append(arg.dtype or dtype)
        self.where = f'{case.name}({call_text(spec)}), {dtype}, {layout}, {kind}'

    def is_param(self, n):
        return n in self.case.params

    def variables(self):
        """One Variable per array; parameters stay arrays."""
        return [x if self.is_param(n) else Variable(x) for n, x in enumerate(self.arrays)]

    def call(self, arrays):
        """The outputs, as a tuple."""
        it = iter(arrays)
        ys = self.spec.map(lambda a: next(it)).run(self.case.function)
        return tuple(ys) if isinstance(ys, (tuple, list)) else (ys,)

    def expected(self):
        it = iter(wide(x) for x in self.values)
        mapped = self.spec.map(lambda a: next(it))
        with np.errstate(all='ignore'):
            ys = mapped.run(self.case.ref)
        return tuple(ys) if isinstance(ys, (tuple, list)) else (ys,)

    def result_dtype(self, n=0):
        if isinstance(self.case.out, tuple):
            return self.case.out[n]
        if self.case.out is not None:
            return self.case.out
        some = [d for d, a in zip(self.dtypes, self.spec.arrays(), strict=True) if a.dtype is None]
        return (some or self.dtypes)[0]

    def differentiable(self):
        """Positions of the arrays with a gradient."""
        floats = [n for n, d in enumerate(self.dtypes) if d.startswith('float')]
        floats = [n for n in floats if not self.is_param(n)]
        return [n for n in floats if self.case.diff is None or n in self.case.diff]


def call_text(spec):
    parts = [repr(a.shape) if isinstance(a, Arg) else repr(a) for a in spec.args]
    return ', '.join(parts + [f'{k}={v!r}' for k, v in spec.kw.items()])[:200]


def compare(actual, expected, dtype, kind, factor, where):
    """Compares kind, shape, dtype and values; the tolerance is the dtype's times `factor`."""
    assert isinstance(actual, ARRAY_TYPES[kind]), where
    expected = np.asarray(expected)
    assert actual.shape == expected.shape, f'{where}: shape {actual.shape} != {expected.shape}'
    assert actual.dtype == np.dtype(dtype), f'{where}: dtype {actual.dtype} != {dtype}'
    x = wide(as_numpy(actual))
    if dtype not in RTOL:
        np.testing.assert_array_equal(x, wide(expected.astype(dtype)), err_msg=where)
        return
    rtol = RTOL[dtype] * factor
    np.testing.assert_allclose(x, expected.astype(x.dtype), rtol=rtol, atol=rtol, err_msg=where)


def check_gradients(function, values, kind, order, rtol, where, seed=0):
    """Compares gradients with finite differences along random directions, in float64.

    Args:
        function: Takes Variables, returns a tuple of them (None for zeros).
        values: float64 arrays.
    """
    rng = np.random.default_rng(seed)

    def evaluate(arrays):
        variables = [Variable(lay(x, 'contiguous', kind)) for x in arrays]
        ys = function(*variables)
        return variables, ys

    variables, ys = evaluate(values)
    gys = [None if y is None else rng.standard_normal(y.shape) for y in ys]
    pairs = [
        (y, Variable(lay(g, 'contiguous', kind)))
        for y, g in zip(ys, gys, strict=True)
        if g is not None
    ]
    if not pairs:
        return
    some, grads = zip(*pairs, strict=True)
    gxs = chainer.grad(list(some), variables, list(grads), enable_double_backprop=True)

    def total(arrays):
        _, ys = evaluate(arrays)
        return sum(
            np.sum(as_numpy(y.array) * g) for y, g in zip(ys, gys, strict=True) if g is not None
        )

    eps = 1e-5
    for n, gx in enumerate(gxs):
        if values[n].size == 0:
            continue
        u = rng.standard_normal(values[n].shape)
        ends = [[x + s * u if m == n else x for m, x in enumerate(values)] for s in (eps, -eps)]
        numerical = (total(ends[0]) - total(ends[1])) / (2 * eps)
        exact = 0.0 if gx is None else np.sum(as_numpy(gx.array) * u)
        np.testing.assert_allclose(
            exact, numerical, rtol=rtol, atol=rtol, err_msg=f'{where}: gradient of input {n}'
        )
    if order > 1:
        check_gradients(
            lambda *vs: _gradient(function, vs[: len(values)], vs[len(values) :], gys),
            [*values, *(g for g in gys if g is not None)],
            kind,
            order - 1,
            rtol,
            f'second derivative of {where}',
            seed + 1,
        )


def _gradient(function, xs, gys, mask):
    ys = [y for y, g in zip(function(*xs), mask, strict=True) if g is not None]
    return chainer.grad(ys, list(xs), list(gys), enable_double_backprop=True)
