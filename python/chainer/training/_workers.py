"""The other processes of `MultiprocessParallelUpdater`."""

from __future__ import annotations

import contextlib
import json
import signal
import traceback
import typing as tp

import numpy as np

from chainer import backend
from chainer.backends import _cpu
from chainer.dataset import convert as convert_module
from chainer.serializer import Deserializer
from chainer.serializers.npz import DictionarySerializer, NpzDeserializer
from chainer.training import _convert, _random_states
from chainer.training._state import serialize_optional
from chainer.utils import _processes

if tp.TYPE_CHECKING:
    from chainer._typing import AnyCallable, DeviceSpec, Example
    from chainer.dataset.iterator import Iterator
    from chainer.link import Link
    from chainer.serializer import AbstractSerializer

_ALIGNMENT: tp.Final = 64


def compute_gradients(
    model: Link,
    batch: list[Example],
    converter: AnyCallable,
    device: backend.Device | None,
    loss_scale: float | None = None,
) -> None:
    """Forward and backward of one minibatch."""
    arrays = convert_module.call_converter(converter, batch, device)
    with backend.using_device(device):
        loss = _convert.call_with(tp.cast(tp.Any, model), arrays)
        model.cleargrads()
        loss.backward(loss_scale=loss_scale)


class Exchange:
    """Memory that processes share: parameters of the first one, gradients of the others."""

    def __init__(self, model: Link, n_workers: int) -> None:
        import multiprocessing

        self._specs: list[tuple[int, tuple[int, ...], np.dtype]] = []
        size = 0
        for path, param in model.namedparams():
            if not param.is_initialized:
                raise RuntimeError(
                    f'MultiprocessParallelUpdater: parameter {path} is uninitialized; give the '
                    'layer its input size, or call the model once before'
                )
            self._specs.append((size, param.shape, np.dtype(param.dtype)))
            size += -(-param.array.nbytes // _ALIGNMENT) * _ALIGNMENT
        # A `multiprocessing` object, which children receive under every start method.
        self._params = multiprocessing.RawArray('b', max(size, 1))
        self._grads = [multiprocessing.RawArray('b', max(size, 1)) for _ in range(n_workers)]
        self._has_grad = [
            multiprocessing.RawArray('b', max(len(self._specs), 1)) for _ in range(n_workers)
        ]

    def _views(self, memory: tp.Any) -> list[np.ndarray]:
        return [
            np.frombuffer(memory, dtype, int(np.prod(shape)), offset).reshape(shape)
            for offset, shape, dtype in self._specs
        ]

    def put_params(self, model: Link) -> None:
        for (_, param), place in zip(model.namedparams(), self._views(self._params), strict=True):
            backend.copyto(place, param.array)

    def get_params(self, model: Link) -> None:
        for (_, param), place in zip(model.namedparams(), self._views(self._params), strict=True):
            backend.copyto(param.array, place)

    def put_gradients(self, model: Link, rank: int) -> None:
        flags = self._has_grad[rank - 1]
        places = self._views(self._grads[rank - 1])
        for i, ((_, param), place) in enumerate(zip(model.namedparams(), places, strict=True)):
            flags[i] = param.grad is not None
            if param.grad is not None:
                backend.copyto(place, param.grad)

    def add_gradients(self, model: Link, factor: float) -> None:
        """Adds gradients of the workers to those of the model, always in the same order."""
        params = [param for _, param in model.namedparams()]
        for flags, memory in zip(self._has_grad, self._grads, strict=True):
            for i, (param, place) in enumerate(zip(params, self._views(memory), strict=True)):
                if flags[i]:
                    grad = param.device.send(place.copy())
                    param.grad = grad if param.grad is None else param.grad + grad
        if factor != 1:
            for param in params:
                if param.grad is not None:
                    param.grad = param.grad * param.grad.dtype.type(factor)


class Worker:
    """One of the other processes, as the first one sees it."""

    def __init__(
        self, rank: int, iterator: Iterator, device: DeviceSpec | None, converter: AnyCallable
    ) -> None:
        self.rank = rank
        self._iterator = iterator
        self._device = device
        self._converter = converter
        self._random_states: dict[str, object] = {}
        self._persistent: dict[str, object] = {}
        self._process: tp.Any = None
        self._pipe: tp.Any = None
        self._at_exit: tp.Any = None
        self._is_stale = False

    def __getstate__(self) -> dict[str, object]:
        """For copies and pickles, which start processes of their own."""
        self._ask_for_state()
        own = {'_process': None, '_pipe': None, '_at_exit': None, '_is_stale': False}
        return {**self.__dict__, **own}

    def _ask_for_state(self) -> None:
        if self._process is not None and not self._is_stale:
            self.send('save')
            self._keep(*self.receive())

    def start(self, model: Link, exchange: Exchange, has_gpus: bool) -> None:
        """Starts the process, unless it runs and nothing was loaded since.

        With GPUs it is a new one, and no fork of this process, which has used them.
        """
        import multiprocessing.util

        if self._process is not None:
            if not self._is_stale:
                return
            self._end()
        self._is_stale = False
        self._pipe, theirs = multiprocessing.Pipe()
        processes: tp.Any = multiprocessing.get_context()
        if has_gpus and processes.get_start_method() == 'fork':
            processes = multiprocessing.get_context('spawn')
        if has_gpus:  # else the process would begin on the GPU of this one, and stay there
            model = model.copy(mode='copy').to_device('native:0')
        states = self._random_states or _new_random_states(self.rank)
        self._process = _processes.started(
            processes,
            'MultiprocessParallelUpdater pickles model, iterator and converter',
            target=_work,
            name=f'worker {self.rank}',
            daemon=False,  # for its iterator may have processes, which a daemon must not start
            args=(
                self._pipe,
                theirs,
                self.rank,
                model,
                exchange,
                self._iterator,
                self._device,
                self._converter,
                states,
                self._persistent,
                _processes.is_main_thread(),
            ),
        )
        theirs.close()
        # Where nobody finalizes the updater, the interpreter would wait for it at exit.
        self._at_exit = multiprocessing.util.Finalize(
            self, _end_process, (self._process, self._pipe), exitpriority=1
        )

    def send(self, message: str) -> None:
        try:
            self._pipe.send(message)
        except OSError as error:
            raise self._ended() from error

    def receive(self) -> tp.Any:
        """Waits for an answer.

        Raises:
            RuntimeError: If the worker raised or ended.
        """
        try:
            kind, answer = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise self._ended() from error
        if kind == 'error':
            raise RuntimeError(f'worker {self.rank} on {self._device} failed:\n{answer}')
        return answer

    def _ended(self) -> RuntimeError:
        self._process.join(5)
        return RuntimeError(
            f'worker {self.rank} on {self._device} ended with {self._process.exitcode}'
        )

    def stop(self) -> None:
        """Ends the process, and keeps the state that it has."""
        if self._process is None:
            return
        if not self._is_stale:
            with contextlib.suppress(EOFError, OSError):
                self._pipe.send('save')
                # Answers from before an error may be waiting; a process that hangs has none.
                while self._pipe.poll(1):
                    kind, answer = self._pipe.recv()
                    if kind == 'state':
                        self._keep(*answer)
                    if kind != 'done':
                        break
        self._end()

    def _keep(
        self,
        iterator: dict[str, object],
        random_states: dict[str, object],
        persistent: dict[str, object],
    ) -> None:
        NpzDeserializer(iterator).load(self._iterator)
        self._random_states = random_states
        self._persistent = persistent

    def _end(self) -> None:
        self._process = None
        self._at_exit()  # once

    def serialize(self, serializer: AbstractSerializer) -> None:
        if isinstance(serializer, Deserializer):
            self._iterator.serialize(serializer['iterator'])
            names = json.loads(str(serializer('random_names', '')) or '[]')
            inner = serializer['random']
            self._random_states = {name: inner(name, None) for name in names}
            # Older snapshots lack them; a worker then begins with those of the first process.
            names = json.loads(str(serialize_optional(serializer, 'persistent_names', '')) or '[]')
            inner = serializer['persistent']
            self._persistent = {name: inner(str(i), None) for i, name in enumerate(names)}
            # It begins anew with that at the next update, unless loading fails further on.
            self._is_stale = self._process is not None
            return
        self._ask_for_state()
        self._iterator.serialize(serializer['iterator'])
        serializer('random_names', json.dumps(list(self._random_states)))
        for name, value in self._random_states.items():
            serializer['random'](name, value)
        serializer('persistent_names', json.dumps(list(self._persistent)))
        for i, value in enumerate(self._persistent.values()):
            serializer['persistent'](str(i), value)


def _end_process(process: tp.Any, pipe: tp.Any) -> None:
    with contextlib.suppress(OSError):
        pipe.send('stop')
    process.join(1)
    _processes.end([process])
    pipe.close()


def _persistent_of(model: Link) -> tp.Iterator[tuple[str, Link, str]]:
    """Names of values that are saved with a link and are no parameters, such as running means."""
    for path, link in model.namedlinks():
        for name in sorted(link._persistent):
            yield f'{path}/{name}', link, name


def _get_persistent(model: Link) -> dict[str, object]:
    values = {key: getattr(link, name) for key, link, name in _persistent_of(model)}
    return {
        key: _cpu._to_cpu(value) if hasattr(value, 'dtype') else value
        for key, value in values.items()
        if value is not None
    }


def _set_persistent(model: Link, values: dict[str, tp.Any]) -> None:
    for key, link, name in _persistent_of(model):
        if key not in values:
            continue
        value, old = values[key], getattr(link, name)
        if old is None or hasattr(old, 'dtype'):
            value = link.device.send(np.asarray(value))
        else:  # numbers come out of a snapshot as arrays
            value = type(old)(value.item() if hasattr(value, 'dtype') else value)
        setattr(link, name, value)


def _new_random_states(rank: int) -> dict[str, object]:
    """The states of a worker that follow from those of this process, other than them."""
    import random

    import chainerx

    saved = _random_states.capture()
    seed = int(np.random.randint(0, 2**31)) + rank
    try:
        np.random.seed(seed)
        random.seed(seed)
        chainerx.random.seed(seed)
        return _random_states.capture()
    finally:
        _random_states.restore(saved)


def _work(
    parents: tp.Any,
    pipe: tp.Any,
    rank: int,
    model: Link,
    exchange: Exchange,
    iterator: Iterator,
    device: backend.Device | None,
    converter: AnyCallable,
    states: dict[str, object],
    persistent: dict[str, object],
    by_main_thread: bool,
) -> None:
    """The main function of a worker."""
    _processes.end_with_parent(by_main_thread)
    parents.close()  # so that the pipe ends when the first process does
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # which tells us to stop
    try:
        _random_states.restore(states)
        model.to_device(device)
        _set_persistent(model, persistent)
        while True:
            message = pipe.recv()
            if message == 'stop':
                break
            if message == 'save':
                saver = DictionarySerializer()
                iterator.serialize(saver)
                state = saver.target, _random_states.capture(), _get_persistent(model)
                pipe.send(('state', state))
                continue
            exchange.get_params(model)
            compute_gradients(model, iterator.next(), converter, device)
            exchange.put_gradients(model, rank)
            pipe.send(('done', None))
        iterator.finalize()
    except EOFError:
        pass
    except BaseException:
        with contextlib.suppress(OSError):
            pipe.send(('error', traceback.format_exc()))
