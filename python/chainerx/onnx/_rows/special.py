"""Special functions that are made of others."""

from __future__ import annotations

import numpy as np

from chainerx.onnx._formula import Expression, formula


@formula('special.erfc')
def _(x: Expression) -> Expression:
    x.g.need(9, 'Erf')
    return 1 - x.op('Erf')


@formula('special.log_expit')
def _(x: Expression) -> Expression:
    return -((-x).op('Softplus'))


@formula('special.logit')
def _(x: Expression) -> Expression:
    return (x / (1 - x)).op('Log')


def _times_log(x: Expression, y: Expression) -> Expression:
    """x log(y), and 0 for an x of 0."""
    is_zero = x.equal(0) & ~y.is_nan()
    return is_zero.where(x.number(0), x * is_zero.where(y.number(1), y).op('Log'))


@formula('special.xlogy')
def _(x: Expression, y: Expression) -> Expression:
    return _times_log(x, y)


@formula('special.xlog1py')
def _(x: Expression, y: Expression) -> Expression:
    return _times_log(x, 1 + y)


@formula('special.entr')
def _(x: Expression) -> Expression:
    return (x < 0).where(x.number(-np.inf), -_times_log(x, x))


@formula('special.rel_entr')
def _(x: Expression, y: Expression) -> Expression:
    return _relative(x, y)


@formula('special.kl_div')
def _(x: Expression, y: Expression) -> Expression:
    return _relative(x, y) - x + y


def _relative(x: Expression, y: Expression) -> Expression:
    is_valid = (x > 0) & (y > 0)
    inside = is_valid.where(x, 1) * (is_valid.where(x, 1) / is_valid.where(y, 1)).op('Log')
    is_zero = x.equal(0) & (y >= 0)
    nan = (x.is_nan() | y.is_nan()).where(x.number(np.nan), np.inf)
    return is_valid.where(inside, is_zero.where(x.number(0), nan))
