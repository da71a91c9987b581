"""Categorical distributions over the vectors of which one element is 1."""

from __future__ import annotations

import typing as tp

from chainer import distribution, variable
from chainer import functions as F
from chainer.distributions._parametric import Parametric
from chainer.distributions.categorical import divergence, log_where, mean_log

if tp.TYPE_CHECKING:
    from chainer._typing import VariableOrNumber


class OneHotCategorical(Parametric):
    """Categorical distributions whose events are vectors: 1 for the category, 0 for the others.

    Args:
        p (Variable or array): Probabilities, whose sum along the last axis is 1; any float dtype.

    Attributes:
        p, log_p (Variable): The parameter. Samples are not differentiable in it.
    """

    domains: tp.ClassVar = {'p': 'simplex'}
    event_ndims: tp.ClassVar = {'p': 1}
    p: variable.Variable
    _given_log_p = None

    def __init__(self, p: VariableOrNumber) -> None:
        self._set_params(p=p)

    @property
    def log_p(self) -> variable.Variable:
        """The logarithms of the probabilities."""
        return F.log(self.p)

    @property
    def event_shape(self) -> tuple[int, ...]:
        return self.p.shape[-1:]

    def _sample(self, n: int) -> variable.Variable:
        return self._leaf(self._source.one_hot(self.p, n))

    def log_prob(self, x: VariableOrNumber) -> variable.Variable:
        x = self._point(x)
        return F.sum(x * log_where(self, x.array != 0), axis=-1)

    @property
    def entropy(self) -> variable.Variable:
        return -mean_log(self)

    @property
    def mean(self) -> variable.Variable:
        return self.p

    @property
    def variance(self) -> variable.Variable:
        return self.p * (1 - self.p)


distribution.register_kl(OneHotCategorical, OneHotCategorical)(divergence)
