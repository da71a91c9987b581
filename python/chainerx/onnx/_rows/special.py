"""Special functions that are made of others."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainerx.onnx import _special
from chainerx.onnx._formula import Expression, formula
from chainerx.onnx._routine import RoutineWriter, Typed, row
from chainerx.onnx._terms import Term


def _in_float64(name: str, function: tp.Callable[..., Term]) -> None:
    def write(g: RoutineWriter, *xs: tp.Any, dtype: tp.Any = None) -> Typed:
        g.need(9, 'Where')
        wide = [Term(g, g.to(x, np.float64), np.float64) for x in xs]
        return Typed(function(*wide).name, np.float64)

    row(f'special.{name}')(write)


_in_float64('erfc', _special.erfc)
_in_float64('erfcx', _special.erfcx)
_in_float64('erfinv', _special.erfinv)
_in_float64('erfcinv', _special.erfcinv)
_in_float64('ndtr', _special.ndtr)
_in_float64('ndtri', _special.ndtri)
_in_float64('log_ndtr', _special.log_ndtr)
_in_float64('lgamma', _special.lgamma)
_in_float64('digamma', _special.digamma)
_in_float64('polygamma', _special.polygamma)


@row('special.zeta')
def _(g: RoutineWriter, x: tp.Any, q: tp.Any = None, *, dtype: tp.Any = None) -> Typed:
    g.need(9, 'Where')
    pair = [Term(g, g.to(v, np.float64), np.float64) for v in (x, 1.0 if q is None else q)]
    return Typed(_special.zeta(*pair).name, np.float64)


@formula('special.log_expit')
def _(x: Expression) -> Expression:
    return -((-x).op('Softplus'))


@formula('special.logit')
def _(x: Expression) -> Expression:
    return (x / (1 - x)).op('Log')


def _times_log(x: Expression, y: Expression) -> Expression:
    """x log(y), and 0 for an x of 0."""
    is_zero = x.equal(0) & ~y.is_nan()
    return is_zero.where(x.of(0), x * is_zero.where(y.of(1), y).op('Log'))


@formula('special.xlogy')
def _(x: Expression, y: Expression) -> Expression:
    return _times_log(x, y)


@formula('special.xlog1py')
def _(x: Expression, y: Expression) -> Expression:
    return _times_log(x, 1 + y)


@formula('special.entr')
def _(x: Expression) -> Expression:
    return (x < 0).where(x.of(-np.inf), -_times_log(x, x))


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
    nan = (x.is_nan() | y.is_nan()).where(x.of(np.nan), np.inf)
    return is_valid.where(inside, is_zero.where(x.of(0), nan))
