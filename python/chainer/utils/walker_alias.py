"""Samples of a discrete distribution."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainer import device_resident
from chainer._base.host_draws import HostDraws
from chainer.backends import cuda

if tp.TYPE_CHECKING:
    from types import ModuleType

    from chainer._typing import ArrayLike, NdArray
    from chainer.device_resident import DeviceResidentsVisitor


_draws: tp.Final = HostDraws()


class WalkerAlias(device_resident.DeviceResident):
    """Draws integers with given probabilities, in constant time per sample.

    Each integer has a slot; a slot is shared with at most one other, its alias. A sample picks a
    slot, and then the integer or its alias.

    Args:
        probs: Probabilities of 0, 1, ...; they need not sum to one.

    Raises:
        ValueError: If one is negative or no finite number, or all are 0.

    Source: Walker, ACM Transactions on Mathematical Software 3 (1977).
    """

    def __init__(self, probs: ArrayLike) -> None:
        super().__init__()
        prob = np.array(probs, np.float32)
        if prob.ndim != 1:
            raise ValueError(f'WalkerAlias: probs has shape {prob.shape}, expected one axis')
        total = np.sum(prob)
        if not (prob >= 0).all() or not 0 < total < np.inf:
            bad = prob[~((prob >= 0) & (prob < np.inf))]
            found = f'probs has {bad[0]}' if bad.size else f'the sum of probs is {total}'
            text = 'expected finite numbers of at least 0, one of them greater'
            raise ValueError(f'WalkerAlias: {found}, {text}')
        prob /= total
        n = len(prob)
        threshold = np.empty(n, np.float32)
        values = np.zeros((n, 2), np.int32)
        unshared = 0  # the first slot without an alias
        for slot, i in enumerate(np.argsort(prob, kind='stable')):
            rest = float(prob[i]) * n
            while rest > 1 and unshared < slot:
                values[unshared, 1] = i
                rest -= 1 - float(threshold[unshared])
                unshared += 1
            threshold[slot] = rest
            values[slot, 0] = i
        self.threshold: NdArray = threshold
        self.values: NdArray = values.ravel()

    @property
    def use_gpu(self) -> bool:
        """Whether samples are CuPy arrays."""
        return cuda.available and self.xp is cuda.cupy

    def device_resident_accept(self, visitor: DeviceResidentsVisitor) -> None:
        super().device_resident_accept(visitor)
        self.threshold = visitor.visit_array(self.threshold)
        self.values = visitor.visit_array(self.values)

    def sample(self, shape: int | tuple[int, ...]) -> NdArray:
        """Draws samples.

        Args:
            shape: Shape of the result.

        Returns:
            Array of int32, of the kind and on the device of this object.
        """
        return self.sample_gpu(shape) if self.use_gpu else self.sample_xp(self.xp, shape)

    def sample_xp(self, xp: ModuleType, shape: int | tuple[int, ...]) -> NdArray:
        """As `sample`, for NumPy and ChainerX; both draw from `numpy.random`.

        Args:
            xp (module): Which.
            shape (int or tuple of int): Of the result.

        Returns:
            array: int32.
        """
        threshold, values = self.device.send((self.threshold, self.values))
        n = len(threshold)

        def draw() -> np.ndarray:
            return np.asarray(np.random.uniform(0, 1, shape) * n, np.float32)

        place = draw() if xp is np else _draws(draw, shape, threshold.device)
        return _pick(threshold, values, place)

    def sample_gpu(self, shape: int | tuple[int, ...]) -> NdArray:
        """As `sample`, for CuPy.

        Args:
            shape (int or tuple of int): Of the result.

        Returns:
            cupy.ndarray: int32.
        """
        cuda.check_cuda_available()
        place = cuda.cupy.random.uniform(0, len(self.threshold), shape, np.float32)
        return _pick(self.threshold, self.values, place)


def _pick(threshold: tp.Any, values: tp.Any, place: tp.Any) -> tp.Any:
    # The whole part is the slot; rounding may have made it one too many.
    slot = place.astype(np.int32).clip(0, len(threshold) - 1)
    alias = (threshold[slot] < place - slot).astype(np.int32)
    return values[slot * 2 + alias]
