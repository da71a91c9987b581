"""Fourier transforms."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx import _core

from chainer import variable
from chainer._base.docstrings import documented_like
from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike

_METHODS = {'fft': _core._fft, 'ifft': _core._ifft}


class FFT(BuiltinFunction):
    """See `fft` and `ifft`."""

    def _prepare(self) -> None:
        if self.method not in _METHODS:
            raise ValueError(f"FFT: method is {self.method!r}, expected 'fft' or 'ifft'")

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('real', 'imag'))
        real, imag = in_types
        type_check.expect(real.dtype.kind == 'f', real.ndim > 0, real.shape == imag.shape)
        type_check.expect(real.dtype == imag.dtype)

    @staticmethod
    def compose(
        real: chainerx.ndarray, imag: chainerx.ndarray, *, method: str
    ) -> tuple[chainerx.ndarray, chainerx.ndarray]:
        if real.dtype != imag.dtype:  # only where types are not checked
            dtype = chainerx.result_type(real, imag)
            real, imag = real.astype(dtype), imag.astype(dtype)
        return _METHODS[method](real, imag)


def _parts(name: str, x: tp.Sequence[VariableLike]) -> tuple[VariableLike, VariableLike]:
    if isinstance(x, (tuple, list)) and len(x) != 2:
        raise ValueError(f'{name}: x has length {len(x)}, expected a real and an imaginary part')
    real, imag = x
    return real, imag


def fft(x: tp.Sequence[VariableLike]) -> tuple[variable.Variable, variable.Variable]:
    """The discrete Fourier transform along the last axis.

    Args:
        x (tuple of Variable or array): Real and imaginary parts, of one shape and float dtype.

    Returns:
        tuple of Variable: Real and imaginary parts, of shape and dtype of these. Differentiable,
        any order.

    Raises:
        InvalidType: If shapes or dtypes do not fit.
        ValueError: If the axis is empty, or ``x`` has not two parts.
    """
    return FFT.call(*_parts('fft', x), method='fft')


@documented_like(fft)
def ifft(x: tp.Sequence[VariableLike]) -> tuple[variable.Variable, variable.Variable]:
    """The inverse of the discrete Fourier transform along the last axis."""
    return FFT.call(*_parts('ifft', x), method='ifft')
