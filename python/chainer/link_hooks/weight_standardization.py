"""`WeightStandardization`: a weight with mean 0 and variance 1 per output."""

from __future__ import annotations

from chainer import functions
from chainer.link import Link
from chainer.link_hooks._weight import WeightHook
from chainer.variable import Variable


class WeightStandardization(WeightHook):
    """Standardizes the weight of a link over all axes but the first, in each forward.

    Args:
        eps: Added to variances.
        weight_name: Which parameter; it has at least two dimensions.
        name: Of the hook.
    Source: Qiao et al., Weight Standardization, 2019.
    """

    name = 'WeightStandardization'

    def __init__(
        self, *, eps: float = 1e-5, weight_name: str = 'W', name: str | None = None
    ) -> None:
        super().__init__(weight_name, name)
        self.eps = eps

    def normalize_weight(self, link: Link) -> Variable:
        """Compute the weight that is used in this forward.

        Args:
            link (Link): Whose weight.

        Returns:
            Variable: Of the shape of the weight.
        """
        weight = getattr(link, self.weight_name)
        if weight.ndim < 2:
            raise ValueError(
                f'{self.name}: {self.weight_name}.ndim is {weight.ndim}, expected at least 2'
            )
        axes = tuple(range(1, weight.ndim))
        count = weight.size // weight.shape[0]
        centered = weight - functions.sum(weight, axis=axes, keepdims=True) / count
        variance = functions.sum(centered * centered, axis=axes, keepdims=True) / count
        return centered / functions.sqrt(variance + self.eps)
