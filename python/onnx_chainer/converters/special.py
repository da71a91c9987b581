"""Special functions, which are computed in float64."""

from __future__ import annotations

import typing as tp

import numpy as np
from chainerx.onnx import _special
from chainerx.onnx._terms import Term

from onnx_chainer.converters._registry import Conversion, converts


def _converts_unary(name: str, formula: tp.Callable[[Term], Term]) -> None:
    @converts(name)
    def convert(g: Conversion) -> str:
        return _result(g, formula(_wide(g, 0)))


def _wide(g: Conversion, i: int) -> Term:
    g.need(9, 'Where')
    return g.term(i).cast(np.float64)


def _result(g: Conversion, y: Term) -> str:
    return y.cast(g.out_dtype()).name


_converts_unary('LGamma', _special.lgamma)
_converts_unary('DiGamma', _special.digamma)
_converts_unary('Erfc', _special.erfc)
_converts_unary('Erfcx', _special.erfcx)
_converts_unary('ErfInv', _special.erfinv)
_converts_unary('ErfcInv', _special.erfcinv)
_converts_unary('Ndtr', _special.ndtr)
_converts_unary('LogNdtr', _special.log_ndtr)
_converts_unary('Ndtri', _special.ndtri)


@converts('Zeta')
def zeta(g: Conversion) -> str:
    q = _wide(g, 0)
    s = Term(g, g.cast(g.value_of(g.func.x, 'x'), np.float64), np.float64)
    return _result(g, _special.zeta(s, q))


@converts('PolyGamma')
def polygamma(g: Conversion) -> str:
    return _result(g, _special.polygamma(_wide(g, 0), _wide(g, 1)))
