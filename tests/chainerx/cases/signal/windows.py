"""Window functions, and packing of bits into bytes."""

import numpy as np
from cases._table import BOOL, INTS, Case, call, f, i


def _window(name, *extra):
    ref = getattr(np, name)
    return Case(
        name,
        lambda *args, dtype=None, device=None: ref(*args).astype(dtype or 'float32'),
        calls=[
            *(call(m, *extra) for m in (-3, 0, 1, 2, 3, 8, 129)),
            call(6, *extra, dtype='float64'),
        ],
        out='float32',
        order=0,
        tol=4,
        huge=False,
        errors=[
            (call(1.5, *extra), 'TypeError', 'M'),
            (call(2**62, *extra), 'ChainerxError'),
            (call(3, *extra, device='no'), 'ChainerxError', 'no'),
        ],
    )


def _check_kaiser(xp, device):
    for beta in (0.0, 5.0, 14.0, -3.0, 600.0):
        y = xp.to_numpy(xp.kaiser(9, beta, dtype='float64', device=device))
        np.testing.assert_allclose(y, np.kaiser(9, beta), rtol=1e-12)
    # NumPy returns nan, since its Bessel function overflows.
    assert xp.kaiser(5, 1e4, dtype='float64', device=device).tolist() == [0, 0, 1, 0, 0]
    assert np.isnan(xp.to_numpy(xp.kaiser(3, np.nan, device=device))).all()


BITS = [
    *(call(f(*shape)) for shape in ((3, 11), (16,), (1,), (0,), (2, 0), ())),
    *(call(f(3, 11, 2), axis) for axis in (0, 1, -1)),
    call(f(3, 9), 1, 'little'),
    call(f(0, 3), 0),
]

CASES = [
    *(_window(name) for name in ('bartlett', 'blackman', 'hamming', 'hanning')),
    _window('kaiser', 8.5),
    Case('kaiser', check=_check_kaiser),
    Case(
        'packbits',
        lambda a, axis=None, bitorder='big': np.packbits(a != 0, axis, bitorder),
        sig="a, axis=None, bitorder='big'",
        calls=BITS,
        dtypes=BOOL + INTS,
        out='uint8',
        order=0,
        errors=[
            (call(i(2), 1), 'DimensionError', '1'),
            (call(i(2), 0, 'x'), 'ValueError', 'bitorder'),
            (call(i(), 1), 'DimensionError'),
        ],
    ),
    Case(
        'unpackbits',
        lambda a, axis=None, count=None, bitorder='big': np.unpackbits(
            a.astype('u1'), axis, count, bitorder
        ),
        sig="a, axis=None, count=None, bitorder='big'",
        calls=[
            call(i(2, 3, hi=255, dtype='uint8')),
            call(i(2, 3, hi=255, dtype='uint8'), 0),
            call(i(2, 3, hi=255, dtype='uint8'), 1, 5),
            call(i(2, 3, hi=255, dtype='uint8'), 1, -5),
            call(i(2, 3, hi=255, dtype='uint8'), -1, 30, 'little'),
            call(i(hi=255, dtype='uint8')),
            call(i(0, dtype='uint8')),
            call(i(2, 0, dtype='uint8'), 1),
        ],
        out='uint8',
        order=0,
        errors=[
            (call(i(2, dtype='int32')), 'DtypeError', 'int32'),
            (call(i(2, dtype='uint8'), 1), 'DimensionError', '1'),
            (call(i(2, dtype='uint8'), 0, -17), 'ValueError', '-17'),
            (call(i(2, dtype='uint8'), bitorder='x'), 'ValueError', 'bitorder'),
        ],
    ),
]
