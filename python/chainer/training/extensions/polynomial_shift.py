"""Hyperparameters that shrink to nothing by a polynomial."""

from __future__ import annotations

import math
import typing as tp

from chainer.training.extensions._shift import Shift

if tp.TYPE_CHECKING:
    from chainer.optimizer import Optimizer


class PolynomialShift(Shift):
    """Sets an attribute of an optimizer to ``init * (1 - t / max_count) ** rate``.

    ``t`` counts the calls; from ``max_count`` on the value is 0.

    Args:
        attr (str): Name of the attribute, such as ``'lr'``.
        rate (float): The exponent. With a negative one the value grows, beyond all bounds but
            ``target``.
        max_count (int): After how many calls it is 0.
        init (float): The first value; default: the current value of the attribute.
        target (float): The final value.
        optimizer (Optimizer): Default: the main one of the updater.

    Raises:
        ValueError: If ``max_count`` is not positive.
    """

    invoke_before_training = True

    def __init__(
        self,
        attr: str,
        rate: float,
        max_count: float,
        init: float | None = None,
        target: float | None = None,
        optimizer: Optimizer | None = None,
    ) -> None:
        super().__init__(attr, optimizer)
        if max_count <= 0:
            raise ValueError(f'PolynomialShift: max_count must be positive, not {max_count}')
        self._rate = rate
        self._max_count = max_count
        self._init = init
        self._target = target

    def value_at(self, t: int) -> float:
        """The value, without the target.

        Args:
            t (int): The number of calls.
        """
        left = max(1 - t / self._max_count, 0.0)
        factor = left**self._rate if left or self._rate >= 0 else math.inf
        return tp.cast(float, self._init) * factor
