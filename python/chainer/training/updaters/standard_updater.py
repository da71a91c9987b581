"""The updater of most trainings: one optimizer, or some, on one device."""

from __future__ import annotations

import functools
import typing as tp

import chainerx

from chainer import backend
from chainer.dataset import convert as convert_module
from chainer.training import _convert
from chainer.training._updater import Updater
from chainer.training.extension import refuse

if tp.TYPE_CHECKING:
    from chainer._typing import AnyCallable, DeviceSpec, Example
    from chainer.dataset import Iterator
    from chainer.optimizer import Optimizer
    from chainer.serializer import AbstractSerializer


class StandardUpdater(Updater):
    """Takes a minibatch, and lets the optimizer make one step with it.

    Args:
        iterator: The iterator of the training data, or a dict of iterators, of which ``'main'`` is
            that.
        optimizer: The optimizer, or a dict of optimizers, of which ``'main'`` is that; a subclass
            with another `update_core` names them as it likes.
        converter (callable): Makes arrays of the list of examples of a minibatch.
        device: Where models and arrays are brought; an argument of `get_device`. None leaves
            models where they are.
        loss_func (callable): Makes the loss of the arrays; default: the target of the optimizer.
        loss_scale (float): The loss factor that keeps 16-bit gradients from underflow.
        auto_new_epoch (bool): Whether ``new_epoch`` of the optimizer is called after each epoch.
        **kwargs: ``input_device``: where arrays are brought; default: ``device``. Without both, the
            converter gets None and leaves them where they are. ``capture``: whether steps of the
            optimizer are recorded and replayed by `chainerx.capture`; not those that an
            ``update_core`` of a subclass makes itself.

    Attributes:
        converter (callable): As given.
        loss_func (callable): As given.
        iteration (int): The number of updates so far.

    Raises:
        TypeError: For optimizers or iterators that are none.
        KeyError: For a dict without ``'main'``, where it is needed.
    """

    _captured: AnyCallable | None = None
    _has_captured = False

    def __init__(
        self,
        iterator: Iterator | dict[str, Iterator],
        optimizer: Optimizer | dict[str, Optimizer],
        converter: AnyCallable = convert_module.concat_examples,
        device: DeviceSpec | None = None,
        loss_func: AnyCallable | None = None,
        loss_scale: float | None = None,
        auto_new_epoch: bool = True,
        **kwargs: object,
    ) -> None:
        input_device = kwargs.pop('input_device', None)
        if kwargs.pop('capture', False):
            self._captured = chainerx.capture(_update)
        refuse('StandardUpdater', kwargs)
        self._iterators: dict[str, Iterator] = _named('iterator', iterator, ('next', '__next__'))
        self._optimizers: dict[str, Optimizer] = _named('optimizer', optimizer, ('update',))
        if not self._is_overridden():  # others name them as they like
            _get_main('iterator', self._iterators)
            self._get_main_optimizer()
        self.converter = converter
        self.loss_func = loss_func
        self.iteration = 0
        self._device = _convert.check_device(device)
        self._input_device = _convert.check_device(input_device)
        self.loss_scale = loss_scale
        self.auto_new_epoch = auto_new_epoch
        if self._device is not None:
            for one in self._optimizers.values():
                if one.target is not None:
                    one.target.to_device(self._device)
        if self._input_device is None:
            self._input_device = self._device
        for one in self._optimizers.values():
            if loss_scale is not None:
                one.set_loss_scale(loss_scale)
            if auto_new_epoch:
                one.use_auto_new_epoch = True

    def _is_overridden(self) -> bool:
        own, base = type(self), StandardUpdater
        return own.update is not base.update or own.update_core is not base.update_core

    def _get_main_optimizer(self) -> Optimizer:
        return tp.cast('Optimizer', _get_main('optimizer', self._optimizers))

    @property
    def device(self) -> backend.Device | None:
        """Where models were brought; None if they were left where they are."""
        return self._device

    @property
    def input_device(self) -> backend.Device | None:
        """Where arrays are brought; None if they are left where they are."""
        return self._input_device

    @property
    def epoch(self) -> int:
        """The number of epochs that are done."""
        return self._iterators['main'].epoch

    @property
    def epoch_detail(self) -> float:
        """The same with its fraction."""
        return self._iterators['main'].epoch_detail

    @property
    def previous_epoch_detail(self) -> float:
        """`epoch_detail` before the last update."""
        return self._iterators['main'].previous_epoch_detail

    @property
    def is_new_epoch(self) -> bool:
        """Whether the last update ended an epoch."""
        return self._iterators['main'].is_new_epoch

    def finalize(self) -> None:
        """Ends the iterators."""
        for iterator in self._iterators.values():
            iterator.finalize()

    def get_optimizer(self, name: str) -> Optimizer:
        """One of the optimizers.

        Args:
            name (str): Its name.
        """
        return self._optimizers[name]

    def get_all_optimizers(self) -> dict[str, Optimizer]:
        """All optimizers by name."""
        return dict(self._optimizers)

    def get_iterator(self, name: str) -> Iterator:
        """One of the iterators.

        Args:
            name (str): Its name.
        """
        return self._iterators[name]

    def update(self) -> None:
        """Does one iteration: `update_core`, and counts it.

        Raises:
            RuntimeError: If steps are to be captured that `update_core` of a subclass makes itself.
        """
        self.update_core()
        self.iteration += 1
        if self._captured is not None and not self._has_captured:
            name = type(self).__name__
            raise RuntimeError(
                f'{name}: capture is True, but {name}.update_core makes its steps without '
                'StandardUpdater.update_core, which alone is captured; leave capture out, and '
                'decorate what makes a step with chainerx.capture'
            )

    def update_core(self) -> None:
        """Makes one iteration; overridden by trainings of another kind.

        Raises:
            StopIteration: If the iterator has come to its end.
        """
        batch = self._next_batch()
        in_arrays = convert_module.call_converter(self.converter, batch, self._input_device)
        optimizer = self._get_main_optimizer()
        loss_func = self.loss_func or optimizer.target
        update: AnyCallable = optimizer.update
        if self._captured is not None:
            # An optimizer that sends messages captures what is between them.
            update = getattr(optimizer, '_update_captured', None) or functools.partial(
                self._captured, optimizer
            )
            self._has_captured = True
        if isinstance(in_arrays, tuple):
            update(loss_func, *in_arrays)
        elif isinstance(in_arrays, dict):
            update(loss_func, **in_arrays)
        else:
            update(loss_func, in_arrays)
        self._count_epoch()
        if isinstance(batch, convert_module.Converted):
            # While the device computes, and before anybody waits for it.
            tp.cast(tp.Any, self._iterators['main']).prefetch()

    def _next_batch(self) -> list[Example]:
        try:
            return self._iterators['main'].next()
        except StopIteration:
            raise StopIteration(
                f'the iterator of the training data came to its end in iteration '
                f'{self.iteration + 1}: make it with repeat=True, and of a dataset that is not '
                'empty'
            ) from None

    def _count_epoch(self) -> None:
        if self.auto_new_epoch and self._iterators['main'].is_new_epoch:
            for optimizer in self._optimizers.values():
                optimizer.new_epoch(auto=True)

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads iterators, optimizers, their models, and the number of updates.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        for name, iterator in self._iterators.items():
            iterator.serialize(serializer[f'iterator:{name}'])
        for name, optimizer in self._optimizers.items():
            optimizer.serialize(serializer[f'optimizer:{name}'])
            optimizer.target.serialize(serializer[f'model:{name}'])
        self.iteration = int(serializer('iteration', self.iteration))


def _update(optimizer: Optimizer, loss_func: AnyCallable, *args: object, **kwargs: object) -> None:
    optimizer.update(loss_func, *args, **kwargs)


def _named(kind: str, given: object, methods: tuple[str, ...]) -> dict[str, tp.Any]:
    """Return the arguments by name; a single one is ``'main'``."""
    by_name = dict(given) if isinstance(given, dict) else {'main': given}
    for name, one in by_name.items():
        if not any(hasattr(one, method) for method in methods):
            raise TypeError(f'{kind} {name!r} is no {kind}, but {type(one).__name__}')
    return by_name


def _get_main(kind: str, by_name: dict[str, tp.Any]) -> tp.Any:
    if 'main' in by_name:
        return by_name['main']
    raise KeyError(f"{kind}: the dict must have 'main'; it has {', '.join(by_name) or 'none'}")
