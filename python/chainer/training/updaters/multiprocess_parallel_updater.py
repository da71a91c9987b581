"""An updater that shares the work out among processes."""

from __future__ import annotations

import typing as tp

from chainer import backend
from chainer.dataset import convert as convert_module
from chainer.training import _convert, _workers
from chainer.training._packing import gather_grads as gather_grads
from chainer.training._packing import gather_params as gather_params
from chainer.training._packing import scatter_grads as scatter_grads
from chainer.training._packing import scatter_params as scatter_params
from chainer.training._packing import size_num_grads as size_num_grads
from chainer.training._state import serialize_new
from chainer.training.extension import refuse
from chainer.training.updaters.parallel_updater import check_reduce
from chainer.training.updaters.standard_updater import StandardUpdater

if tp.TYPE_CHECKING:
    from chainer._optim.optimizer import Optimizer
    from chainer._typing import AnyCallable
    from chainer.dataset.iterator import Iterator
    from chainer.serializer import AbstractSerializer


class MultiprocessParallelUpdater(StandardUpdater):
    """Trains in several processes, each with a model, an iterator and a device of its own.

    This process is the first of them. Gradients meet in memory of the host that the processes
    share, and the optimizer of this one makes the step. With GPUs, processes are started by
    ``spawn``: the program needs ``if __name__ == '__main__':``, and `ParallelUpdater` does without
    the host. Reported values are those of this process. Gradients are
    *added up*, as in Chainer v7; with ``reduce='mean'`` the step is that of their mean.

    Workers are started by the first update. If one raises or is killed, so does the update, and the
    others end.

    Args:
        iterators (list): An iterator for each process: of a part of the data, as
            `chainer.datasets.split_dataset_n_random` makes them.
        optimizer: The optimizer.
        converter (callable): As in `StandardUpdater`.
        devices (list or dict): A device for each process, of the CPU or ``cuda:0`` and the like;
            what `chainer.get_device` takes. Of a dict, ``'main'`` is the first.
        auto_new_epoch (bool): As in `StandardUpdater`.
        **kwargs: ``reduce``: ``'sum'`` or ``'mean'``.

    Raises:
        ValueError: If there are not as many iterators as devices, or a device is of CuPy.
    """

    def __init__(
        self,
        iterators: tp.Sequence[Iterator],
        optimizer: Optimizer,
        converter: AnyCallable = convert_module.concat_examples,
        devices: tp.Any = None,
        auto_new_epoch: bool = True,
        **kwargs: tp.Any,
    ) -> None:
        self._reduce = check_reduce('MultiprocessParallelUpdater', kwargs.pop('reduce', 'sum'))
        refuse('MultiprocessParallelUpdater', kwargs)
        if isinstance(devices, dict):
            devices = [devices['main'], *(d for name, d in devices.items() if name != 'main')]
        devices = [_convert.check_device(device) for device in devices or ()]
        if len(devices) != len(iterators) or not devices:
            raise ValueError(
                'MultiprocessParallelUpdater: there must be an iterator for each device, but there '
                f'are {len(iterators)} iterators and {len(devices)} devices'
            )
        for device in devices:
            if not isinstance(
                device, backend.ChainerxDevice | backend.CpuDevice | backend.Intel64Device
            ):
                raise ValueError(
                    'MultiprocessParallelUpdater: devices must be of the CPU or of chainerx, such '
                    f'as cuda:0, not {device}'
                )
        super().__init__(
            iterators[0], optimizer, converter, device=devices[0], auto_new_epoch=auto_new_epoch
        )
        self._devices = devices
        # The states of the workers' iterators at the start and at a snapshot.
        self._workers = [
            _workers.Worker(rank, iterator, device, converter)
            for rank, (iterator, device) in enumerate(zip(iterators, devices, strict=True))
            if rank > 0
        ]
        self._exchange: _workers.Exchange | None = None

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, '_exchange': None}  # memory that its processes share

    @staticmethod
    def available() -> bool:
        """Whether it can be used here: always."""
        return True

    def setup_workers(self) -> None:
        """Starts the other processes, unless they run; the first update does it.

        Raises:
            RuntimeError: If a parameter is uninitialized.
        """
        model = self._get_main_optimizer().target
        if self._exchange is None:
            self._exchange = _workers.Exchange(model, len(self._workers))
        for worker in self._workers:
            worker.start(model, self._exchange, any(map(_is_gpu, self._devices)))

    def update_core(self) -> None:
        """Does one iteration.

        Raises:
            RuntimeError: If a worker raised or ended.
            StopIteration: If the iterator has come to its end.
        """
        self.setup_workers()
        exchange = tp.cast(_workers.Exchange, self._exchange)
        optimizer = self._get_main_optimizer()
        model = optimizer.target
        try:
            exchange.put_params(model)
            for worker in self._workers:
                worker.send('update')
            _workers.compute_gradients(
                model, self._next_batch(), self.converter, self._devices[0], self.loss_scale
            )
            for worker in self._workers:
                worker.receive()
        except BaseException:
            self._stop()
            raise
        exchange.add_gradients(model, 1 / len(self._devices) if self._reduce == 'mean' else 1)
        optimizer.update()
        self._count_epoch()

    def finalize(self) -> None:
        """Ends the workers and the iterator."""
        self._stop()
        super().finalize()

    def _stop(self) -> None:
        for worker in self._workers:
            worker.stop()
        self._exchange = None

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the state of `StandardUpdater` and of the workers.

        A worker's state is its iterators, random generators and persistent values of the model,
        such as running statistics. Snapshots of Chainer v7 lack them.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        super().serialize(serializer)
        for worker in self._workers:
            serialize_new(serializer, f'worker:{worker.rank}', worker)


def _is_gpu(device: backend.Device | None) -> bool:
    return isinstance(device, backend.ChainerxDevice) and device.device.backend.name != 'native'
