"""The fully connected layer with random weights left out."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx._core import engine

from chainer import variable
from chainer._graph.builtin import BuiltinFunction, _as_chainerx
from chainer._graph.gradients import recomputed
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, NdArray, VariableLike


def _compute(
    x: chainerx.ndarray, w: chainerx.ndarray, mask: chainerx.ndarray, ratio: float
) -> chainerx.ndarray:
    outs, ins = w.shape
    n = len(x)
    weights = w.astype(x.dtype, copy=False) * (mask.astype(x.dtype) * (1.0 / (1.0 - float(ratio))))
    if mask.ndim == 2:
        return chainerx.matmul(x.reshape(n, ins), weights.T)
    return chainerx.matmul(weights, x.reshape(n, ins, 1)).reshape(n, outs)


# Does not keep the weights of each example.
_product = recomputed('simplified_dropconnect', _compute, n_params=1)


class SimplifiedDropconnect(BuiltinFunction):
    """See `simplified_dropconnect`.

    Attributes:
        mask: Which weights are there.
    """

    saved = ('mask',)

    def _prepare(self) -> None:
        _check_ratio(self.ratio)

    def check_type_forward(self, in_types: InTypes) -> None:
        n_in = type_check.eval(in_types.size())
        type_check.expect(n_in >= 2, n_in <= 3)
        type_check._argname(in_types[:2], ('x', 'W'))
        x, w = in_types[:2]
        type_check.expect(
            x.dtype.kind == 'f',
            w.dtype.kind == 'f',
            x.ndim >= 2,
            w.ndim == 2,
            type_check.prod(x.shape[1:]) == w.shape[1],
        )
        if n_in == 3:
            type_check._argname((in_types[2],), ('b',))
            b = in_types[2]
            type_check.expect(b.dtype == x.dtype, b.ndim == 1, b.shape[0] == w.shape[0])
        if self.mask is not None:
            mask = type_check.make_variable(self.mask.shape, 'mask.shape')
            shape = type_check.eval(w.shape)
            if self.use_batchwise_mask:
                shape = (type_check.eval(x.shape[0]), *shape)
            type_check.expect(mask == type_check.make_variable(shape, str(shape)))

    @staticmethod
    def compose(
        x: chainerx.ndarray,
        w: chainerx.ndarray,
        b: chainerx.ndarray | None = None,
        *,
        ratio: float,
        mask: NdArray | None = None,
        use_batchwise_mask: bool = True,
    ) -> tuple[chainerx.ndarray, chainerx.ndarray]:
        if mask is None:
            shape = (len(x), *w.shape) if use_batchwise_mask else w.shape
            mask = _draw_mask(shape, ratio, x.device)
        else:
            mask = _as_chainerx(mask)
        y = _product(x, w, mask, ratio)
        return y if b is None else (y + b).astype(x.dtype, copy=False), mask


def _draw_mask(shape: tuple[int, ...], ratio: float, device: chainerx.Device) -> chainerx.ndarray:
    if ratio == 0:  # outside of training nothing is drawn
        return chainerx.ones(shape, bool, device)
    return chainerx.random.uniform(0, 1, shape, 'float32', device, engine.draw_key()) >= ratio


def _check_ratio(ratio: float) -> None:
    if not 0.0 <= ratio < 1.0:
        raise ValueError(f'simplified_dropconnect: ratio is {ratio}, expected 0 <= ratio < 1')


def simplified_dropconnect(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    ratio: float = 0.5,
    train: bool = True,
    mask: VariableLike | None = None,
    use_batchwise_mask: bool = True,
) -> variable.Variable:
    """A fully connected layer that leaves out weights at random, and scales the others.

    Args:
        x (Variable or array): (N, ...), of ``ins`` features in all, a float dtype.
        W (Variable or array): (outs, ins), any float dtype; it is converted to that of ``x``.
        b (Variable or array): (outs,), of the dtype of ``x``; or None.
        ratio (float): The probability to leave a weight out, from 0 to below 1. The others are
            divided by ``1 - ratio``.
        train (bool): Whether weights are left out; ``chainer.config.train`` does not matter.
        mask (Variable or array): Which weights are there, instead of random ones: (N, outs, ins),
            or (outs, ins).
        use_batchwise_mask (bool): Whether each example has a mask of its own.

    Returns:
        Variable: (N, outs). Differentiable in ``x``, ``W`` and ``b``, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If ``ratio`` is out of range.

    Note:
        The numbers come from a generator of its own, whose key is drawn from `numpy.random`.
    Source: Wan et al., ICML 2013, with one mask for weights instead of a distribution of outputs.
    """
    ratio = ratio if train else 0
    _check_ratio(ratio)
    mask = variable.as_array(mask) if mask is not None else None
    return SimplifiedDropconnect.call(
        x, W, b, ratio=ratio, mask=mask, use_batchwise_mask=use_batchwise_mask
    )
