"""Samples of a normal distribution, differentiable in its parameters."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx._core import engine

from chainer._graph.builtin import BuiltinFunction, _as_chainerx
from chainer.utils import argument, type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, NdArray, VariableLike


class Gaussian(BuiltinFunction):
    """See `gaussian`.

    Attributes:
        eps: The samples of the standard normal distribution.
    """

    saved = ('eps',)
    check_uses_attributes = False

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('mean', 'ln_var'))
        mean, ln_var = in_types
        type_check.expect(
            mean.dtype.kind == 'f', mean.dtype == ln_var.dtype, mean.shape == ln_var.shape
        )

    @staticmethod
    def compose(
        mean: chainerx.ndarray, ln_var: chainerx.ndarray, *, eps: NdArray | None = None
    ) -> tuple[chainerx.ndarray, chainerx.ndarray]:
        if eps is None:
            eps = chainerx.random.normal(
                0, 1, mean.shape, mean.dtype, mean.device, engine.draw_key()
            )
        else:
            eps = _as_chainerx(eps)
        return mean + chainerx.exp(ln_var * 0.5) * eps, eps


def gaussian(
    mean: VariableLike,
    ln_var: VariableLike,
    *,
    eps: NdArray | None = None,
    return_eps: bool = False,
    **removed: object,
) -> tp.Any:
    """A sample of a normal distribution, ``mean + exp(ln_var / 2) * eps``.

    Args:
        mean (Variable or array): Any shape, any float dtype.
        ln_var (Variable or array): The logarithm of the variance; same shape and dtype.
        eps (array): Samples of the standard normal distribution, instead of random ones.
        return_eps (bool): Whether these are returned, too.

    Returns:
        Variable, or a tuple of it and the samples: Shape and dtype of ``mean``. Differentiable in
        ``mean`` and ``ln_var``, any order.

    Raises:
        InvalidType: If dtypes or shapes differ, or are no floats.

    Note:
        The numbers come from a generator of its own, whose key is drawn from `numpy.random`.
    Source: Kingma and Welling, ICLR 2014.
    """
    argument.assert_kwargs_empty(removed)
    if eps is not None and eps.shape != mean.shape:
        shape = type_check.make_variable(eps.shape, 'eps.shape')
        expected = type_check.make_variable(mean.shape, 'mean.shape')
        with type_check._naming('Gaussian'):
            type_check.expect(shape == expected)
    if not return_eps:
        return Gaussian.call(mean, ln_var, eps=eps)
    f = Gaussian(eps)
    (y,) = f.apply((mean, ln_var))
    return y, f.eps
