"""Losses of variational autoencoders; compositions of other functions."""

from __future__ import annotations

import math
import numbers
import typing as tp

from chainerx._core import engine

from chainer import variable
from chainer.functions.activation.softplus import softplus
from chainer.functions.loss._reduction import check_reduce, reduce_variable
from chainer.functions.math.exponential import exp

_REDUCE = ('sum', 'mean', 'no')


def _operand(x: tp.Any) -> tp.Any:
    """Bare arrays and numbers stay so, for operators convert them to the dtype of a variable."""
    is_bare = isinstance(x, numbers.Number) or engine.kind(x) is not None
    return x if is_bare else variable.as_variable(x)


def gaussian_kl_divergence(mean: tp.Any, ln_var: tp.Any, reduce: str = 'sum') -> variable.Variable:
    """The KL divergence of a normal distribution from the standard one.

    Args:
        mean (Variable or array): Any shape, any float dtype.
        ln_var (Variable or array): The logarithm of the variance; same shape and dtype.
        reduce (str): 'sum', 'mean', or 'no' for one per element.

    Returns:
        Variable: ``(mean ** 2 + exp(ln_var) - ln_var - 1) / 2``: 0-d, or their shape; their dtype.
        Differentiable in both, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: For an unknown ``reduce``.
    """
    check_reduce('gaussian_kl_divergence', reduce, _REDUCE)
    mean = _operand(mean)
    loss = (mean * mean + exp(ln_var) - ln_var - 1) * 0.5
    return reduce_variable(loss, reduce)


def bernoulli_nll(x: tp.Any, y: tp.Any, reduce: str = 'sum') -> variable.Variable:
    """The negative logarithm of the likelihood of a Bernoulli distribution.

    Args:
        x (Variable or array): What was seen, from 0 to 1; any shape, any float dtype.
        y (Variable or array): The logit of the probability; same shape and dtype.
        reduce (str): 'sum', 'mean', or 'no' for one per element.

    Returns:
        Variable: ``softplus(y) - x * y``: 0-d, or their shape; their dtype. Differentiable in both,
        any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: For an unknown ``reduce``.
    """
    check_reduce('bernoulli_nll', reduce, _REDUCE)
    return reduce_variable(softplus(y) - _operand(x) * y, reduce)


def gaussian_nll(x: tp.Any, mean: tp.Any, ln_var: tp.Any, reduce: str = 'sum') -> variable.Variable:
    """The negative logarithm of the likelihood of a normal distribution.

    Args:
        x (Variable or array): What was seen; any shape, any float dtype.
        mean (Variable or array): Same shape and dtype.
        ln_var (Variable or array): The logarithm of the variance; same shape and dtype.
        reduce (str): 'sum', 'mean', or 'no' for one per element.

    Returns:
        Variable: ``(ln_var + log(2 pi) + (x - mean) ** 2 / exp(ln_var)) / 2``: 0-d, or
        their shape; their dtype. Differentiable in all of them, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: For an unknown ``reduce``.
    """
    check_reduce('gaussian_nll', reduce, _REDUCE)
    difference = _operand(x) - mean
    power = difference * difference * exp(-ln_var) * -0.5
    loss = (ln_var + math.log(2 * math.pi)) * 0.5 - power
    return reduce_variable(loss, reduce)
