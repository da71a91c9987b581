"""What all distributions have, and divergences between pairs of them."""

from __future__ import annotations

import math
import operator
import typing as tp
from collections.abc import Callable

from chainer import backend, types, variable
from chainer import functions as F
from chainer._base.docstrings import documented_like

if tp.TYPE_CHECKING:
    from chainer._typing import VariableOrNumber


class Distribution:
    """Base of probability distributions: a batch of independent ones of one kind.

    The shape of a sample is ``sample_shape + batch_shape + event_shape``. What a distribution has
    no formula for raises `NotImplementedError`. A subclass defines ``params``, the shapes,
    ``sample_n`` and ``log_prob``; what follows from these or from ``cdf`` and ``variance`` is here.
    """

    def __copy__(self) -> tp.Self:
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        return copied

    # What a subclass defines.

    @property
    def params(self) -> dict[str, variable.Variable]:
        """The parameters by name."""
        raise self._lacks('params')

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the batch of distributions."""
        raise self._lacks('batch_shape')

    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of what one distribution gives; ``()`` if that is a number."""
        raise self._lacks('event_shape')

    @property
    def support(self) -> str:
        """Where probability is, in words such as 'real'."""
        raise self._lacks('support')

    def sample_n(self, n: int) -> variable.Variable:
        """``n`` samples of each distribution.

        Args:
            n (int): Their number.

        Returns:
            Variable: ``(n,) + batch_shape + event_shape``.

        Raises:
            ValueError: If ``n`` is negative, or a parameter is not what it has to be.
        """
        raise self._lacks('sample_n')

    def log_prob(self, x: VariableOrNumber) -> variable.Variable:
        """The logarithm of the density, or of the probability, at ``x``.

        Args:
            x (Variable, array or float): Points; its shape ends with those of batch and event, or
                broadcasts with them.

        Returns:
            Variable: Of the shape of ``x`` without that of the event. Differentiable, any order.
        """
        raise self._lacks('log_prob')

    @documented_like(log_prob)
    def cdf(self, x: VariableOrNumber) -> variable.Variable:
        """The probability of what is at most ``x``."""
        raise self._lacks('cdf')

    def icdf(self, x: VariableOrNumber) -> variable.Variable:
        """The inverse of `cdf`: quantiles.

        Args:
            x (Variable, array or float): Probabilities; a shape that broadcasts with the batch.

        Returns:
            Variable: NaN where ``x`` is not from 0 to 1. Differentiable, any order.
        """
        raise self._lacks('icdf')

    @property
    def mean(self) -> variable.Variable:
        """The mean."""
        raise self._lacks('mean')

    @property
    def mode(self) -> variable.Variable:
        """Where the density is highest."""
        raise self._lacks('mode')

    @property
    def variance(self) -> variable.Variable:
        """The variance of each element."""
        raise self._lacks('variance')

    @property
    def covariance(self) -> variable.Variable:
        """The covariances of the elements of an event."""
        raise self._lacks('covariance')

    @property
    def entropy(self) -> variable.Variable:
        """The entropy, in nats; of ``batch_shape``."""
        raise self._lacks('entropy')

    # What follows.

    def sample(self, sample_shape: int | tuple[int, ...] = ()) -> variable.Variable:
        """Samples of each distribution.

        Args:
            sample_shape (int or tuple of ints): How many; an int is a tuple of one.

        Returns:
            Variable: ``sample_shape + batch_shape + event_shape``.

        Raises:
            ValueError: If a size is negative, or a parameter is not what it has to be.
        """
        if not isinstance(sample_shape, tuple | list):
            return self.sample_n(sample_shape)
        shape = tuple(operator.index(size) for size in sample_shape)
        if any(size < 0 for size in shape):
            raise ValueError(f'{type(self).__name__}: sample_shape is {shape}, expected >= 0')
        x = self.sample_n(math.prod(shape))
        return F.reshape(x, shape + self.batch_shape + self.event_shape)

    @documented_like(log_prob)
    def prob(self, x: VariableOrNumber) -> variable.Variable:
        """The density, or the probability, at ``x``."""
        return F.exp(self.log_prob(x))

    @documented_like(log_prob)
    def log_cdf(self, x: VariableOrNumber) -> variable.Variable:
        """The logarithm of `cdf`."""
        return _log_of_part(self.cdf(x), self.survival_function(x))

    @documented_like(log_prob)
    def survival_function(self, x: VariableOrNumber) -> variable.Variable:
        """The probability of what is above ``x``."""
        return 1 - self.cdf(x)

    @documented_like(log_prob)
    def log_survival_function(self, x: VariableOrNumber) -> variable.Variable:
        """The logarithm of `survival_function`."""
        return _log_of_part(self.survival_function(x), self.cdf(x))

    @documented_like(log_prob)
    def perplexity(self, x: VariableOrNumber) -> variable.Variable:
        """``1 / prob(x)``: among how many equally likely values ``x`` would be as likely."""
        return F.exp(-self.log_prob(x))

    @property
    def stddev(self) -> variable.Variable:
        """The standard deviation of each element."""
        return F.sqrt(self.variance)

    @property
    def median(self) -> variable.Variable:
        """The median."""
        first = next(iter(self.params.values()))
        half = first.xp.full(self.batch_shape, 0.5, first.dtype)
        return self.icdf(first.device.send(half))

    @property
    def xp(self) -> types.Xp | None:
        """The module of the arrays of the parameters."""
        return backend.get_array_module(*self.params.values())

    def _lacks(self, name: str) -> NotImplementedError:
        return NotImplementedError(f'{type(self).__name__} has no {name}')


def _log_of_part(part: variable.Variable, rest: variable.Variable) -> variable.Variable:
    """The logarithm of a probability by the smaller one of it and the rest: that has all digits."""
    part, rest = variable.as_variable(part), variable.as_variable(rest)
    is_small = ~(part.array > 0.5)
    # The other side must stay finite, for its gradient.
    with backend.using_device(part.device):
        near_0 = F.where(is_small, part, part.xp.ones_like(part.array))
        near_1 = F.where(is_small, rest.xp.zeros_like(rest.array), rest)
    return F.where(is_small, F.log(near_0), F.log1p(-near_1))


_Divergence = Callable[[tp.Any, tp.Any], variable.Variable]

_KLDIVERGENCE: dict[tuple[type, type], _Divergence] = {}


def register_kl(Dist1: type, Dist2: type) -> Callable[[_Divergence], _Divergence]:
    """Decorator of the function that computes the KL divergence for a pair of classes.

    Args:
        Dist1, Dist2 (type): Classes of distributions.

    Returns:
        A decorator.
    """

    def decorate(function: _Divergence) -> _Divergence:
        _KLDIVERGENCE[Dist1, Dist2] = function
        return function

    return decorate


def kl_divergence(dist1: Distribution, dist2: Distribution) -> variable.Variable:
    """The Kullback-Leibler divergence, the mean over ``dist1`` of ``log(prob1(x) / prob2(x))``.

    Args:
        dist1, dist2 (Distribution): Of a pair of classes known to `register_kl`.

    Returns:
        Variable: Of the shape of the batch; infinite where ``dist2`` has no probability and
        ``dist1`` has. Differentiable in the parameters of both.

    Raises:
        KeyError: If the pair is not known.
    """
    pair = type(dist1), type(dist2)
    if pair not in _KLDIVERGENCE:
        names = ' and '.join(cls.__name__ for cls in pair)
        raise KeyError(f'kl_divergence: nothing is registered for {names}, see register_kl')
    return _KLDIVERGENCE[pair](dist1, dist2)


def cross_entropy(dist1: Distribution, dist2: Distribution) -> variable.Variable:
    """The mean over ``dist1`` of ``-log(prob2(x))``: its entropy and their KL divergence.

    Args:
        dist1, dist2 (Distribution): Of a pair of classes known to `register_kl`.

    Returns:
        Variable: Of the shape of the batch. Differentiable in the parameters of both.

    Raises:
        KeyError: If the pair is not known.
        NotImplementedError: If ``dist1`` has no entropy.
    """
    divergence = kl_divergence(dist1, dist2)
    return dist1.entropy + divergence
