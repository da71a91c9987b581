"""An updater that shares each minibatch out among devices."""

from __future__ import annotations

import typing as tp

from chainer import backend
from chainer.dataset import convert as convert_module
from chainer.training import _convert, _gpus
from chainer.training.extension import refuse
from chainer.training.updaters.standard_updater import StandardUpdater

if tp.TYPE_CHECKING:
    from chainer._optim.optimizer import Optimizer
    from chainer._typing import AnyCallable, DeviceSpec
    from chainer.dataset.iterator import Iterator
    from chainer.link import Link
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer


class ParallelUpdater(StandardUpdater):
    """Gives each of several devices a part of the minibatch, and makes one step by all gradients.

    Each device has a copy of the model. Gradients are *added up*, as in Chainer v7: where losses
    are means over the part, the step is as many times larger as there are devices.
    ``reduce='mean'`` weighs them with the sizes of the parts instead, and the step is that of one
    device with the whole minibatch.

    Args:
        iterator: As in `StandardUpdater`.
        optimizer: As in `StandardUpdater`.
        converter (callable): As in `StandardUpdater`.
        models (dict): The models by name; ``'main'`` is that of the optimizer. Default: copies.
        devices (dict): The devices by name, with ``'main'``; any argument of `chainer.get_device`.
        loss_func (callable): Makes the loss of the arrays; default: the model.
        loss_scale (float): As in `StandardUpdater`.
        auto_new_epoch (bool): As in `StandardUpdater`.
        **kwargs: ``reduce``: ``'sum'`` or ``'mean'``.

    Raises:
        ValueError: If there are neither models nor devices, or ``reduce`` is neither of both.
        KeyError: If one of them lacks ``'main'``.
    """

    def __init__(
        self,
        iterator: Iterator | dict[str, Iterator],
        optimizer: Optimizer | dict[str, Optimizer],
        converter: AnyCallable = convert_module.concat_examples,
        models: dict[str, Link] | None = None,
        devices: dict[str, DeviceSpec] | None = None,
        loss_func: AnyCallable | None = None,
        loss_scale: float | None = None,
        auto_new_epoch: bool = True,
        **kwargs: tp.Any,
    ) -> None:
        self._reduce = check_reduce('ParallelUpdater', kwargs.pop('reduce', 'sum'))
        refuse('ParallelUpdater', kwargs)
        super().__init__(
            iterator,
            optimizer,
            converter,
            loss_func=loss_func,
            loss_scale=loss_scale,
            auto_new_epoch=auto_new_epoch,
        )
        main = self._get_main_optimizer().target
        if models is None:
            if devices is None:
                raise ValueError('either models or devices must be specified')
            if 'main' not in devices:
                raise KeyError("'devices' must contain a 'main' key.")
            models = {'main': main}
            for name in devices:
                if name != 'main':
                    models[name] = main.copy(mode='copy')
        elif 'main' not in models:
            raise KeyError("'models' must contain a 'main' key.")
        elif devices is not None and set(devices) != set(models):
            raise KeyError(
                f'devices and models have other names: {sorted(devices)}, {sorted(models)}'
            )
        if models['main'] is not main:
            raise ValueError("models['main'] must be the target of the optimizer")
        self._models = models
        # The main one may be loaded before the first iteration, or with the trainer.
        self._are_alike = False
        self._devices: dict[str, backend.Device | None] = {
            name: None if devices is None else _convert.check_device(devices[name])
            for name in models
        }
        for name, model in models.items():
            device = self._devices[name]
            if device is not None:
                model.to_device(device)
            else:
                self._devices[name] = model.device

    def connect_trainer(self, trainer: Trainer) -> None:
        """Registers the models with the trainer's reporter, so that reported values have their
        names.

        Args:
            trainer (Trainer): The caller.
        """
        for name, model in self._models.items():
            trainer.reporter.add_observer(name, model)
            trainer.reporter.add_observers(name, model.namedlinks(skipself=True))

    def update_core(self) -> None:
        """Does one iteration.

        Raises:
            StopIteration: If the iterator has come to its end.
        """
        batch = self._next_batch()
        optimizer, main = self._get_main_optimizer(), self._models['main']
        names = ['main', *(name for name in self._models if name != 'main')]
        copies = _gpus.Copies([self._models[name] for name in names])
        if not self._are_alike and not _has_uninitialized(main):
            copies.copy_parameters()
            self._are_alike = True
        parts = {name: batch[i :: len(names)] for i, name in enumerate(names)}
        # All before the first forward: a copy to a GPU may wait for what was queued there.
        inputs = {
            name: convert_module.call_converter(self.converter, part, self._devices[name])
            for name, part in parts.items()
            if len(part) > 0  # a minibatch may be smaller than the number of devices
        }
        losses = []
        for name, arrays in inputs.items():
            model = self._models[name]
            if name != 'main' and _has_uninitialized(model):
                # The first forward of the main model made its parameters; these are to be the same.
                model.copyparams(main)
            device = self._devices[name] or model.device
            with backend.using_device(device):
                loss = _convert.call_with(self.loss_func or model, arrays)
                if self._reduce == 'mean':
                    loss = loss * (len(parts[name]) / len(batch))
            losses.append((device, loss))
        for model in self._models.values():
            model.cleargrads()
        for device, loss in losses:
            with backend.using_device(device):
                loss.backward(loss_scale=self.loss_scale)
        del inputs, losses, loss
        copies.add_gradients()
        optimizer.update()
        copies.copy_parameters()
        self._count_epoch()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the state of `StandardUpdater`, which copies of the model follow.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        super().serialize(serializer)
        self._are_alike = False


def _has_uninitialized(model: Link) -> bool:
    return any(not param.is_initialized for param in model.params())


def check_reduce(name: str, reduce: str) -> str:
    """Raises ValueError for a way to reduce gradients that there is not."""
    if reduce not in ('sum', 'mean'):
        raise ValueError(f"{name}: reduce must be 'sum' or 'mean', not {reduce!r}")
    return reduce
