"""The rectifier with a random slope."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx._core import engine

from chainer import configuration
from chainer._graph.builtin import BuiltinFunction, _as_chainerx
from chainer.utils import argument, type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, NdArray, VariableLike


def _gradient(
    gy: chainerx.ndarray,
    needed: tuple[bool, ...],
    inputs: None,
    y: chainerx.ndarray,
    r: chainerx.ndarray,
) -> tuple[chainerx.ndarray, ...]:
    return (chainerx.where(y >= 0, gy, gy * r),)


# For slopes that are not negative: then the result tells the sign of x.
_rectify = engine.WithGradient('rrelu', chainerx.prelu, _gradient, n_params=1, keeps='y')


class RReLU(BuiltinFunction):
    """See `rrelu`.

    Attributes:
        r: The slopes.
    """

    saved = ('r',)

    def _prepare(self) -> None:
        _check_range(self.lower, self.upper)

    # Not repeated for inputs that have passed, and slopes differ from call to call.
    check_uses_attributes = False

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == 'f')

    @staticmethod
    def compose(
        x: chainerx.ndarray,
        *,
        lower: float = 1.0 / 8,
        upper: float = 1.0 / 3,
        r: chainerx.ndarray | None = None,
    ) -> tuple[chainerx.ndarray, chainerx.ndarray]:
        rectify: tp.Callable[..., chainerx.ndarray] = _rectify
        if not configuration.config.train:
            r = chainerx.full(x.shape, (lower + upper) / 2, x.dtype, x.device)
        elif r is not None:
            r = _as_chainerx(r)
            if (r < 0).any():
                rectify = chainerx.prelu
        else:
            r = chainerx.random.uniform(lower, upper, x.shape, x.dtype, x.device, engine.draw_key())
        return rectify(x, r), r


def _check_range(lower: float, upper: float) -> None:
    if not 0.0 <= lower < 1.0 or not 0.0 <= upper < 1.0 or lower >= upper:
        raise ValueError(f'rrelu: l is {lower} and u is {upper}, expected 0 <= l < u < 1')


def rrelu(
    x: VariableLike,
    l: float = 1.0 / 8,  # noqa: E741
    u: float = 1.0 / 3,
    *,
    r: NdArray | None = None,
    return_r: bool | None = None,
    **removed: object,
) -> tp.Any:
    """``x`` where not negative, ``r * x`` elsewhere, with slopes ``l <= r < u`` at random.

    Args:
        x (Variable or array): Any shape, any float dtype.
        l (float): The least slope, at least 0.
        u (float): The end of the range, below 1.
        r (array): The slopes in training, instead of random ones; the shape and dtype of ``x``.
        return_r (bool): Whether the slopes are returned, too.

    Returns:
        Variable, or a tuple of it and the slopes: Shape and dtype of ``x``. Where
        ``chainer.config.train`` is False all slopes are ``(l + u) / 2``, those of ``r`` too.
        Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype, or ``r`` does not fit.
        ValueError: If the range is empty or not within 0 and 1.

    Source: Xu et al., 2015.
    """
    if removed:
        argument.check_unexpected_kwargs(
            removed, train='train argument is not supported anymore. Use chainer.using_config'
        )
        argument.assert_kwargs_empty(removed)
    _check_range(l, u)
    if r is not None and configuration.config.type_check:
        name = type_check.make_variable
        with type_check._naming('RReLU'):
            type_check.expect(
                name(x.shape, 'x.shape') == name(r.shape, 'r.shape'),
                name(x.dtype, 'x.dtype') == name(r.dtype, 'r.dtype'),
            )
    if not return_r:
        return RReLU.call(x, lower=l, upper=u, r=r)
    f = RReLU(l, u, r)
    (y,) = f.apply((x,))
    return y, f.r
