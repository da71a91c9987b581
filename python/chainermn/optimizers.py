"""Optimizers whose steps are made by the mean of the gradients of all processes."""

from __future__ import annotations

import hashlib
import typing as tp

import chainerx
from chainer.optimizer import GradientMethod

from chainermn.communicators import _arrays
from chainermn.communicators.pure_nccl_communicator import Means, PureNcclCommunicator

if tp.TYPE_CHECKING:
    from chainer.link import Link
    from chainer.optimizer import Optimizer

    from chainermn.communicators.communicator_base import CommunicatorBase


def create_multi_node_optimizer(
    actual_optimizer: Optimizer,
    communicator: CommunicatorBase,
    double_buffering: bool = False,
    zero_fill: bool = True,
) -> tp.Any:
    """Makes an optimizer that steps by the mean of the gradients of all processes.

    It is used in place of the given one, whose attributes are its own. In the first update
    parameters of rank 0 are written into those of all processes, before the loss is computed. Where
    that is not possible, because ``update`` is called with gradients that are there, or because
    layers get their shapes from the first input, gradients belong to the parameters from before: if
    these differed, there is no step, as always in the first update of Chainer v7. Parameters that
    the model gets later are treated likewise.

    Hooks see the means.

    Args:
        actual_optimizer (Optimizer): What makes the steps.
        communicator (CommunicatorBase): Connects the processes.
        double_buffering (bool): Whether a step is made by the gradients of the update before, so
            that those of this one are exchanged while the next ones are computed. The first update
            makes no step. It needs the communicator ``pure_nccl``.
        zero_fill (bool): Whether parameters without a gradient have one of zeros. If not, a
            parameter must have none in all processes, or in no process.

    Returns:
        Stands for the optimizer.

    Raises:
        TypeError: If it is no optimizer.
        ValueError: For ``double_buffering`` without ``pure_nccl``.
    """
    if not (hasattr(actual_optimizer, 'update') and hasattr(actual_optimizer, 'setup')):
        raise TypeError(
            'create_multi_node_optimizer: actual_optimizer must be an optimizer, not '
            f'{type(actual_optimizer).__name__}'
        )
    if double_buffering and not isinstance(communicator, PureNcclCommunicator):
        raise ValueError(
            'create_multi_node_optimizer: double_buffering needs the communicator pure_nccl, not '
            f'{type(communicator).__name__}'
        )
    cls = _DoubleBufferingOptimizer if double_buffering else _MultiNodeOptimizer
    return cls(actual_optimizer, communicator, zero_fill)


_OWN: tp.Final = ('communicator', 'actual_optimizer', 'zero_fill', '_known', '_means', '_captured')


class _MultiNodeOptimizer:
    """Stands for an optimizer.

    Attributes:
        actual_optimizer (Optimizer): What it stands for.
        communicator (CommunicatorBase): Connects the processes.
        zero_fill (bool): Whether missing gradients are zeros.
    """

    actual_optimizer: tp.Any
    communicator: CommunicatorBase
    zero_fill: bool
    # The parameters that are the same in all processes, and whether each has an array.
    _known: list[tuple[str, bool]] | None
    _captured: tp.Any

    def __init__(
        self, actual_optimizer: Optimizer, communicator: CommunicatorBase, zero_fill: bool
    ) -> None:
        self.actual_optimizer = actual_optimizer
        self.communicator = communicator
        self.zero_fill = zero_fill
        self._known = None
        self._captured = None

    def __getattr__(self, name: str) -> tp.Any:
        if name in _OWN:  # while it is copied
            raise AttributeError(name)
        return getattr(self.actual_optimizer, name)

    def __setattr__(self, name: str, value: object) -> None:
        if name in _OWN:
            super().__setattr__(name, value)
        else:
            setattr(self.actual_optimizer, name, value)

    def setup(self, link: Link) -> _MultiNodeOptimizer:
        """Begins to optimize a link.

        Args:
            link (Link): Which.

        Returns:
            This object.
        """
        self.actual_optimizer.setup(link)
        self._known = None
        return self

    def update(self, lossfun: tp.Any = None, *args: tp.Any, **kwds: tp.Any) -> None:
        """Makes a step by the mean of the gradients of all processes, which must all call it.

        Args:
            lossfun (callable): If given, ``lossfun(*args, **kwds)`` is differentiated first.
            *args: For ``lossfun``.
            **kwds: For ``lossfun``.

        Raises:
            RuntimeError: Before `setup`.
            ValueError: If models or optimizers of the processes differ.
        """
        self.actual_optimizer._check_set_up()
        self._update(_compute_gradients, lossfun, args, kwds)

    def _update(self, compute: tp.Any, lossfun: tp.Any, args: tp.Any, kwds: tp.Any) -> None:
        if lossfun is not None:
            if self._is_new() and self._all_are_initialized():
                self._bring_in_step(has_gradients=False)
            compute(self.actual_optimizer, lossfun, *args, **kwds)
        if self._is_new() and not self._bring_in_step(has_gradients=True):
            return
        self._step()

    def _update_captured(self, lossfun: tp.Any, *args: tp.Any, **kwds: tp.Any) -> None:
        """As `update`; what computes gradients is recorded, and replayed where possible.

        Messages and the step itself are not part of the recording.
        """
        actual = self.actual_optimizer
        actual._check_set_up()
        if self._captured is None:
            self._captured = chainerx.capture(_compute_gradients)

        def compute(*args: tp.Any, **kwds: tp.Any) -> None:
            if actual._scaling is not None and actual._scaling.scale is not None:
                actual._scaling.send(actual._loss_scale)
            scaled = frozenset(self._captured(*args, **kwds))
            for path, param in self.target.namedparams() if scaled else ():
                if path in scaled:
                    param.loss_scale = actual._loss_scale

        self._update(compute, lossfun, args, kwds)

    def _step(self) -> None:
        self.communicator.multi_node_mean_grad(self.target, self.zero_fill)
        self.actual_optimizer.update()

    def _params(self) -> list[tuple[str, bool]]:
        return sorted((path, p.array is not None) for path, p in self.target.namedparams())

    def _is_new(self) -> bool:
        return self._known != self._params()

    def _all_are_initialized(self) -> bool:
        here = all(is_initialized for _, is_initialized in self._params())
        return all(self.communicator.allreduce_obj([here]))

    def _bring_in_step(self, has_gradients: bool) -> bool:
        """Makes parameters the same everywhere; returns whether gradients belong to them."""
        steps = self.communicator.allreduce_obj([self.actual_optimizer.t])
        for rank, t in enumerate(steps):
            if t != steps[0]:
                raise ValueError(
                    f'update: the optimizer of rank 0 has made {steps[0]} updates, and that of '
                    f'rank {rank} {t}: a snapshot must be loaded in all processes'
                )
        self._known = self._params()
        if has_gradients:
            digests = self.communicator.allreduce_obj([_digest(self.target)])
            if all(digest == digests[0] for digest in digests):
                return True
        self.communicator.bcast_data(self.target)
        return not has_gradients

    def _consider_in_step(self) -> None:
        """Says that the parameters are the same everywhere, as those of a checkpoint are."""
        self._known = self._params()


class _DoubleBufferingOptimizer(_MultiNodeOptimizer):
    """Makes each step by the gradients of the update before."""

    # Of the last update; None if there was none since parameters were made the same.
    _means: Means | None = None
    communicator: PureNcclCommunicator

    def _bring_in_step(self, has_gradients: bool) -> bool:
        self._means = None
        return super()._bring_in_step(has_gradients)

    def _step(self) -> None:
        means, self._means = (
            self._means,
            self.communicator.start_mean_grad(self.target, self.zero_fill),
        )
        if means is not None:
            means.finish()
            self.actual_optimizer.update()


def _compute_gradients(
    optimizer: tp.Any, lossfun: tp.Any, *args: tp.Any, **kwds: tp.Any
) -> tuple[str, ...]:
    """Leaves gradients; returns the paths of the parameters whose gradients have a loss scale."""
    GradientMethod._compute_gradients(optimizer, lossfun, args, kwds)
    params = sorted(optimizer.target.namedparams())
    return tuple(path for path, param in params if param.loss_scale is not None)


def _digest(model: Link) -> bytes:
    """What tells whether parameters are the same, bit by bit."""
    digest = hashlib.blake2b(digest_size=16)
    for path, param in sorted(model.namedparams()):
        array = param.array
        digest.update(f'{path} {None if array is None else (array.shape, array.dtype)}'.encode())
        if array is not None:
            digest.update(_arrays.as_bytes(_arrays.to_host(array)).data)
    return digest.digest()
