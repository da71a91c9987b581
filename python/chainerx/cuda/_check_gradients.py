"""The part of the check that differentiates: rows of the op table, up to rounding."""

from __future__ import annotations

import typing as tp

import numpy as np

import chainerx
from chainerx.cuda._check_layers import outputs_and_gradients

if tp.TYPE_CHECKING:
    from chainerx.cuda._check_values import Checks

Array = tp.Any
_TOLERANCES: tp.Final = (('float32', 1e-5), ('float64', 1e-13))

#: Functions of numbers between 0 and 1; `arccosh` gets larger ones.
_UNARY: tp.Final = (
    'exp expm1 exp2 log log1p log2 log10 sqrt cbrt square reciprocal negative abs sin cos tan '
    'arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh sigmoid relu softplus'
)
_SPECIAL: tp.Final = 'erf erfc erfcx ndtr ndtri gammaln expit logit i0 i1'
_BINARY: tp.Final = (
    'add subtract multiply divide power maximum minimum arctan2 hypot logaddexp fmod'
)
_REDUCTIONS: tp.Final = 'sum prod max min mean var std logsumexp cumsum cumprod'
_SHAPES: tp.Final[dict[str, tp.Callable[[Array], Array]]] = {
    'reshape': lambda x: x.reshape(-1, 5) * 2,
    'transpose': lambda x: chainerx.transpose(x, (1, 0, 2)) * 2,
    'concatenate': lambda x: chainerx.concatenate([x, x * 2], axis=1),
    'stack': lambda x: chainerx.stack([x, x * 3], axis=2),
    'split': lambda x: chainerx.split(x, 2, axis=0)[1] * 2,
    'broadcast': lambda x: chainerx.broadcast_to(x, (2, *x.shape)) * 2,
    'slices': lambda x: x[::-2, 1:, ::3] * 2,
    'take': lambda x: chainerx.take(x, chainerx.array([2, 0, 2], device=x.device), axis=1),
    'where': lambda x: chainerx.where(x > 0.5, x, x * 3),
    'pad': lambda x: chainerx.pad(x, 2),
    'roll': lambda x: chainerx.roll(x, 7) * 2,
    'tile': lambda x: chainerx.tile(x, 2),
    'repeat': lambda x: chainerx.repeat(x, 3, axis=1),
    'clip': lambda x: chainerx.clip(x, 0.3, 0.6),
    'sort': lambda x: chainerx.sort(x, axis=1) * 2,
    'max_pool': lambda x: chainerx.max_pool(x[None], 3, 2),
    'average_pool': lambda x: chainerx.average_pool(x[None], 3, 2),
}


def _as_list(function: tp.Callable[..., Array]) -> tp.Callable[..., Array]:
    return outputs_and_gradients(lambda *arrays: [function(*arrays)])


def check_gradients(checks: Checks) -> None:
    random = np.random.default_rng(2)
    for dtype, tolerance in _TOLERANCES:
        x, y = (random.uniform(0.05, 0.95, (64, 50)).astype(dtype) for _ in range(2))
        for room, names in ((chainerx, _UNARY), (chainerx.special, _SPECIAL)):
            for name in names.split():
                argument = x + 1 if name == 'arccosh' else x
                compute = _as_list(getattr(room, name))
                checks.close(f'gradient of {name} {dtype}', compute, tolerance, argument)
        for name in _BINARY.split():
            compute = _as_list(getattr(chainerx, name))
            checks.close(f'gradients of {name} {dtype}', compute, tolerance, x, y)
            checks.close(f'gradients of {name}, rows {dtype}', compute, tolerance, x, y[0])
        for name in _REDUCTIONS.split():
            for axis in (0, 1):

                def reduce(x: Array, name: str = name, axis: int = axis) -> Array:
                    return getattr(chainerx, name)(x, axis=axis)

                compute = _as_list(reduce)
                checks.close(f'gradient of {name} {dtype} {axis}', compute, tolerance, x)
        box = random.uniform(0, 1, (8, 9, 10)).astype(dtype)
        for name, function in _SHAPES.items():
            checks.close(f'gradient of {name} {dtype}', _as_list(function), tolerance, box)
    checks.compare('second gradient', _second, x, y)


def _second(x: Array, w: Array) -> Array:
    x.require_grad()
    y = chainerx.sum(chainerx.tanh(x * w) ** 2 / (1 + chainerx.exp(-x)))
    y.backward(enable_double_backprop=True)
    first = x.grad
    x.cleargrad()
    chainerx.sum(first * first).backward()
    return x.grad
