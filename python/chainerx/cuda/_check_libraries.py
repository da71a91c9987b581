"""The part of the check that has what other libraries of NVIDIA compute."""

from __future__ import annotations

import typing as tp

import numpy as np

import chainerx
from chainerx.cuda._check_layers import outputs_and_gradients

if tp.TYPE_CHECKING:
    from chainerx.cuda._check import Checks

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
