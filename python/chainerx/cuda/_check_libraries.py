"""The part of the check that has what other libraries of NVIDIA compute."""

from __future__ import annotations

import typing as tp

import numpy as np

import chainerx
from chainerx.cuda._check_layers import outputs_and_gradients

if tp.TYPE_CHECKING:
    from chainerx.cuda._check_values import Checks

Array = tp.Any

#: Sizes along the axis: powers of two, small and large prime factors.
FOURIER = [
    ('fft', (70, 64), -1),
    ('fft', (70, 12, 3), 1),
    ('ifft', (77, 5), 0),
    ('fft', (3, 1009), -1),
    ('rfft', (60, 33), -1),
    ('rfft', (60, 7, 5), 1),
    ('irfft', (9, 30, 5), 1),
    ('hfft', (21, 13), 0),
    ('ihfft', (6, 100), -1),
    ('fft', (5, 1), -1),
]


def check_fourier(checks: Checks) -> None:
    random = np.random.default_rng(11)
    for dtype, tolerance in (('complex64', 1e-5), ('complex128', 1e-13)):
        for name, shape, axis in FOURIER:
            x = random.normal(size=(*shape, 2)).view('complex128')[..., 0].astype(dtype)
            if name in ('rfft', 'ihfft'):
                x = x.real.copy()

            def transform(x: Array, name: str = name, axis: int = axis) -> list[Array]:
                y = getattr(chainerx.fft, name)(x, axis=axis, norm='ortho')
                return [y.real, y.imag] if y.dtype.kind == 'c' != x.dtype.kind else [y]

            compute = outputs_and_gradients(transform)
            checks.close(f'{name} {dtype} {shape}', compute, tolerance, x)


def _svd(a: Array) -> Array:
    u, s, vh = chainerx.linalg.svd(a, full_matrices=False)
    return chainerx.concatenate(
        [s.ravel().astype(a.dtype), chainerx.matmul(u * s[..., None, :], vh).ravel()]
    )


def _full_svd(a: Array) -> Array:
    """The factors are unitary, and give the matrix."""
    u, s, vh = chainerx.linalg.svd(a)
    k = s.shape[-1]
    parts = [
        chainerx.matmul(u, u.conj().swapaxes(-1, -2)),
        chainerx.matmul(vh, vh.conj().swapaxes(-1, -2)),
        chainerx.matmul(u[..., :k] * s[..., None, :], vh[..., :k, :]),
    ]
    return chainerx.concatenate([part.ravel() for part in parts])


def _qr(a: Array) -> Array:
    q, r = chainerx.linalg.qr(a)
    product = chainerx.matmul(q, r)
    return chainerx.concatenate([chainerx.abs(r).ravel().astype(a.dtype), product.ravel()])


def _eigh(a: Array) -> Array:
    w, v = chainerx.linalg.eigh(a)
    product = chainerx.matmul(v * w[..., None, :], v.conj().swapaxes(-1, -2))
    return chainerx.concatenate([w.ravel().astype(a.dtype), product.ravel()])


def _eig(a: Array) -> Array:
    w, v = chainerx.linalg.eig(a)
    return chainerx.matmul(v * w[..., None, :], chainerx.linalg.inv(v))


def check_linalg(checks: Checks) -> None:
    random = np.random.default_rng(13)
    for dtype, tolerance in (
        ('float32', 1e-4),
        ('float64', 1e-11),
        ('complex64', 1e-4),
        ('complex128', 1e-11),
    ):

        def draw(*shape: int, dtype: str = dtype) -> Array:
            z = random.normal(size=(*shape, 2)).view('complex128')[..., 0]
            return (z if dtype.startswith('c') else z.real).astype(dtype)

        for n in (7, 70):
            a = (draw(3, n, n) / n**0.5 + np.eye(n)).astype(dtype)
            positive = np.matmul(a, a.conj().swapaxes(1, 2)) + np.eye(n, dtype=dtype)
            checks.close(f'solve {dtype} {n}', chainerx.linalg.solve, tolerance, a, draw(3, n, 5))
            checks.close(f'inv {dtype} {n}', chainerx.linalg.inv, tolerance, positive)
            checks.close(f'det {dtype} {n}', chainerx.linalg.det, tolerance, a)
            checks.close(f'cholesky {dtype} {n}', chainerx.linalg.cholesky, tolerance, positive)
        for shape in ((2, 9, 4), (4, 9), (6, 6)):
            for name, function in (('svd', _svd), ('full svd', _full_svd), ('qr', _qr)):
                checks.close(f'{name} {dtype} {shape}', function, tolerance, draw(*shape))
        a = draw(2, 8, 8)
        checks.close(f'eigh {dtype}', _eigh, tolerance, a + a.conj().swapaxes(1, 2))
        checks.close(f'eig {dtype}', _eig, tolerance, a)
