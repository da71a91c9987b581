"""Every routine that NumPy also has, against NumPy, on one thread.

Each line of a group is a statement that both libraries run, with ``xp`` for either of them. The
groups differ in their arguments, of n = 1000 and a million elements each.
"""

import chainerx
import numpy as np
from harness import main

# x, y: floats between 0.05 and 0.95
UNARY = """
    abs negative positive sign square sqrt cbrt reciprocal exp exp2 expm1 log log2 log10 log1p
    sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arctanh floor ceil trunc rint round
    fix isnan isinf isfinite signbit sinc i0 nan_to_num deg2rad rad2deg logical_not angle real
    imag conj spacing copy
"""
BINARY = """
    add subtract multiply divide floor_divide remainder fmod power maximum minimum fmax fmin
    arctan2 hypot logaddexp logaddexp2 copysign nextafter heaviside greater less equal
    logical_and logical_xor isclose divmod
"""
# A, B: square matrices of floats
REDUCTIONS = """
    sum prod max min mean std var argmax argmin any all median ptp cumsum cumprod count_nonzero
    nansum nanprod nanmean nanstd nanvar nanmax nanmin nanmedian nanargmax nanargmin average
"""
MATRICES = """
    xp.quantile(A, 0.3)
    xp.percentile(A, 30, axis=0)
    xp.quantile(A, [0.1, 0.5, 0.9])
    A.T.copy()
    A.astype('float64')
    A.astype('int32')
    xp.concatenate([A, B])
    xp.concatenate([A, B], axis=1)
    xp.stack([A, B], axis=-1)
    xp.block([[A, B], [B, A]])
    xp.array_split(A, 5)
    xp.tile(A, (2, 2))
    xp.repeat(A, 2)
    xp.repeat(A, 3, axis=1)
    xp.roll(A, 3)
    xp.roll(A, 3, axis=1)
    xp.flip(A).copy()
    xp.rot90(A).copy()
    xp.pad(A, 2)
    xp.pad(A, 2, mode='edge')
    xp.pad(A, 2, mode='reflect')
    xp.pad(A, 2, mode='wrap')
    xp.pad(A, 2, mode='mean')
    xp.pad(A, 2, mode='maximum')
    xp.pad(A, 2, mode='linear_ramp')
    xp.diff(A)
    xp.diff(A, axis=0)
    xp.gradient(A)
    xp.trapezoid(A)
    xp.cov(A[:50])
    xp.corrcoef(A[:50])
    xp.tril(A)
    xp.triu(A)
    xp.diag(A)
    xp.trace(A)
    xp.outer(A[0], B[0])
    xp.kron(A[:8, :8], B[:16, :16])
    xp.vdot(A, B)
    xp.vecdot(A, B)
    A @ B[0]
    A[0] @ B
    xp.cross(A[:, :3], B[:, :3])
    xp.einsum('ij->i', A)
    xp.einsum('ij,ij->', A, B)
    xp.einsum('ii', A)
    xp.where(A > 0.5, A, B)
    xp.where(A > 0.5, A, 0)
    xp.clip(A, 0.2, 0.7)
    xp.nonzero(A > 0.5)
    xp.argwhere(A > 0.5)
    xp.flatnonzero(A > 0.5)
    A[A > 0.5]
    xp.compress(A[0] > 0.5, A, axis=1)
    xp.select([A > 0.7, A > 0.4], [A, B], 0)
    xp.array_equal(A, A)
    xp.allclose(A, A)
    xp.sort(A, axis=0)
    xp.sort(A, axis=1)
    xp.sort(A, axis=None)
    xp.argsort(A, axis=1)
    xp.partition(A, 5, axis=1)
    xp.argpartition(A, 5, axis=1)
    xp.full(A.shape, 2.0, 'float32')
    xp.zeros(A.shape, 'float32')
    xp.ones(A.shape, 'float32')
    xp.full_like(A, 3)
    xp.eye(len(A), dtype='float32')
    xp.tri(len(A), dtype='float32')
    xp.arange(A.size)
    xp.linspace(0, 1, A.size, dtype='float32')
    xp.logspace(0, 1, A.size, dtype='float32')
    xp.meshgrid(A[0], B[0])
    xp.indices(A.shape)
    xp.vander(A[0], 4)
    xp.broadcast_to(A[0], A.shape).copy()
    xp.histogram(A, 10)
    xp.digitize(A, xp.linspace(0, 1, 20, dtype='float32'))
    xp.interp(A, xp.linspace(0, 1, 20), xp.linspace(0, 2, 20))
    xp.convolve(A.ravel(), B[0, :9])
    xp.convolve(A.ravel(), B.ravel()[:100], 'same')
    xp.unwrap(A)
    xp.polyval(B[0, :4], A)
    xp.unique(A)
    xp.union1d(A, B)
    xp.intersect1d(A, B)
    xp.setdiff1d(A, B)
    xp.setxor1d(A, B)
    xp.resize(A, (len(A) * 2, len(A)))
    xp.append(A, B)
    xp.insert(A.ravel(), 3, 1.0)
    xp.delete(A.ravel(), 3)
    xp.delete(A, [1, 3], axis=0)
    xp.expand_dims(A, 0)
    A[::2]
    A + 1
    A + B[0]
    A + B[:, :1]
    A**2
    A**3
    1 / A
    A % 0.3
    xp.linalg.norm(A)
    xp.linalg.norm(A, axis=1)
    xp.linalg.matrix_power(A[:20, :20], 5)
    xp.linalg.pinv(A[:20, :20])
    xp.linalg.lstsq(A[:30, :10], B[:30, 0], rcond=None)
    xp.linalg.eig(A[:20, :20])
    xp.fft.fft(A)
    xp.fft.rfft(A)
    xp.fft.fftshift(A)
    xp.take_along_axis(A, xp.argsort(A[:, :5], axis=1), axis=1)
    xp.may_share_memory(A, B)
    A.sum(dtype='float64')
    A.var(ddof=1)
    A[0].tolist()
"""
# T, E: stacks of matrices of 3 x 3 and 8 x 8, W: four long rows, R: rows of 100, of a given dtype
STACKS = """
    xp.argmax(T, 0)
    xp.argmax(T, 1)
    xp.argmax(T, 2)
    xp.argmin(T, 1)
    xp.max(T, 1)
    xp.sum(T, 1)
    xp.cumsum(T, 1)
    xp.argmax(E, 1)
    xp.argmin(E, 2)
    xp.argmax(R, 1)
    xp.max(W, 0)
    xp.min(W, 0)
    xp.any(W, 0)
    xp.argmax(W, 0)
    xp.argmax(W, 1)
"""
STACKS_OF_FLOATS = """
    xp.matmul(T, T)
    xp.matmul(T, T[..., :1])
    xp.matmul(E, E)
    xp.matmul(E, E[..., :1])
    xp.matmul(E.swapaxes(1, 2), E[..., :1])
    xp.einsum('bij,bj->bi', T, T[..., 0])
    xp.einsum('bij,bj->bi', E, E[..., 0])
"""
# x: floats, s: x sorted; t, u: 1000 and 100,000 sorted points
TABLES = """
    xp.interp(x, t[::50], t[::50])
    xp.interp(x, t, t)
    xp.interp(s, t[::50], t[::50])
    xp.interp(s, t, t)
    xp.interp(s, u, u)
"""
# p, q: integers from 0 to 6 and 1 to 5, wide: below n
INTEGERS = """
    p + q
    p * q
    p // q
    p % q
    p**q
    p / q
    p & q
    p << q
    p >> q
    ~p
    p > q
    abs(p)
    xp.maximum(p, q)
    xp.gcd(p, q)
    xp.bitwise_count(p)
    xp.sqrt(p)
    p.sum()
    p.max()
    p.argmax()
    p.mean()
    p.std()
    p.any()
    xp.cumsum(p)
    xp.count_nonzero(p)
    xp.sort(wide)
    xp.argsort(wide)
    xp.unique(p)
    xp.unique(p, return_counts=True)
    xp.bincount(p)
    xp.median(wide)
    xp.isin(wide, q[:100])
    xp.searchsorted(xp.arange(100, dtype=p.dtype), p)
    xp.where(p > 3, p, q)
    p.astype('float32')
    p.astype('bool')
"""
# The same with narrow integers.
NARROW_INTEGERS = """
    p + q
    ~p
    p > q
    p.sum()
    p.max()
    p.argmax()
    p.astype('float32')
"""
# x: floats, i: indices into it, m: booleans
INDICES = """
    xp.take(x, i)
    x[i]
    x[i] = 0.5
    xp.put(x, i, 0.5)
    x[m]
    x[m] = 0.5
    xp.place(x, m, [0.1, 0.2])
    xp.putmask(x, m, 0.3)
    xp.extract(m, x)
    xp.packbits(m)
    m & m
    ~m
    m.sum()
    m.any()
    m.max()
    m.mean()
    m.astype('float32')
    xp.lexsort((x, i))
    xp.searchsorted(xp.sort(x[:100]), x)
"""
# x, y: arrays of a given dtype
NUMBERS = """
    x + y
    x * y
    x / y
    abs(x)
    xp.exp(x)
    xp.log(x)
    xp.sqrt(x)
    xp.sin(x)
    xp.tanh(x)
    x.sum()
    x.mean()
    x.std()
    xp.cumsum(x)
    xp.conj(x)
    xp.square(x)
    xp.reciprocal(x)
    x == y
    xp.dot(x, y)
    xp.sort(x)
    xp.isnan(x)
    x.astype('bool')
    x.copy()
    xp.convolve(x, y[:9])
"""


def _lines(text):
    return [line.strip() for line in text.strip().splitlines()]


def _groups(n):
    """Name of a group, its statements, and its arguments."""
    rng = np.random.default_rng(0)
    x, y = (rng.random((2, n)) * 0.9 + 0.05).astype('float32')
    side = int(n**0.5)
    matrices = {k: a[: side * side].reshape(side, side) for k, a in (('A', x), ('B', y))}
    functions = [f'xp.{name}(x)' for name in UNARY.split()]
    functions += [f'xp.{name}(x, y)' for name in BINARY.split()]
    yield '', functions, {'x': x, 'y': y}
    yield '', ['xp.arccosh(x)'], {'x': x + 1}
    reductions = [
        f'xp.{name}(A, axis={axis})' for name in REDUCTIONS.split() for axis in (None, 0, 1)
    ]
    yield '', reductions + _lines(MATRICES), matrices
    p, q, wide = rng.integers(0, 7, n), rng.integers(1, 6, n), rng.integers(0, n, n)
    for dtype in ('int32', 'int64'):
        arguments = {'p': p.astype(dtype), 'q': q.astype(dtype), 'wide': wide.astype(dtype)}
        yield dtype, _lines(INTEGERS), arguments
    for dtype in ('int8', 'uint8', 'int16'):
        yield dtype, _lines(NARROW_INTEGERS), {'p': p.astype(dtype), 'q': q.astype(dtype)}
    yield '', _lines(INDICES), {'x': x, 'i': wide, 'm': x < 0.5}
    for dtype in ('float32', 'float64', 'int32', 'int64', 'bool'):
        items = x > 0.9 if dtype == 'bool' else wide.astype(dtype)
        stacks = {
            'T': items[: n // 9 * 9].reshape(-1, 3, 3),
            'E': items[: n // 64 * 64].reshape(-1, 8, 8),
            'W': items.reshape(4, -1),
            'R': items.reshape(-1, 100),
        }
        yield dtype, _lines(STACKS), stacks
        if dtype.startswith('float'):
            yield dtype, _lines(STACKS_OF_FLOATS), stacks
            tables = {
                's': np.sort(x),
                't': np.linspace(0, 1, 1000),
                'u': np.linspace(0, 1, 100_000),
            }
            yield (
                dtype,
                _lines(TABLES),
                {k: a.astype(dtype) for k, a in (tables | {'x': x}).items()},
            )
    yield 'float64', _lines(NUMBERS), {'x': x.astype('float64'), 'y': y.astype('float64')}
    numbers = {'x': (x + 1j * y).astype('complex64'), 'y': (y + 1j * x).astype('complex64')}
    yield 'complex64', _lines(NUMBERS), numbers


def rows(bench):
    for n in (1000, 1_000_000):
        for group, statements, arguments in _groups(n):
            ours = {k: chainerx.array(a) for k, a in arguments.items()}
            theirs = {k: a.copy() for k, a in arguments.items()}
            for statement in statements:
                bench.row(
                    ', '.join(s for s in (f'`{statement}`', group, f'{n:,}') if s),
                    {'chainerx': statement, 'numpy': statement},
                    {'chainerx': ours | {'xp': chainerx}, 'numpy': theirs | {'xp': np}},
                    against='numpy',
                )


if __name__ == '__main__':
    main(rows, 'routines', rounds=12)
