"""Rows of chainer.functions.math."""

import operator

import chainer
import chainer.functions as F
import numpy as np
from chainer.utils import CooMatrix
from functions.cases._table import NUMBERS, Case, InvalidType, c, call, f, i, own

_PAIR = [f(3, 4), f(3, 4)]
_DTYPES_DIFFER = (call(f(3), own('float16', 3)), InvalidType, r'dtype', 'numpy')
# Operators on chainerx arrays mix dtypes, and leave the check to the routine.
_SHAPES_DIFFER = (call(f(3, 2), f(3)), (InvalidType, ValueError), 'shape')
_INTEGERS = (call(own('int32', 3), own('int32', 3)), InvalidType, 'kind', 'numpy')


def binary(name, fn, cls, label, **kw):
    """An operator on two variables."""
    kw = {'inputs': _PAIR, 'bad': [_DTYPES_DIFFER, _SHAPES_DIFFER]} | kw
    return Case(name, fn=fn, ref=fn, cls=f'math.basic_math.{cls}', label=label, elastic=True, **kw)


def constant(name, fn, cls, label, value, **kw):
    """An operator on a variable and a number."""
    return Case(name, fn=fn, ref=fn, cls=f'math.basic_math.{cls}', label=label, elastic=True,
                attributes={'value': value}, **({'inputs': [f(3, 4)]} | kw))  # fmt: skip


def unary(name, ref, cls, **kw):
    """A function of one float array, element by element."""
    kw = {'inputs': [f(3, 4)], 'label': name} | kw
    return Case(name, ref=ref, cls=f'math.{cls}', elastic=True, **kw)


def _mean(x, axis=None, keepdims=False):
    return np.mean(x, axis=axis, keepdims=keepdims)


def _average(x, axis=None, weights=None, keepdims=False):
    axis = axis[0] if isinstance(axis, tuple) else axis
    return np.average(x, axis=axis, weights=weights, keepdims=keepdims)


def _logsumexp(x, axis=None):
    from scipy.special import logsumexp

    return logsumexp(x, axis=axis)


def _good(*shape):
    """Well-conditioned matrices, also symmetric positive definite ones."""
    n = shape[-1]
    data = np.random.RandomState(n).uniform(-0.5, 0.5, shape) / max(1, n) ** 0.5
    return c(data + np.swapaxes(data, -1, -2) + 1.5 * np.eye(n))


def _det(a):
    return np.linalg.det(a)


def _fourier(transform):
    def reference(real, imag):
        y = transform(real + 1j * imag)
        return y.real, y.imag

    return reference


_PLACES = ([0, 1, 1, 1], [1, 0, 2, 2], (2, 3))
_PADDED = ([[0, 1, 1], [1, -1, 0]], [[1, 0, 2], [2, -1, 0]], (2, 3))


def _dense(data, places):
    row, col, shape = places
    y = np.zeros((*data.shape[:-1], *shape))
    for k in np.ndindex(*data.shape):
        if np.array(row)[k] >= 0:
            y[(*k[:-1], np.array(row)[k], np.array(col)[k])] += data[k]
    return y


def _sparse(places, left, transa=False, transb=False):
    """A row of sparse_matmul; the sparse matrix is built from its data."""

    def function(data, dense):
        device = chainer.backend.get_device_from_array(getattr(data, 'array', data))
        row, col = (device.send(np.array(x, 'int32')) for x in places[:2])
        sparse = CooMatrix(getattr(data, 'array', data), row, col, places[2])
        sparse.data = data
        a, b = (sparse, dense) if left else (dense, sparse)
        return F.sparse_matmul(a, b, transa, transb)

    def reference(data, dense):
        sparse = _dense(data, places)
        a, b = (sparse, dense) if left else (dense, sparse)
        a = np.swapaxes(a, -1, -2) if transa else a
        return a @ (np.swapaxes(b, -1, -2) if transb else b)

    data = f(*np.shape(places[0]))
    rows = {(True, False): 3, (True, True): 2}.get((left, transa), 2 if not transb else 3)
    shape = (rows, 4) if left != (transb if left else transa) else (4, rows)
    batch = data.shape[:-1]
    wide = tuple(400 if n == 4 else n for n in shape)
    return Case(
        'sparse_matmul',
        fn=function,
        ref=reference,
        cls='math.sparse_matmul.CooMatMul',
        calls=[call(data, f(*batch, *shape))],
        big=call(data, f(*batch, *wide)),
        direct=False,
        layouts=False,
        refuses=False,
        tol=4,
        gtol=4,
    )


_SINGULAR = (call(c([[1.0, 2.0], [2.0, 4.0]])), ValueError, 'singular')
_BAD_MATRIX = [
    (call(f(2, 3)), InvalidType, 'shape'),
    (call(f(2, 2, 2)), InvalidType, 'ndim'),
    (call(f(3)), InvalidType, 'ndim'),
]
_BAD_MATRICES = [
    (call(f(2, 2, 3)), InvalidType, 'shape'),
    (call(f(2, 2)), InvalidType, 'ndim'),
]


def _special(name):
    def reference(*xs):
        import scipy.special

        return getattr(scipy.special, name)(*xs)

    return reference


def _sum_to(x, shape):
    lead = x.ndim - len(shape)
    axes = tuple(range(lead)) + tuple(lead + n for n, m in enumerate(shape) if m == 1)
    return x.sum(axis=axes).reshape(shape)


def _aligned(x, y, axis):
    return y.reshape((1,) * axis + y.shape + (1,) * (x.ndim - axis - y.ndim))


def _transposed(x, flag):
    return np.swapaxes(x, -1, -2) if flag and x.ndim > 1 else x


def _matmul(a, b, transa=False, transb=False):
    return np.matmul(_transposed(a, transa), _transposed(b, transb))


def _batch_matmul(a, b, transa=False, transb=False):
    a, b = (x if x.ndim == 3 else x[:, :, None] for x in (a, b))
    return _matmul(a, b, transa, transb)


_POSITIVE = [f(3, 4, lo=0.3)]
# No two elements are equal, in one array or in both.
_DISTINCT = [f(3, 4, distinct=True), f(3, 4, distinct=True, lo=-1.97, hi=2.03)]
_EXTREMES = [
    call(f(3, 4, distinct=True), 1),
    call(f(2, 3, 4, distinct=True)),
    call(f(2, 3, 4, distinct=True), (-1, 0), True),
    call(f(), keepdims=True),
    call(f(0, 3), 1),
    call(f(3, 4), ()),
]
_REDUCTIONS = [*_EXTREMES, call(f(3, 0), axis=1, keepdims=True)]
_SCANS = [
    call(f(3, 4, distinct=True), 1),
    call(f(3, 4, distinct=True)),
    call(f(2, 3, 4, distinct=True), axis=-3),
    call(f(1)),
]
_BAD_AXES = [
    (call(f(3), 1), InvalidType, 'ndim'),
    (call(f(3), -2), InvalidType, 'ndim'),
    (call(f(3, 4), (0, 0)), ValueError, 'twice'),
    (call(f(3), 1.0), TypeError, 'axis'),
    (call(f(3), [0]), TypeError, 'axis'),
]
_BAD_AXIS = [
    (call(f(3), 1), InvalidType, 'ndim'),
    (call(f(3), -2), InvalidType, 'ndim'),
    (call(f(3), (0,)), TypeError, 'axis'),
    (call(f(3), 1.0), TypeError, 'axis'),
]


CASES = [
    Case('absolute', ref=np.absolute, inputs=[f(3, 4, avoid=(0,))], elastic=True, dtypes=NUMBERS,
         refuses=False, cls='math.basic_math.Absolute', label='|_|'),
    Case('neg', fn=operator.neg, ref=np.negative, inputs=[f(3, 4)], elastic=True, dtypes=NUMBERS,
         refuses=False, cls='math.basic_math.Neg', label='__neg__'),
    Case('add', ref=np.add, inputs=_PAIR, elastic=True, dtypes=NUMBERS, refuses=False,
         cls='math.basic_math.Add', label='_ + _', bad=[_DTYPES_DIFFER, _SHAPES_DIFFER]),
    Case('add', ref=lambda *xs: sum(xs), dtypes=NUMBERS, refuses=False,
         calls=[call(f(3, 4), f(4), f(3, 1)), call(f(3, 4)), call(f(), f(), f(), f(2))],
         cls='math.basic_math.MultiAdd', big=call(f(99, 99), f(99), f(99, 1)),
         bad=[(call(f(3), f(2), f(3)), InvalidType, 'shape'), (call(), TypeError, '')]),
    binary('x - z', operator.sub, 'Sub', '_ - _', dtypes=NUMBERS, refuses=False),
    binary('x * z', operator.mul, 'Mul', '_ * _', dtypes=NUMBERS, refuses=False),
    binary('x / z', operator.truediv, 'Div', '_ / _', refuses=False,
           bad=[_DTYPES_DIFFER, _SHAPES_DIFFER, _INTEGERS],
           inputs=[f(3, 4), f(3, 4, avoid=(0,), gap=0.4)]),
    binary('x ** z', operator.pow, 'PowVarVar', '_ ** _', refuses=False,
           bad=[_DTYPES_DIFFER, _SHAPES_DIFFER, _INTEGERS],
           inputs=[f(3, 4, lo=0.5), f(3, 4)]),
    Case('x // z', fn=operator.floordiv, ref=np.floor_divide, order=0, refuses=False,
         inputs=[f(3, 4), f(3, 4, avoid=(0,))]),
    Case('x // 2', fn=lambda x: x // 2, ref=lambda x: x // 2, order=0, inputs=[f(3, 4)],
         refuses=False),
    Case('2 // x', fn=lambda x: 2 // x, ref=lambda x: 2 // x, order=0, inputs=[f(3, 4, avoid=(0,))],
         refuses=False),
    constant('x + 1', lambda x: x + 1, 'AddConstant', '_ + 1', 1, dtypes=NUMBERS, refuses=False),
    constant('x - 1.5', lambda x: x - 1.5, 'AddConstant', '_ + (-1.5)', -1.5, refuses=False),
    constant('1 - x', lambda x: 1 - x, 'SubFromConstant', '1 - _', 1, dtypes=NUMBERS,
             refuses=False),
    constant('3 * x', lambda x: 3 * x, 'MulConstant', '_ * 3', 3, dtypes=NUMBERS, refuses=False),
    constant('x / 2', lambda x: x / 2, 'MulConstant', '_ * 0.5', 0.5, refuses=False),
    constant('2 / x', lambda x: 2 / x, 'DivFromConstant', '2 / _', 2,
             inputs=[f(3, 4, avoid=(0,), gap=0.4)]),
    constant('x ** 3', lambda x: x**3, 'PowVarConst', '_ ** 3', 3,
             inputs=[f(3, 4, avoid=(0,))]),
    constant('2 ** x', lambda x: 2**x, 'PowConstVar', '2 ** _', 2),
    Case('sum', ref=lambda x, axis=None, keepdims=False: np.sum(x, axis=axis, keepdims=keepdims),
         calls=_REDUCTIONS, cls='math.sum.Sum', attributes={'axis': (1,), 'keepdims': False},
         bad=_BAD_AXES),
    Case('prod', ref=lambda x, axis=None, keepdims=False: np.prod(x, axis=axis, keepdims=keepdims),
         calls=[*_REDUCTIONS, call(c([[0.0, 2.0, 3.0], [0.0, 0.0, 1.5]]), 1)],
         cls='math.prod.Prod', attributes={'axis': (1,), 'keepdims': False},
         bad=_BAD_AXES),
    Case('max', ref=lambda x, axis=None, keepdims=False: np.max(x, axis=axis, keepdims=keepdims),
         calls=_EXTREMES, cls='math.minmax.Max', attributes={'axis': (1,), 'keepdims': False},
         bad=[*_BAD_AXES, (call(f(0)), ValueError, '')]),
    Case('min', ref=lambda x, axis=None, keepdims=False: np.min(x, axis=axis, keepdims=keepdims),
         calls=_EXTREMES, cls='math.minmax.Min', attributes={'axis': (1,), 'keepdims': False},
         bad=[*_BAD_AXES, (call(f(0)), ValueError, '')]),
    Case('argmax', ref=np.argmax, calls=_SCANS, out='int32', order=0, cls='math.minmax.ArgMax',
         attributes={'axis': 1}, bad=_BAD_AXIS),
    Case('argmin', ref=np.argmin, calls=_SCANS, out='int32', order=0, cls='math.minmax.ArgMin',
         attributes={'axis': 1}, bad=_BAD_AXIS),
    Case('cumsum', ref=np.cumsum, calls=_SCANS, cls='math.cumsum.Cumsum', attributes={'axis': 1},
         bad=_BAD_AXIS, tol=4),
    Case('cumprod', ref=np.cumprod, cls='math.cumprod.Cumprod',
         calls=[*_SCANS, call(c([[1.0, 0.0, 2.0], [2.0, 0.0, 0.0]]), 1)],
         attributes={'axis': 1}, bad=_BAD_AXIS, tol=4),
    Case('logsumexp', ref=_logsumexp, tol=4, cls='math.logsumexp.LogSumExp',
         calls=[call(f(3, 4), 1), call(f(2, 3, 4)), call(f(2, 3, 4), (-1, 0)), call(f())],
         attributes={'axis': (1,)},
         bad=_BAD_AXES),
    Case('average', ref=_mean, cls='math.average.Mean', tol=2,
         calls=[call(f(3, 4), 1), call(f(2, 3, 4)), call(f(2, 3, 4), (-1, 0), keepdims=True),
                call(f())],
         attributes={'axis': (1,), 'keepdims': False, 'multiplier': 0.25},
         bad=[*_BAD_AXES, (call(f(0)), ZeroDivisionError, '')]),
    Case('average', ref=_average, cls='math.basic_math.Div', label='_ / _', direct=False, tol=4,
         calls=[call(f(3, 4), 1, f(4, lo=0.5)), call(f(3, 4), weights=f(3, 4, lo=0.5)),
                call(f(2, 3, 4), -2, f(3, lo=0.5), True), call(f(2, 3), (0,), f(2, lo=0.5))],
         refuses=False,
         bad=[(call(f(3, 4), 1, f(3)), InvalidType, r'weights\.size == 4\s+Actual: 3'),
              (call(f(3, 4), (0, 1), f(3, 4)), ValueError, 'one axis')]),
    Case('mean', ref=_mean, cls='math.average.Mean', inputs=[f(3, 4), 0], tol=2,
         attributes={'axis': (0,), 'keepdims': False, 'multiplier': 1 / 3}),
    Case('sum_to', ref=_sum_to, cls='math.sum.SumTo', attributes={'shape': (4,)},
         calls=[call(f(3, 4), (4,)), call(f(3, 4), (3, 1)), call(f(2, 3, 4), [3, 1]),
                call(f(3, 4), ()), call(f(2, 0), (1, 1)), call(f(3, 4), (1, 4))],
         big=call(f(99, 99), (99,)), refuses=False,
         bad=[(call(f(3, 4), (3,)), ValueError, 'broadcast'),
              (call(f(3), (3, 3)), ValueError, 'broadcast'), (call(f(3), 3), TypeError, '')]),

    unary('sin', np.sin, 'trigonometric.Sin'),
    unary('cos', np.cos, 'trigonometric.Cos'),
    unary('tan', np.tan, 'trigonometric.Tan', inputs=[f(3, 4, lo=-1.2, hi=1.2)], tol=2),
    unary('arcsin', np.arcsin, 'trigonometric.Arcsin', inputs=[f(3, 4, lo=-0.9, hi=0.9)]),
    unary('arccos', np.arccos, 'trigonometric.Arccos', inputs=[f(3, 4, lo=-0.9, hi=0.9)]),
    unary('arctan', np.arctan, 'trigonometric.Arctan'),
    unary('arctanh', np.arctanh, 'arctanh.Arctanh', label='Arctanh',
          inputs=[f(3, 4, lo=-0.9, hi=0.9)]),
    unary('sinh', np.sinh, 'hyperbolic.Sinh'),
    unary('cosh', np.cosh, 'hyperbolic.Cosh'),
    unary('exp', np.exp, 'exponential.Exp'),
    unary('expm1', np.expm1, 'exponential_m1.Expm1'),
    unary('log', np.log, 'exponential.Log', inputs=_POSITIVE),
    unary('log2', np.log2, 'exponential.Log2', inputs=_POSITIVE),
    unary('log10', np.log10, 'exponential.Log10', inputs=_POSITIVE),
    unary('log1p', np.log1p, 'logarithm_1p.Log1p', inputs=[f(3, 4, lo=-0.5)]),
    unary('sqrt', np.sqrt, 'sqrt.Sqrt', inputs=_POSITIVE),
    unary('rsqrt', lambda x: 1 / np.sqrt(x), 'basic_math.DivFromConstant',
          label='1.0 / _', attributes={'value': 1.0}, direct=False, inputs=_POSITIVE, tol=2),
    unary('square', np.square, 'square.Square'),
    unary('erf', _special('erf'), 'erf.Erf'),
    unary('erfc', _special('erfc'), 'erfc.Erfc'),
    unary('erfcx', _special('erfcx'), 'erfcx.Erfcx', tol=2),
    unary('erfinv', _special('erfinv'), 'erfinv.ErfInv', inputs=[f(3, 4, lo=-0.9, hi=0.9)]),
    unary('erfcinv', _special('erfcinv'), 'erfcinv.ErfcInv', inputs=[f(3, 4, lo=0.1, hi=1.9)]),
    unary('ndtr', _special('ndtr'), 'ndtr.Ndtr'),
    unary('log_ndtr', _special('log_ndtr'), 'log_ndtr.LogNdtr'),
    unary('ndtri', _special('ndtri'), 'ndtri.Ndtri', inputs=[f(3, 4, lo=0.1, hi=0.9)]),
    unary('lgamma', _special('gammaln'), 'lgamma.LGamma', inputs=_POSITIVE),
    unary('digamma', _special('psi'), 'digamma.DiGamma', inputs=_POSITIVE, tol=2),
    Case('polygamma', ref=_special('polygamma'), cls='math.polygamma.PolyGamma', label='polygamma',
         inputs=[i(3, 4, dtype='int32'), f(3, 4, lo=0.5, hi=4)], elastic=True, tol=4, gtol=4,
         bad=[(call(f(3), f(3)), InvalidType, 'n.dtype.kind == i'),
              (call(i(3), i(3)), InvalidType, 'x.dtype.kind == f'),
              (call(i(3), f(2)), InvalidType, 'shape')]),
    Case('zeta', ref=_special('zeta'), cls='math.zeta.Zeta', label='zeta', params=(0,),
         inputs=[f(3, 4, lo=1.5, hi=4), f(3, 4, lo=0.5, hi=4)], tol=4, gtol=4, diff=(1,),
         direct=False,
         calls=[call(2.5, f(3, lo=0.5)), call(i(3, 1, lo=2), f(4, lo=0.5)), call(3, f(lo=0.5))],
         bad=[(call(2.0, i(3)), InvalidType, 'q.dtype.kind == f'),
              (call(f(3), f(2)), InvalidType, 'shape')]),
    Case('inv', ref=np.linalg.inv, cls='math.inv.Inv', tol=8, gtol=8, layouts=False,
         calls=[call(_good(3, 3)), call(_good(1, 1)), call(_good(0, 0))], big=call(_good(48, 48)),
         bad=[*_BAD_MATRIX, _SINGULAR]),
    Case('batch_inv', ref=np.linalg.inv, cls='math.inv.BatchInv', tol=8, gtol=8, layouts=False,
         calls=[call(_good(2, 3, 3)), call(_good(0, 2, 2))], big=call(_good(3, 40, 40)),
         bad=_BAD_MATRICES),
    Case('det', ref=_det, cls='array.reshape.Reshape', label='Reshape', direct=False, tol=8, gtol=8,
         calls=[call(_good(3, 3)), call(_good(1, 1)), call(_good(0, 0))], big=call(_good(48, 48)),
         bad=[*_BAD_MATRIX[::2], (call(f(2, 2, 2)), InvalidType, 'shape')]),
    Case('batch_det', ref=_det, cls='math.det.BatchDet', label='det', tol=8, gtol=8,
         calls=[call(_good(2, 3, 3)), call(_good(0, 2, 2))], big=call(_good(3, 40, 40)),
         bad=_BAD_MATRICES),
    Case('cholesky', fn=lambda a: F.cholesky((a + a.T) * 0.5), cls='math.cholesky.Cholesky',
         label='cholesky', direct=False, tol=8, gtol=8, layouts=False, refuses=False,
         ref=lambda a: np.linalg.cholesky((a + a.T) * 0.5), calls=[call(_good(3, 3))]),
    Case('cholesky', ref=np.linalg.cholesky, cls='math.cholesky.Cholesky', label='cholesky',
         diff=(), tol=8, layouts=False, big=call(_good(48, 48)),
         calls=[call(_good(3, 3)), call(_good(1, 1)), call(_good(0, 0))],
         bad=[*_BAD_MATRIX, (call(c([[1.0, 2.0], [2.0, 1.0]])), ValueError, 'positive definite')]),
    Case('fft', fn=lambda real, imag: F.fft((real, imag)), ref=_fourier(np.fft.fft),
         cls='math.fft.FFT', attributes={'method': 'fft'}, tol=4, gtol=4,
         calls=[call(f(3, 4), f(3, 4)), call(f(2, 2, 5), f(2, 2, 5)), call(f(1), f(1)),
                call(f(0, 3), f(0, 3)), call(f(38), f(38))],
         bad=[(call(f(3), f(4)), InvalidType, 'shape'), (call(f(), f()), InvalidType, 'ndim'),
              (call(f(2, 0), f(2, 0)), ValueError, '0 numbers along axis 1'),
              (call(f(3), own('float16', 3)), InvalidType, 'dtype', 'numpy')]),
    Case('ifft', fn=lambda real, imag: F.ifft((real, imag)), ref=_fourier(np.fft.ifft),
         cls='math.fft.FFT', label='FFT', attributes={'method': 'ifft'}, tol=4, gtol=4,
         calls=[call(f(3, 4), f(3, 4)), call(f(2, 2, 7), f(2, 2, 7)), call(f(37), f(37))]),
    _sparse(_PLACES, True), _sparse(_PLACES, True, True), _sparse(_PLACES, True, False, True),
    _sparse(_PLACES, False), _sparse(_PLACES, False, True, True), _sparse(_PADDED, True),
    _sparse(_PADDED, False, True),
    Case('sign', ref=np.sign, inputs=[f(3, 4)], elastic=True, order=0, dtypes=NUMBERS,
         refuses=False),
    Case('floor', ref=np.floor, inputs=[f(3, 4)], elastic=True, order=0, dtypes=NUMBERS,
         refuses=False),
    Case('ceil', ref=np.ceil, inputs=[f(3, 4)], elastic=True, order=0, dtypes=NUMBERS,
         refuses=False),
    Case('fix', ref=np.fix, inputs=[f(3, 4)], elastic=True, order=0, dtypes=NUMBERS,
         refuses=False),
    Case('clip', ref=np.clip, cls='math.clip.Clip', attributes={'x_min': -1.0, 'x_max': 0.5},
         calls=[call(f(3, 4, avoid=(-1, 0.5)), -1.0, 0.5), call(f(3, avoid=(0,)), None, 0),
                call(f(3, avoid=(0,)), np.float64(0), None), call(f(0), 0, 1), call(f(), -3, 3)],
         bad=[(call(f(3), 1, 0), ValueError, 'x_min is 1'),
                          (call(f(3), None, None), ValueError, 'None')]),

    Case('maximum', ref=np.maximum, inputs=_DISTINCT, elastic=True, cls='math.maximum.Maximum',
         bad=[_DTYPES_DIFFER, _SHAPES_DIFFER]),
    Case('minimum', ref=np.minimum, inputs=_DISTINCT, elastic=True, cls='math.minimum.Minimum',
         bad=[_DTYPES_DIFFER, _SHAPES_DIFFER]),
    Case('arctan2', ref=np.arctan2, inputs=[f(3, 4), f(3, 4, avoid=(0,), gap=0.4)], elastic=True,
         cls='math.trigonometric.Arctan2', label='arctan2', bad=[_SHAPES_DIFFER]),
    Case('fmod', ref=np.fmod, inputs=[f(3, 4, lo=0.1, hi=0.9), f(3, 4, lo=1.1, hi=1.9)],
         calls=[call(c([7.3, -7.3, 5.5]), c([2.0, 2.0, -3.0]))], elastic=True,
         cls='math.fmod.Fmod', label='fmod', bad=[_DTYPES_DIFFER, _SHAPES_DIFFER]),
    Case('linear_interpolate', ref=lambda p, x, y: p * x + (1 - p) * y, tol=4,
         inputs=[f(3, 4, lo=0, hi=1), f(3, 4), f(3, 4)],
         calls=[call(f(), f(), f()), call(f(0), f(0), f(0))],
         cls='math.linear_interpolate.LinearInterpolate',
         bad=[(call(f(3), f(1), f(3)), InvalidType, 'shape'),
              (call(own('float16', 3), f(3), f(3)), InvalidType, 'dtype', 'numpy')]),
    Case('identity', ref=lambda *xs: xs, calls=[call(f(3, 4)), call(f(2), f(0), f())],
         dtypes=(*NUMBERS, 'bool'), cls='math.identity.Identity'),  # a view
    Case('batch_l2_norm_squared', ref=lambda x: np.square(x).reshape(len(x), -1).sum(1), tol=4,
         calls=[call(f(3, 4)), call(f(2, 3, 4)), call(f(2, 0))],
         cls='math.batch_l2_norm_squared.BatchL2NormSquared',
         bad=[(call(f(3)), InvalidType, 'ndim')]),
    Case('bias', ref=lambda x, y, axis=1: x + _aligned(x, y, axis), dtypes=NUMBERS, refuses=False,
         calls=[call(f(2, 3, 4), f(3)), call(f(2, 3, 4), f(3, 4)), call(f(2, 3), f(2), 0),
                call(f(2, 3), f(2, 3), axis=0), call(f(2, 3), f())],
         cls='math.basic_math.Add', label='_ + _', direct=False,
         bad=[(call(f(2, 3), f(4)), InvalidType, 'shape'), (call(f(2, 3), f(3), 2), ValueError, ''),
              (call(f(2, 3), f(3), -1), ValueError, 'axis')]),
    Case('scale', ref=lambda x, y, axis=1: x * _aligned(x, y, axis), dtypes=NUMBERS, refuses=False,
         calls=[call(f(2, 3, 4), f(3)), call(f(2, 3, 4), f(3, 4)), call(f(2, 3), f(2), 0),
                call(f(2, 3), f(2, 3), axis=0), call(f(2, 3), f())],
         cls='math.basic_math.Mul', label='_ * _', direct=False,
         bad=[(call(f(2, 3), f(4)), InvalidType, 'shape'),
              (call(f(2, 3), f(3), 2), ValueError, '')]),

    Case('matmul', ref=_matmul, tol=8, cls='math.matmul.MatMul',
         calls=[call(f(3, 4), f(4, 2)), call(f(4, 3), f(2, 4), True, True), call(f(4), f(4)),
                call(f(4), f(4, 3)), call(f(3, 4), f(4)), call(f(2, 3, 4), f(4)),
                call(f(4), f(2, 4, 3)), call(f(2, 1, 3, 4), f(5, 4, 2)),
                call(f(2, 4, 3), f(2, 4, 5), transa=True), call(f(4), f(3, 4), True, True),
                call(f(2, 3, 4), f(2, 3, 4), transb=True), call(f(3, 0), f(0, 2)),
                call(f(0, 3), f(3, 2)), call(f(0, 2, 3), f(3, 2))],
         attributes={'transa': False, 'transb': False, 'transc': False, 'dtype': None},
         bad=[(call(f(3, 4), f(3, 4)), InvalidType, r'a\.shape\[-1\] == b\.shape\[-2\]'),
              (call(f(), f(4)), InvalidType, 'ndim'), (call(f(4), f(3)), InvalidType, 'shape'),
              (call(f(2, 3, 4), f(3, 4, 5)), InvalidType, 'shape')]),
    Case('x @ z', fn=operator.matmul, ref=np.matmul, tol=8, cls='math.matmul.MatMul',
         calls=[call(f(3, 4), f(4, 2)), call(f(2, 3, 4), f(4))],
         bad=[(call(f(3, 4), f(3, 4)), InvalidType, 'shape')]),
    Case('batch_matmul', ref=_batch_matmul, tol=8, cls='math.matmul.BatchMatMul',
         calls=[call(f(2, 3, 4), f(2, 4, 5)), call(f(2, 4), f(2, 4), True),
                call(f(2, 4, 3), f(2, 5, 4), True, True), call(f(2, 3, 4), f(2, 4)),
                call(f(2, 3), f(2, 4), transb=True), call(f(0, 3, 4), f(0, 4, 5))],
         attributes={'transa': False, 'transb': False},
         bad=[(call(f(2, 4), f(2, 4)), InvalidType, 'shape'),
              (call(f(4), f(4)), InvalidType, 'ndim'),
              (call(f(2, 3, 4), f(3, 4, 5)), InvalidType, 'shape'),
              (call(f(2, 3, 4), f(2, 3, 4)), InvalidType, 'shape'),
              (call(f(2, 3, 4), own('float64', 2, 4, 3)), InvalidType, 'dtype', 'numpy')]),
    Case('tensordot', ref=np.tensordot, tol=8, cls='math.tensordot.TensorDot',
         calls=[call(f(3, 4), f(4, 5), 1), call(f(3, 4), f(3, 4)), call(f(3, 4), f(3, 5), (0, 0)),
                call(f(2, 3, 4), f(4, 3, 5), ((1, 2), (1, 0))), call(f(3, 4), f(2, 3), axes=0),
                call(f(3, 4), f(4, 5), ([-1], [0])), call(f(), f(2), 0), call(f(0, 4), f(4, 2), 1)],
         attributes={'axes': 1}, big=call(f(50, 60), f(60, 50), 1),
         bad=[(call(f(3, 4), f(4, 5)), ValueError, 'shape'),
              (call(f(3, 4), f(4, 5), 3), ValueError, 'dimensions'),
              (call(f(3, 4), f(4, 5), ((0,),)), ValueError, 'pair'),
              (call(f(3, 3), f(3, 3), ((0, 0), (0, 1))), ValueError, 'twice'),
              (call(f(3, 4), f(4, 5), ((2,), (0,))), ValueError, 'dimensions')]),
    Case('einsum', ref=np.einsum, tol=8, cls='math.einsum.EinSum',
         attributes=[{'in_subs': 'ij,jk', 'out_sub': 'ik'},
                     {'in_subs': '@ij,@jk', 'out_sub': '@ik'},
                     {'in_subs': 'AB,BC', 'out_sub': 'AC'}],
         calls=[call('ij,jk', f(3, 4), f(4, 2)), call('...ij,...jk->...ik', f(2, 3, 4), f(2, 4, 5)),
                call(f(3, 4), [0, 1], f(4, 5), [1, 2], [0, 2]), call('ii->i', f(3, 3)),
                call('ii', f(3, 3)), call('ij->ji', f(3, 4)), call('ba', f(2, 3)),
                call('ij,kl->ikjl', f(2, 3), f(4, 2)), call('i,i->i', f(3), f(3)),
                call('ijk,ikl->lji', f(2, 3, 4), f(2, 4, 5)), call('i...j->ji...', f(2, 3, 4)),
                call('ij,ik->k', f(2, 3), f(2, 4)), call('iij,jkk->ik', f(2, 2, 3), f(3, 4, 4)),
                call('iii->i', f(3, 3, 3)), call('...i,i', f(2, 3), f(3)), call(',i', f(), f(3)),
                call('ij', f(2, 3)), call('i,', f(0), f())],
         bad=[(call('ij,jk->ik', f(3, 4), f(3, 5)), InvalidType, 'shape'),
              (call('ii', f(3, 4)), InvalidType, 'shape'),
              (call('...,...->...', f(2, 3), f(3)), InvalidType, 'shape'),
              (call('ij->ik', f(3, 4)), ValueError, "'k' is in no input"),
              (call('ij,jk->iik', f(3, 4), f(4, 5)), ValueError, 'twice'),
              (call('...i->', f(2, 3)), ValueError, 'ellipsis'),
              (call('i,j', f(2)), ValueError, '2 subscripts'),
              (call('i?', f(2)), ValueError, r"'\?'"),
              (call('ij', f(3)), ValueError, 'fit'), (call(f(3)), TypeError, 'subscripts'),
              (call(f(3), 1), TypeError, 'subscripts')]),
    Case('einsum', ref=np.einsum, tol=8, cls='math.einsum.EinSum',
         calls=[call('ij,j,i', f(3, 4), f(4), f(3)),
                call('ij,jk,kl->il', f(2, 3), f(3, 4), f(4, 2)),
                call('ij,jk,kl,l->i', f(2, 3), f(3, 4), f(4, 2), f(2)),
                call('bi,ij,bj->b', f(5, 3), f(3, 4), f(5, 4)),
                call('i,i,i->i', f(3), f(3), f(3))]),
]  # fmt: skip
