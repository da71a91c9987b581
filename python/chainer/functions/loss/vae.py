"""Losses of variational autoencoders; compositions of other functions."""

from __future__ import annotations

import math
import numbers
import typing as tp

import numpy as np
from chainerx._core import engine

from chainer import variable
from chainer.functions.activation.softplus import softplus
from chainer.functions.array.cast import cast
from chainer.functions.loss._reduction import check_reduce, reduce_variable
from chainer.functions.math.exponential import exp
from chainer.functions.math.exponential_m1 import expm1

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike

_REDUCE = ('sum', 'mean', 'no')


def _operands(*xs: tp.Any) -> tuple[np.dtype | None, tp.Sequence[tp.Any]]:
    """The operands of a loss; float16 and bfloat16, where they are of one of these, in float32.

    Bare arrays and numbers stay so, for operators convert them to the dtype of a variable.

    Returns:
        tuple: The dtype that the loss has to be cast to, None where it has it, and the operands.
    """
    operands = [x if _is_bare(x) else variable.as_variable(x) for x in xs]
    dtypes = {x.dtype for x in operands if not isinstance(x, numbers.Number)}
    if len(dtypes) != 1 or (dtype := dtypes.pop()).itemsize != 2:
        return None, operands
    # Squares and exponentials soon leave their range.
    return dtype, [x if isinstance(x, numbers.Number) else cast(x, np.float32) for x in operands]


def _is_bare(x: object) -> bool:
    return isinstance(x, numbers.Number) or engine.kind(x) is not None


def _reduced(loss: variable.Variable, reduce: str, dtype: np.dtype | None) -> variable.Variable:
    loss = reduce_variable(loss, reduce)
    return loss if dtype is None else cast(loss, dtype)


def gaussian_kl_divergence(
    mean: VariableLike, ln_var: VariableLike, reduce: str = 'sum'
) -> variable.Variable:
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
    dtype, (mean, ln_var) = _operands(mean, ln_var)
    # expm1, for what is near the standard one has the square of ln_var left.
    loss = (mean * mean + (expm1(ln_var) - ln_var)) * 0.5
    return _reduced(loss, reduce, dtype)


def bernoulli_nll(x: VariableLike, y: VariableLike, reduce: str = 'sum') -> variable.Variable:
    """The negative logarithm of the likelihood of a Bernoulli distribution.

    Args:
        x (Variable or array): The observation, from 0 to 1; any shape, any float dtype.
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
    dtype, (x, y) = _operands(x, y)
    return _reduced(softplus(y) - x * y, reduce, dtype)


def gaussian_nll(
    x: VariableLike, mean: VariableLike, ln_var: VariableLike, reduce: str = 'sum'
) -> variable.Variable:
    """The negative logarithm of the likelihood of a normal distribution.

    Args:
        x (Variable or array): The observation; any shape, any float dtype.
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
    dtype, (x, mean, ln_var) = _operands(x, mean, ln_var)
    difference = x - mean
    power = difference * difference * exp(-ln_var) * -0.5
    loss = (ln_var + math.log(2 * math.pi)) * 0.5 - power
    return _reduced(loss, reduce, dtype)
