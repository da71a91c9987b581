"""`BatchRenormalization`: batch normalization that stays close to the running statistics."""

from __future__ import annotations

import typing as tp

from chainer._base.docstrings import documented_like
from chainer._graph.repeated import is_repeated
from chainer.functions.normalization.batch_renormalization import batch_renormalization
from chainer.links.normalization.batch_normalization import BatchNormalization
from chainer.variable import Variable

if tp.TYPE_CHECKING:
    from chainer._typing import DTypeLike, InitializerSpec, NdArray, ShapeSpec, VariableLike


@documented_like(BatchNormalization)
class BatchRenormalization(BatchNormalization):
    """Batch normalization whose result is corrected towards that with running statistics.

    Args:
        size: Number of channels, or their shape.
        rmax: The most that the scale is corrected by, at least 1.
        dmax: The most that the shift is corrected by.

    Attributes:
        rmax (float): As given; often raised in the course of training.
        dmax (float): Likewise.
    Source: Ioffe, Batch Renormalization, NIPS 2017.
    """

    def __init__(
        self,
        size: ShapeSpec | None,
        rmax: float = 1,
        dmax: float = 0,
        decay: float = 0.9,
        eps: float = 2e-5,
        dtype: DTypeLike | None = None,
        use_gamma: bool = True,
        use_beta: bool = True,
        initial_gamma: InitializerSpec | None = None,
        initial_beta: InitializerSpec | None = None,
        initial_avg_mean: InitializerSpec | None = None,
        initial_avg_var: InitializerSpec | None = None,
    ) -> None:
        super().__init__(
            size,
            decay,
            eps,
            dtype,
            use_gamma,
            use_beta,
            initial_gamma,
            initial_beta,
            initial_avg_mean=initial_avg_mean,
            initial_avg_var=initial_avg_var,
        )
        self.rmax = rmax
        self.dmax = dmax

    def forward(  # type: ignore[override]  # v7 has it as a parameter here, in **kwargs above
        self, x: VariableLike, finetune: bool = False
    ) -> Variable:
        """Normalize.

        Args:
            x (Variable or array): Input.
            finetune (bool): Whether, in training, running statistics are the mean over all batches
                since :meth:`start_finetuning`, instead of one that decays.

        Returns:
            Variable: Shape and dtype of `x`.
        """
        return super().forward(x, finetune=finetune)

    def _normalize(
        self,
        x: VariableLike,
        gamma: VariableLike,
        beta: VariableLike,
        mean: NdArray | None,
        var: NdArray | None,
        decay: float,
    ) -> Variable:
        return batch_renormalization(
            x,
            gamma,
            beta,
            self.rmax,
            self.dmax,
            self.eps,
            self.avg_mean,
            self.avg_var,
            decay,
            update_statistics=not is_repeated(),
        )
