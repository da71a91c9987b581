"""`BatchNormalization`: with the statistics of the batch, or with those seen in training."""

from __future__ import annotations

import typing as tp
from collections.abc import Iterator

import numpy as np

from chainer import backend, initializers
from chainer._base import environment
from chainer._graph.repeated import is_repeated
from chainer.configuration import config
from chainer.functions.normalization import _channels
from chainer.functions.normalization.batch_normalization import (
    batch_normalization,
    fixed_batch_normalization,
)
from chainer.link import Link
from chainer.links.normalization._initial import initializer
from chainer.utils import argument, type_check
from chainer.variable import Parameter, Variable

if tp.TYPE_CHECKING:
    from chainer._typing import Axis, DTypeLike, InitializerSpec, NdArray, ShapeSpec, VariableLike
    from chainer.serializer import AbstractSerializer


class BatchNormalization(Link):
    """Normalizes each channel, with running statistics for use outside of training.

    Where ``chainer.config.train`` is true, the statistics are those of the batch, and the running
    ones move towards them; else the running ones are used.

    Args:
        size: Number of channels, or their shape. None: taken from the first input, by `axis`.
        decay: How much of the running statistics stays in each step of training.
        eps: Added to variances.
        dtype: Of parameters and statistics; None is the configured one, and float32 for mixed16.
        use_gamma: Whether there is a scale; 1 if not.
        use_beta: Whether there is a shift; 0 if not.
        initial_gamma: Initializer of `gamma`; 1 by default.
        initial_beta: Initializer of `beta`; 0 by default.
        axis: The axes of the statistics, an int or several; None for all axes but those of `size`,
            which follow the first.
        initial_avg_mean: Initializer of `avg_mean`; 0 by default.
        initial_avg_var: Initializer of `avg_var`; 1 by default.

    Attributes:
        gamma (Parameter): Scale, or None.
        beta (Parameter): Shift, or None.
        avg_mean (array): Running mean; saved with the link, as are the next two.
        avg_var (array): Running variance, the unbiased one.
        N (int): Batches that were seen since fine-tuning began.
        decay (float): As given.
        eps (float): As given.
        axis: As given.
    """

    gamma: Parameter | None = None
    beta: Parameter | None = None
    avg_mean: tp.Any
    avg_var: tp.Any

    def __init__(
        self,
        size: ShapeSpec | None = None,
        decay: float = 0.9,
        eps: float = 2e-5,
        dtype: DTypeLike | None = None,
        use_gamma: bool = True,
        use_beta: bool = True,
        initial_gamma: InitializerSpec | None = None,
        initial_beta: InitializerSpec | None = None,
        axis: Axis | None = None,
        initial_avg_mean: InitializerSpec | None = None,
        initial_avg_var: InitializerSpec | None = None,
    ) -> None:
        super().__init__()
        if size is None and axis is None:
            raise RuntimeError('size or axis is required')
        self.avg_mean = None
        self.avg_var = None
        self.N = 0
        for name in ('avg_mean', 'avg_var', 'N'):
            self.register_persistent(name)
        self.decay = decay
        self.eps = eps
        self.axis = (axis,) if isinstance(axis, int) else axis
        self._dtype = environment.get_dtype(dtype, map_mixed16=np.float32)
        self._initial_avg_mean = initial_avg_mean
        self._initial_avg_var = initial_avg_var
        with self.init_scope():
            if use_gamma:
                self.gamma = Parameter(initializer(initial_gamma, 1, self._dtype))
            if use_beta:
                self.beta = Parameter(initializer(initial_beta, 0, self._dtype))
        if size is not None:
            self._initialize_params(size)

    def _initialize_params(self, shape: ShapeSpec) -> None:
        self.avg_mean = self._statistics(self._initial_avg_mean, 0, shape)
        self.avg_var = self._statistics(self._initial_avg_var, 1, shape)
        for param in (self.gamma, self.beta):
            if param is not None and not param.is_initialized:
                param.initialize(shape)

    def _statistics(
        self, given: InitializerSpec | None, default: float, shape: ShapeSpec
    ) -> NdArray:
        device = self.device
        return initializers.generate_array(
            initializer(given, default, self._dtype), shape, device.xp, device=device
        )

    @property
    def printable_specs(self) -> Iterator[tuple[str, object]]:
        shape = None if self.avg_mean is None else self.avg_mean.shape
        yield 'size', shape[0] if shape is not None and len(shape) == 1 else shape
        yield 'decay', self.decay
        yield 'eps', self.eps
        yield 'dtype', self._dtype
        yield 'use_gamma', self.gamma is not None
        yield 'use_beta', self.beta is not None

    def serialize(self, serializer: AbstractSerializer) -> None:
        super().serialize(serializer)
        # The serializer gave statistics without an array one of NumPy.
        device = self.device
        for name in ('avg_mean', 'avg_var'):
            value = getattr(self, name)
            if isinstance(value, environment.get_array_types()) and not device.is_array_supported(
                value
            ):
                setattr(self, name, device.send(value))

    def forward(self, x: VariableLike, **kwargs: object) -> Variable:
        """Normalize.

        Args:
            x (Variable or array): Input.
            **kwargs: ``finetune``, whether in training running statistics are the mean over all
                batches since :meth:`start_finetuning`, instead of one that decays.

        Returns:
            Variable: Shape and dtype of `x`.
        """
        finetune = False
        if kwargs:
            (finetune,) = argument.parse_kwargs(
                kwargs,
                ('finetune', False),
                test='test argument is not supported anymore. Use chainer.using_config',
            )
        if self.avg_mean is None:
            self._initialize_params(self._channels_of(x))
        gamma, beta = self._scale_and_shift()
        if not config.train:
            return fixed_batch_normalization(
                x, gamma, beta, self.avg_mean, self.avg_var, self.eps, self.axis
            )
        mean, var, decay = self._running(finetune)
        return self._normalize(x, gamma, beta, mean, var, decay)

    def _normalize(
        self,
        x: VariableLike,
        gamma: VariableLike,
        beta: VariableLike,
        mean: NdArray | None,
        var: NdArray | None,
        decay: float,
    ) -> Variable:
        return batch_normalization(
            x,
            gamma,
            beta,
            eps=self.eps,
            running_mean=mean,
            running_var=var,
            decay=decay,
            axis=self.axis,
        )

    def _running(self, finetune: bool) -> tuple[NdArray | None, NdArray | None, float]:
        """The statistics that this forward moves, and how much of them stays."""
        if is_repeated():  # it has been counted
            return None, None, self.decay
        if not finetune:
            return self.avg_mean, self.avg_var, self.decay
        self.N += 1
        return self.avg_mean, self.avg_var, 1 - 1 / self.N

    def _channels_of(self, x: VariableLike) -> tuple[int, ...]:
        # Inputs that the function would refuse must not initialize parameters.
        axis = _channels.to_axes('batch_normalization', self.axis)
        last = 1 if axis is None else max(axis, default=0)
        type_check.expect(type_check.Variable(x.ndim, 'x.ndim') > last)
        if axis is None:  # the shape was lost with a snapshot of a link without one
            return (x.shape[1],)
        return tuple(n for i, n in enumerate(x.shape) if i not in axis)

    def _scale_and_shift(self) -> tuple[VariableLike, VariableLike]:
        gamma, beta = self.gamma, self.beta
        if gamma is None or beta is None:
            like = self.avg_mean
            with backend.using_device(self.device):
                xp = self.xp
                gamma = xp.ones(like.shape, self._dtype) if gamma is None else gamma
                beta = xp.zeros(like.shape, self._dtype) if beta is None else beta
        return gamma, beta

    def start_finetuning(self) -> None:
        """Make the next batch with ``finetune=True`` the first one of those that count."""
        self.N = 0
