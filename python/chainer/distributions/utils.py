"""Formulas that distributions share."""

from __future__ import annotations

import math
import typing as tp

import chainerx
import numpy as np

from chainer import functions as F
from chainer import variable
from chainer.functions._elementwise import FloatBinary

if tp.TYPE_CHECKING:
    from chainer._typing import ArrayLike, NdArray, VariableLike

EULER = 0.57721566490153286060


def scalar_like(x: variable.Variable, value: float) -> NdArray:
    """A 0-d array of the dtype and on the device of ``x``."""
    return x.device.send(x.xp.full((), value, x.dtype))


def constant(values: ArrayLike) -> variable.Variable:
    """Of computed values: NumPy's operators give no array where there are no axes."""
    return variable.as_variable(np.asarray(values) if isinstance(values, np.generic) else values)


def choose(condition: VariableLike, x: variable.Variable, value: float) -> variable.Variable:
    """``x`` where the condition holds, ``value`` elsewhere."""
    return F.where(condition, x, scalar_like(x, value))


def xlogy(x: variable.Variable, y: variable.Variable) -> variable.Variable:
    """``x * log(y)``, and 0 where ``x`` is 0."""
    zero = (x.array == 0) & (y.array == 0)
    return x * F.log(choose(~zero, y, 1))


def _modified_xlogx(x: VariableLike) -> variable.Variable:
    """``x * log(x)``, and 0 at 0."""
    x = variable.as_variable(x)
    return x * F.log(choose(x.array != 0, x, 1))


def or_nan(x: variable.Variable, value: variable.Variable) -> variable.Variable:
    """``value``, and NaN where ``x`` is NaN."""
    return choose(x.array == x.array, value, math.nan)


def level(p: variable.Variable) -> variable.Variable:
    """Probabilities of which quantiles are asked: NaN where they are none."""
    return choose((p.array >= 0) & (p.array <= 1), p, math.nan)


class _LogBeta(FloatBinary):
    """See `lbeta`."""

    names = ('a', 'b')
    label = 'lbeta'
    compose = staticmethod(chainerx.special.betaln)


def lbeta(a: variable.Variable, b: variable.Variable) -> variable.Variable:
    """The logarithm of the beta function."""
    return _LogBeta.call(a, b)


# Of the powers of 1 / k, by Bernoulli numbers.
_ENTROPY_SERIES = (
    *(-1 / 3, -1 / 12, -1 / 90, 1 / 120, 1 / 210, -1 / 252, -1 / 210, 1 / 240),
    *(5 / 594, -1 / 132, -691 / 30030, 691 / 32760),
)


def gamma_entropy(k: variable.Variable) -> variable.Variable:
    """The entropy of the gamma distribution of exponent ``k``.

    ``k + lgamma(k) + (1 - k) * digamma(k)``, of which for large ``k`` only logarithms stay: by
    the series of both (DLMF 5.11.1, 5.11.2).
    """
    large = k.array > 16
    near, far = choose(~large, k, 1), choose(large, k, 16)
    by_functions = near + F.lgamma(near) + (1 - near) * F.digamma(near)
    inverse = 1 / far
    rest = inverse * 0
    for factor in reversed(_ENTROPY_SERIES):
        rest = (rest + factor) * inverse
    by_series = 0.5 * F.log(far) + 0.5 * (math.log(2 * math.pi) + 1) + rest
    return F.where(large, by_series, by_functions)


def log1m(p: variable.Variable) -> variable.Variable:
    """``log(1 - p)``."""
    return F.log1p(-p)


def log1mexp(t: variable.Variable) -> variable.Variable:
    """``log(1 - exp(t))`` for ``t <= 0``.

    Source: Maechler, Accurately computing log(1 - exp(-|a|)), 2012.
    """
    near = t.array > -math.log(2)
    return F.where(
        near,
        F.log(-F.expm1(choose(near, t, -1))),
        F.log1p(-F.exp(choose(~near, t, -1))),
    )


def one_minus_exp(t: variable.Variable) -> variable.Variable:
    """``1 - exp(t)`` for ``t <= 0``; its slope has all digits, too, which expm1's loses."""
    near = t.array > -math.log(2)
    return F.where(near, -F.expm1(choose(near, t, 0)), 1 - F.exp(choose(~near, t, -1)))


def xlog1my(x: variable.Variable, y: variable.Variable) -> variable.Variable:
    """``x * log(1 - y)``, and 0 where ``x`` is 0."""
    zero = (x.array == 0) & (y.array == 1)
    return x * log1m(choose(~zero, y, 0))
