"""chainerx.fft, and complex numbers and their parts."""

import chainerx as chx
import numpy as np
from cases._table import ALL, BOOL, REAL, Case, c, call, f


def _complex(dtype):
    return 'complex128' if dtype in ('float64', 'complex128') else 'complex64'


def _real(dtype):
    return 'float64' if dtype in ('float64', 'complex128') else 'float32'


def _parts(y):
    """Both parts of complex numbers in one array, which allows numerical derivatives."""
    xp = chx if isinstance(y, chx.ndarray) else np
    return xp.stack([xp.real(y), xp.imag(y)])


_NORM = (call(f(4), None, -1, 'other'), 'ValueError', "norm is 'other'")
_ALONG = 'a, n=None, axis=-1, norm=None'
_OVER = 'a, s=None, axes=None, norm=None'
_OTHERS = tuple(sorted({*ALL} - {'float32', 'float64'}))
_TWO = 'a, s=None, axes=(-2, -1), norm=None'


def _along(name, **kw):
    """One axis: lengths that the library has loops for, a prime that it has none for, and what
    the split of one long row into many short ones sees; too many and too few numbers."""
    half = name in ('irfft', 'hfft')
    from_real = name in ('rfft', 'ihfft')
    return Case(
        f'fft.{name}',
        getattr(np.fft, name),
        sig=_ALONG,
        calls=[
            call(f(6)),
            call(f(3, 5)),
            call(f(5, 3), None, 0),
            call(f(2, 7, 3), 9, axis=1),
            call(f(2, 7, 3), 4, 1, 'ortho'),
            call(f(2, 8), norm='forward'),
            call(f(1, 37), n=37),
            call(f(0, 4)),
            call(f(3, 2, 4), None, -2, 'backward'),
        ],
        dtypes=ALL if not from_real else BOOL + REAL,
        out=lambda *d: (_real if half else _complex)(d[0]),
        errors=[
            _NORM,
            (call(f(4), 0), 'DimensionError', '0 numbers along axis 0'),
            (call(f(4), -2), 'DimensionError', '-2 numbers'),
            (call(f(2, 0)), 'DimensionError', 'axis 1 of shape'),
            (call(f(4), None, 1), 'DimensionError'),
            (call(f()), 'DimensionError', 'no axes'),
        ],
        tol=16,
        gtol=16,
        order=0,
        diff=(),
        big=call(f(3, 50000)),
        **kw,
    )


def _gradients(name, *args, real_input=False, real_output=False):
    """Derivatives of real functions of real numbers."""

    def make(function, xp):
        def fn(a):
            z = a if real_input else a[0] + a[1] * 1j
            y = function(z, *args)
            return y if real_output else _parts(y)

        return fn

    def ours(*xs):  # looked up late, since Chainer v7, which lacks it, reads the table, too
        return getattr(chx.fft, name)(*xs)

    theirs = getattr(np.fft, name)
    return Case(
        f'fft.{name}',
        make(theirs, np),
        sig='a',
        calls=[call(f(5, 4) if real_input else f(2, 5, 4)), call(f(2, 3, 5))],
        dtypes=('float32', 'float64'),
        tol=16,
        gtol=16,
        unchecked=_OTHERS,
        layouts=False,
        huge=False,
        fn=make(ours, chx),
    )


def _over(name, sig=_OVER):
    from_real = name in ('rfftn', 'rfft2')
    half = name in ('irfftn', 'irfft2')
    return Case(
        f'fft.{name}',
        getattr(np.fft, name),
        sig=sig,
        calls=[
            call(f(3, 4)),
            call(f(2, 3, 5)),
            call(f(4, 3, 2), axes=(0, 1)),
            call(f(4, 3), (2, 5), (0, 1), 'ortho'),
            call(f(2, 4, 3), (3, 4), (1, 2), norm='forward'),
            call(f(0, 3, 4), axes=(1, 2)),
            *(call(f(4, 5), s, (0, 1)) for s in ((-1, 6), (3, -1), (-1, -1))),
        ],
        dtypes=ALL if not from_real else BOOL + REAL,
        out=lambda *d: (_real if half else _complex)(d[0]),
        errors=[
            (call(f(3, 4), None, (0, 1), 'other'), 'ValueError', 'norm'),
            (call(f(3, 4), (2,), (0, 1)), 'DimensionError', 's has 1 lengths'),
            (call(f(3, 4), None, (0, 2)), 'DimensionError'),
            (call(f(3, 4), (0, 2), (0, 1)), 'DimensionError', '0 numbers'),
        ],
        tol=16,
        order=0,
        diff=(),
        big=call(f(300, 400)),
    )


def _freq(name):
    return Case(
        f'fft.{name}',
        lambda n, d=1.0, dtype=None, device=None: getattr(np.fft, name)(n, d),
        sig='n, d=1.0, dtype=None, device=None',
        calls=[call(1), call(4), call(5, 0.5), call(8, d=2.0, dtype='float64')],
        dtypes=('float32',),
        out='float32',
        errors=[
            (call(0), 'DimensionError', 'n is 0'),
            (call(4, 1.0, 'int32'), 'DtypeError', 'int32'),
        ],
        order=0,
        tol=4,
    )


def _shift(name):
    return Case(
        f'fft.{name}',
        getattr(np.fft, name),
        sig='x, axes=None',
        calls=[call(f(5)), call(f(3, 4)), call(f(3, 4), 1), call(f(2, 5, 3), axes=(0, -2))],
        dtypes=ALL,
        errors=[(call(f(3), 1), 'DimensionError')],
    )


def _part(name, **kw):
    return Case(name, getattr(np, name), [f(2, 3)], sig='x', dtypes=ALL, elastic=True, **kw)


CASES = [
    *(_along(name) for name in ('fft', 'ifft', 'rfft', 'irfft', 'hfft', 'ihfft')),
    *(_gradients(name) for name in ('fft', 'ifft')),
    *(_gradients(name, real_input=True) for name in ('rfft', 'ihfft', 'rfft2')),
    *(_gradients(name, real_output=True) for name in ('irfft', 'hfft', 'irfft2')),
    *(_gradients(name, 7, 0, 'ortho', real_output=True) for name in ('irfft', 'hfft')),
    _gradients('rfft', 6, -2, 'ortho', real_input=True),
    _gradients('fftn', None, None, 'forward'),
    *(_over(name) for name in ('fftn', 'ifftn', 'rfftn', 'irfftn')),
    *(_over(name, _TWO) for name in ('fft2', 'ifft2', 'rfft2', 'irfft2')),
    *(_freq(name) for name in ('fftfreq', 'rfftfreq')),
    *(_shift(name) for name in ('fftshift', 'ifftshift')),
    *(_part(name, out='abs', order=0, diff=()) for name in ('real', 'imag')),
    *(_part(name, order=0, diff=()) for name in ('conj', 'conjugate')),
    Case(
        'conj',
        lambda a: _parts(np.conj((a[0] + a[1] * 1j) ** 3) * (a[0] + a[1] * 1j)),
        sig='a',
        calls=[call(f(2, 3)), call(c([[0.5], [-0.25]]))],
        dtypes=('float32', 'float64'),
        tol=4,
        gtol=8,
        unchecked=_OTHERS,
        layouts=False,
        huge=False,
        fn=lambda a: _parts(chx.conj((a[0] + a[1] * 1j) ** 3) * (a[0] + a[1] * 1j)),
    ),
]
