"""Inverse square roots of symmetric matrices.

They are computed on the host, in float64; gradients are made of products of matrices, and so have
gradients themselves.
"""

from __future__ import annotations

import typing as tp

import chainerx
import numpy as np
from chainerx._core import engine


def _swap(x: chainerx.ndarray) -> chainerx.ndarray:
    return x.transpose(0, 2, 1)


def _on_host(function: tp.Callable[..., np.ndarray]) -> tp.Callable[..., chainerx.ndarray]:
    """The function on stacks of matrices; NaN where one of its operands has something infinite."""

    def call(a: chainerx.ndarray, *others: chainerx.ndarray) -> chainerx.ndarray:
        matrices = [chainerx.to_numpy(x).astype(np.float64) for x in (a, *others)]
        finite = np.all([np.isfinite(x).all((1, 2)) for x in matrices], 0)
        result = np.full(a.shape, np.nan)
        if finite.any():
            with np.errstate(all='ignore'):
                result[finite] = function(*(x[finite] for x in matrices))
        return chainerx.array(result.astype(a.dtype), device=a.device)

    return call


@_on_host
def _compute_inverse_root(a: np.ndarray) -> np.ndarray:
    w, v = np.linalg.eigh(a)
    return (v * w[:, None, :] ** -0.5) @ v.transpose(0, 2, 1)


@_on_host
def _solve(s: np.ndarray, c: np.ndarray) -> np.ndarray:
    w, v = np.linalg.eigh(s)
    u = v.transpose(0, 2, 1)
    return v @ ((u @ c @ v) / (w[:, :, None] + w[:, None, :])) @ u


def _solve_gradient(
    gy: chainerx.ndarray,
    needed: tuple[bool, ...],
    inputs: tuple[chainerx.ndarray, ...],
    x: chainerx.ndarray,
) -> tuple[chainerx.ndarray | None, ...]:
    gc = sylvester(inputs[0], gy)
    return (-(gc @ _swap(x) + _swap(x) @ gc) if needed[0] else None, gc)


# The x with s @ x + x @ s = c, of a symmetric s.
sylvester = engine.WithGradient('sylvester', _solve, _solve_gradient, keeps='xy')


def _inverse_root_gradient(
    gy: chainerx.ndarray, _: tuple[bool, ...], inputs: None, p: chainerx.ndarray
) -> tuple[chainerx.ndarray, ...]:
    # A change da of a changes its root s by ds, where s @ ds + ds @ s = da, and p by -p @ ds @ p.
    # Both sides of the equation are multiplied by p, which is the inverse of s.
    pp = p @ p
    return (sylvester(p, -(pp @ ((gy + _swap(gy)) / 2) @ pp)),)


# a ** -0.5 of symmetric positive definite matrices.
inverse_root = engine.WithGradient(
    'inverse_root', _compute_inverse_root, _inverse_root_gradient, keeps='y'
)
