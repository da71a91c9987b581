"""The parts of floating point numbers, and their neighbours; routines that return no arrays."""

import chainerx as chx
import numpy as np
from cases._table import BOOL, FLOATS, INTS, Case, call, f, i, own

INF, NAN = np.inf, np.nan

CASES = [
    *(
        Case(name, None, check=lambda xp, device, name=name, yes=yes: _check_kind(xp, name, yes))
        for name, yes in (('isrealobj', 'float32'), ('iscomplexobj', 'complex64'))
    ),
    Case(
        'real_if_close',
        None,
        check=lambda xp, device: _check_real_if_close(xp, device),
    ),
    Case(
        'modf',
        np.modf,
        [f(2, 3, avoid=(-1, 0, 1))],
        calls=[call(f(67)), call(f()), call(f(0, 2))],
        sig='x',
        dtypes=FLOATS,
        maybe=BOOL + INTS,
        unchecked=INTS,
        multi=tuple,
        out='float',
        diff=(),
    ),
    Case(
        'modf',
        lambda x: np.modf(x)[0],
        [f(2, 3, avoid=(-1, 0, 1))],
        dtypes=FLOATS,
        unchecked=BOOL + INTS,
        fn=lambda x: chx.modf(x)[0],
        border={-2.0: -0.0, INF: 0.0, -INF: -0.0, NAN: NAN, 2.5: 0.5},
    ),
    Case(
        'frexp',
        None,
        check=lambda xp, device: _check_frexp(xp, device),
    ),
    Case(
        'ldexp',
        np.ldexp,
        [f(2, 3), i(2, 3, lo=-3, hi=3)],
        calls=[
            call(f(67), i(1, lo=0)),
            call(f(2, 1), i(3, dtype='int8')),
            call(f(0), i(0)),
            call(f(), i()),
        ],
        sig='x1, x2',
        dtypes=FLOATS,
        maybe=BOOL + INTS,
        out='float',
        errors=[
            (call(f(2), own('float32', 2)), 'DtypeError', 'x2'),
            (call(f(2), i(3)), 'DimensionError'),
        ],
    ),
    *(
        Case(name, None, check=lambda xp, device, check=check: check(xp, device))
        for name, check in (
            ('nextafter', lambda xp, device: _check_nextafter(xp, device)),
            ('spacing', lambda xp, device: _check_spacing(xp, device)),
        )
    ),
    *(
        Case(name, None, check=lambda xp, device, name=name: _check_truth(xp, device, name))
        for name in ('allclose', 'array_equal', 'array_equiv')
    ),
]


def _neighbourhood(dtype):
    """Special numbers of a NumPy dtype and their neighbours."""
    values = [0.0, -0.0, 1.0, -1.0, 3.0, 0.1, 1e-7, -1e-7, INF, -INF, NAN]
    bits = {2: 'u2', 4: 'u4', 8: 'u8'}[np.dtype(dtype).itemsize]
    # The smallest numbers, the largest subnormal ones, and their successors.
    small = np.array([1, 2, 3], bits).view(dtype)
    tiny = np.array(float(np.ldexp(1.0, -14 if dtype == 'float16' else -126)), dtype).view(bits)
    edge = np.array([tiny - 1, tiny, tiny + 1], bits).view(dtype)
    with np.errstate(all='ignore'):
        return np.concatenate([np.array(values).astype(dtype), small, -small, edge, -edge])


def _check_nextafter(xp, device):
    for dtype in ('float16', 'float32', 'float64'):
        values = _neighbourhood(dtype)
        x1, x2 = (a.ravel() for a in np.meshgrid(values, values))
        y = xp.nextafter(xp.array(x1, device=device), xp.array(x2, device=device))
        with np.errstate(all='ignore'):
            e = np.nextafter(x1, x2)
        assert y.dtype == dtype
        np.testing.assert_array_equal(xp.to_numpy(y), e)
        if dtype != 'float16':  # NumPy returns -0.0 for it, C returns 0.0
            np.testing.assert_array_equal(np.signbit(xp.to_numpy(y)), np.signbit(e))
    x = xp.array([1.0, -1.0, 0.0], 'bfloat16', device=device)
    assert xp.nextafter(x, INF).astype('float64').tolist() == [1 + 2**-7, -1 + 2**-8, 2.0**-133]
    assert xp.nextafter(1, x[:1].astype('float32')).tolist() == [1.0]
    assert xp.nextafter(xp.array([2], device=device), 3).dtype == 'float32'
    assert not xp.nextafter(xp.ones(2, device=device).require_grad(), 3).is_backprop_required()


def _check_spacing(xp, device):
    half = xp.array([1.0, -1.0, 0.0, -0.0, INF], 'float16', device=device)
    expected = [2**-10, -(2**-10), 2**-24, 2**-24, NAN]
    np.testing.assert_array_equal(xp.to_numpy(xp.spacing(half)), np.array(expected, 'float16'))
    for dtype in ('float32', 'float64'):
        x = _neighbourhood(dtype)
        y = xp.spacing(xp.array(x, device=device))
        with np.errstate(all='ignore'):
            np.testing.assert_array_equal(xp.to_numpy(y), np.spacing(x))


def _check_kind(xp, name, yes):
    for dtype in ('float32', 'int32', 'complex64', 'bool'):
        expected = (dtype == 'complex64') == (yes == 'complex64')
        assert getattr(xp, name)(xp.zeros(2, dtype)) is expected


def _check_real_if_close(xp, device):
    x = xp.array([1 + 1e-8j, 2 - 1e-8j], 'complex64', device=device)
    y = xp.real_if_close(x)
    assert y.dtype == 'float32'
    assert y.tolist() == [1, 2]
    y[0] = 5
    assert x[0].item().real == 5
    assert xp.real_if_close(x, tol=0.01) is not x
    assert xp.real_if_close(x + 1j).dtype == 'complex64'
    real = xp.ones(3, device=device)
    assert xp.real_if_close(real).dtype == 'float32'


def _check_frexp(xp, device):
    import ml_dtypes

    values = [0.0, -0.0, 1.0, -3.5, 0.4999, 1e-40, 5e-324, 1e300, INF, -INF, NAN]
    for dtype in ('float16', ml_dtypes.bfloat16, 'float32', 'float64', 'int32'):
        with np.errstate(all='ignore'):
            n = (
                np.nan_to_num(values).clip(-9, 9).astype(dtype)
                if dtype == 'int32'
                else np.array(values).astype(dtype)
            )
        x = xp.array(n, device=device)
        fraction, power = xp.frexp(x)
        e, p = np.frexp(n.astype('float64'))
        assert power.dtype == 'int32'
        assert fraction.dtype == ('float32' if dtype == 'int32' else np.dtype(dtype))
        np.testing.assert_array_equal(xp.to_numpy(fraction).astype('f8'), e)
        np.testing.assert_array_equal(xp.to_numpy(power)[np.isfinite(e)], p[np.isfinite(e)])
    x = xp.array([3.0, -0.1], device=device).require_grad()
    fraction, power = xp.frexp(x)
    fraction.sum().backward()
    assert x.grad.tolist() == [0.25, 8.0]


def _check_truth(xp, device, name):
    function, reference = getattr(xp, name), getattr(np, name)
    a = np.array([1.0, 2.0, NAN], 'float32')
    for other in (a, a[:2], a * np.float32(1.000001), a.reshape(3, 1), a[::-1].copy(), a + 1):
        for options in ({}, {'equal_nan': True}) if name != 'array_equiv' else ({},):
            if name == 'allclose' and other.shape != a.shape:
                continue
            got = function(xp.array(a, device=device), xp.array(other, device=device), **options)
            assert got is bool(reference(a, other, **options)), (name, other, options)
    empty = xp.zeros((0, 3), device=device)
    assert function(empty, empty) is True
    if name != 'allclose':
        flags = xp.array([True, False], device=device)
        assert function(flags, xp.array([1, 0], device=device)) is True
        assert function(flags, xp.array([1, 2], device=device)) is False
