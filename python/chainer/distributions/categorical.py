"""Categorical distributions."""

from __future__ import annotations

import functools
import math
import typing as tp

import chainerx
import numpy as np

from chainer import distribution, variable
from chainer import functions as F
from chainer._base import late_checks
from chainer.distributions import utils
from chainer.distributions._draws import to_host
from chainer.distributions._parametric import Parametric, exactly_one

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike, VariableOrNumber


def log_where(dist: tp.Any, condition: VariableLike) -> variable.Variable:
    """The logarithms of probabilities where the condition holds, 0 elsewhere."""
    if dist._given_log_p is not None:
        return utils.choose(condition, dist._given_log_p, 0)
    # Chosen before, as the gradient of the logarithm of 0 is NaN even if nobody asks for it.
    return F.log(utils.choose(condition, dist.p, 1))


def mean_log(dist: tp.Any) -> variable.Variable:
    """The mean of the logarithm of the probability."""
    return F.sum(dist.p * log_where(dist, dist.p.array != 0), axis=-1)


def divergence(dist1: tp.Any, dist2: tp.Any) -> variable.Variable:
    """The KL divergence of two distributions of categories."""
    some = dist1.p.array != 0
    return F.sum(dist1.p * (log_where(dist1, some) - log_where(dist2, some)), axis=-1)


class Categorical(Parametric):
    """Categorical distributions: integers from 0.

    Args:
        p (Variable or array): Probabilities, whose sum along the last axis is 1; any float dtype.
        logit (Variable or array): Their logarithms, up to a constant, instead.

    Attributes:
        p, log_p (Variable): The parameter. Samples are integers and not differentiable in it.
    """

    domains: tp.ClassVar = {'p': 'simplex'}
    event_ndims: tp.ClassVar = {'p': 1}
    p: variable.Variable

    def __init__(
        self, p: VariableOrNumber | None = None, *, logit: VariableOrNumber | None = None
    ) -> None:
        self._given_log_p = None
        if exactly_one('Categorical', p=p, logit=logit) == 'logit':
            logit = self._convert(logit=logit)['logit']
            self._given_log_p = F.log_softmax(logit, axis=-1)
            p = F.exp(self._given_log_p)
        self._set_params(p=p)

    @property
    def log_p(self) -> variable.Variable:
        """The logarithms of the probabilities."""
        return F.log(self.p) if self._given_log_p is None else self._given_log_p

    def _sample(self, n: int) -> variable.Variable:
        return self._leaf(self._source.categories(self.p, n))

    def log_prob(self, x: VariableOrNumber) -> variable.Variable:
        count = self.p.shape[-1]
        values: tp.Any = variable.as_array(x)
        xp: tp.Any = np
        options: dict[str, tp.Any] = {}
        if isinstance(values, chainerx.ndarray) and variable.as_variable(values).device == (
            self._first.device
        ):
            xp, options = chainerx, {'device': values.device}
        else:
            values = to_host(values)
        bad = ~((values >= 0) & (values < count) & (values == xp.floor(values)))
        late_checks.check(
            ('categories', count), (bad.any(), bad, values), functools.partial(_look, count)
        )
        # One look-up in all rows, one after the other, so that no sample needs a row of its own.
        try:
            np.broadcast_shapes(values.shape, self.batch_shape)
        except ValueError:
            raise ValueError(
                f'Categorical.log_prob: the shape of x is {values.shape}, which does not broadcast '
                f'with that of the batch, {self.batch_shape}'
            ) from None
        n = math.prod(self.batch_shape)
        rows = xp.arange(n, dtype='int64', **options).reshape(self.batch_shape) * count
        place = rows + values.astype('int64')
        given = self._given_log_p
        table = F.reshape(self.p if given is None else given, (-1, 1))
        found = F.embed_id(self._first.device.send(place.reshape(-1)), table)
        found = F.reshape(found, place.shape)
        return F.log(found) if given is None else found

    @property
    def entropy(self) -> variable.Variable:
        return -mean_log(self)

    @property
    def mode(self) -> variable.Variable:
        return F.argmax(self.p, axis=-1)


distribution.register_kl(Categorical, Categorical)(divergence)


def _look(count: int, arrays: tuple[tp.Any, tp.Any, tp.Any]) -> None:
    """Raises an error if one is no category."""
    is_bad, bad, values = arrays
    if is_bad:
        value = to_host(values)[to_host(bad)].flat[0]
        raise IndexError(
            f'Categorical.log_prob: x has {value}, expected integers from 0 to {count - 1}'
        )
