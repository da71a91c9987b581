"""`PureNcclCommunicator`."""

from __future__ import annotations

import sys
import typing as tp

import chainer
import chainerx
import numpy as np

from chainermn.communicators import _arrays, _model, _nccl
from chainermn.communicators._agreement import Items
from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase

if tp.TYPE_CHECKING:
    from chainer.link import Link


class PureNcclCommunicator(MpiCommunicatorBase):
    """Sends parameters and gradients by NCCL, from GPU to GPU; all else by MPI.

    Models must be on GPUs, in chainerx's ``cuda`` or CuPy, one for each process. Means are queued
    to the current stream, and the host does not wait for them.

    Args:
        mpi_comm: A communicator of mpi4py; None for all processes.
        allreduce_grad_dtype: The dtype of floats in which gradients are sent and added; None for
            their own.

    Raises:
        ImportError: If there is no mpi4py or no MPI.
        RuntimeError: If there is no NCCL.
        ValueError: For a dtype that NCCL does not add.
    """

    def __init__(self, mpi_comm: tp.Any = None, allreduce_grad_dtype: tp.Any = None) -> None:
        super().__init__(mpi_comm)
        _nccl.check_available()
        with self.config_scope():
            self.allreduce_grad_dtype = _to_dtype(allreduce_grad_dtype)

    def _start(self, mpi_comm: tp.Any) -> None:
        super()._start(mpi_comm)
        self._nccl: dict[str, _nccl.Communicator] = {}
        self._streams: dict[str, tp.Any] = {}

    def set_config(self, name: str, **kwargs: tp.Any) -> None:
        """Changes a setting of the communicator.

        Args:
            name (str): ``'allreduce_grad_dtype'``.
            **kwargs: ``value``.

        Raises:
            TypeError: For another argument.
            ValueError: If there is no such setting, or for a dtype that NCCL does not add.
        """
        if name != 'allreduce_grad_dtype':
            super().set_config(name, **kwargs)
        if list(kwargs) != ['value']:
            raise TypeError(
                f'set_config: {name} takes value=, not {", ".join(kwargs) or "nothing"}'
            )
        with self.config_scope():
            self.allreduce_grad_dtype = _to_dtype(kwargs['value'])

    def finalize(self) -> None:
        """Gives up what the communicator holds, when its work on GPUs is done."""
        for comm in self._nccl.values():
            comm.destroy()
        self._nccl = {}
        super().finalize()

    def bcast_data(self, model: Link) -> None:
        items = self._agreement.reach('bcast_data', lambda: _on_gpus(_model.arrays_of(model)))
        if self._size == 1:
            return
        for group in self._groups(items):
            flat = _model.join_on_device(group)
            comm, memory, stream = self._enter(flat)
            comm.broadcast(memory, flat.size * np.dtype(flat.dtype).itemsize, stream)
            if self._rank != 0:
                _model.write_back(group, flat)

    def multi_node_mean_grad(self, model: Link, zero_fill: bool = False) -> None:
        self.start_mean_grad(model, zero_fill, beside=False).finish()

    def start_mean_grad(self, model: Link, zero_fill: bool, *, beside: bool = True) -> Means:
        """Begins to compute the means of the gradients that are there.

        Args:
            model (Link): The model.
            zero_fill (bool): As in `multi_node_mean_grad`.
            beside (bool): Whether on a stream of their own, beside what is queued next.

        Returns:
            Means: Its ``finish`` makes them the gradients of the model.

        Raises:
            ValueError: As in `multi_node_mean_grad`.
        """
        items = self._agreement.reach(
            'multi_node_mean_grad', lambda: self._gradients_of(model, zero_fill)
        )
        parts = []
        for group in self._groups(items):
            flat = _model.join_on_device(group)
            dtype = flat.dtype
            if self.allreduce_grad_dtype is not None:
                flat = flat.astype(self.allreduce_grad_dtype, copy=False)
            stream = None
            if self._size > 1:
                comm, memory, current = self._enter(flat)
                if beside:
                    stream = self._stream_beside(flat)
                    current = stream.ptr
                comm.mean(memory, flat.size, np.dtype(flat.dtype).name, current)
            parts.append((group, flat, dtype, stream))
        return Means(parts)

    def _gradients_of(self, model: Link, zero_fill: bool) -> tuple[Items, list[_model.Item]]:
        description, items = _on_gpus(_model.gradients_of(model, zero_fill))
        setting = f'allreduce_grad_dtype {self.allreduce_grad_dtype}'
        return Items(description.noun, (setting, *description.items)), items

    def _stream_beside(self, flat: tp.Any) -> tp.Any:
        """A stream of this communicator, behind what was queued to the current one."""
        if isinstance(flat, chainerx.ndarray):
            device = flat.device
            stream = self._streams.get(device.name)
            if stream is None:
                stream = self._streams[device.name] = chainerx.cuda.Stream(device)
            stream.wait_stream(chainerx.cuda.current_stream(device))
            return stream
        cuda = chainer.backends.cuda.cupy.cuda
        name = f'cupy:{flat.device.id}'
        if name not in self._streams:
            self._streams[name] = cuda.Stream(non_blocking=True)
        self._streams[name].wait_event(cuda.get_current_stream().record())
        return self._streams[name]

    def _enter(self, flat: tp.Any) -> tuple[_nccl.Communicator, int, int]:
        """The communicator of the GPU of an array, its memory, and the current stream."""
        if isinstance(flat, chainerx.ndarray):
            name = flat.device.name
            chainerx.cuda.mem_info(flat.device)  # makes the context of the GPU that of this thread
            memory, stream = flat.data_ptr, chainerx.cuda.current_stream(flat.device).ptr
        else:
            name = f'cupy:{flat.device.id}'
            flat.device.use()
            memory = flat.data.ptr
            stream = chainer.backends.cuda.cupy.cuda.get_current_stream().ptr
        if name not in self._nccl:
            made = _nccl.new_unique_id() if self._rank == 0 else None
            made = self._inner.bcast(made, 0)
            self._nccl[name] = _nccl.Communicator(made, self._size, self._rank)
        return self._nccl[name], memory, stream


class Means:
    """Means of gradients that may still be computed."""

    def __init__(self, parts: list[tuple[list[_model.Item], tp.Any, tp.Any, tp.Any]]) -> None:
        self._parts = parts

    def __del__(self) -> None:
        # Memory that nobody asks for any more is used again behind what is queued here.
        if not sys.is_finalizing():
            self.wait()

    def wait(self) -> None:
        """Lets the current stream wait until they are computed; the host does not."""
        for _, flat, _, stream in self._parts:
            if stream is None:
                continue
            if isinstance(flat, chainerx.ndarray):
                chainerx.cuda.current_stream(flat.device).wait_stream(stream)
            else:
                with flat.device:
                    current = chainer.backends.cuda.cupy.cuda.get_current_stream()
                    current.wait_event(stream.record())

    def finish(self) -> None:
        """Makes them the gradients of the model."""
        self.wait()
        for group, flat, dtype, _ in self._parts:
            with chainer.using_device(chainer.backend.get_device_from_array(flat)):
                _model.set_gradients(group, flat.astype(dtype, copy=False))
        self._parts = []


def _to_dtype(dtype: tp.Any) -> np.dtype | None:
    if dtype is None:
        return None
    found = _arrays.dtype_of(_arrays.Spec('numpy', dtype, ())) if dtype == 'bfloat16' else dtype
    found = np.dtype(found)
    if found.name not in ('float16', 'bfloat16', 'float32', 'float64'):
        raise ValueError(
            f'pure_nccl: allreduce_grad_dtype is {found}, expected float16, bfloat16, float32 or '
            'float64'
        )
    return found


def _on_gpus(described: tuple[tp.Any, list[_model.Item]]) -> tuple[tp.Any, list[_model.Item]]:
    for item in described[1]:
        device = chainer.backend.get_device_from_array(item.array)
        is_gpu = isinstance(device, chainer.backend.GpuDevice) or (
            isinstance(device, chainer.backend.ChainerxDevice)
            and device.device.backend.name == 'cuda'
        )
        if not is_gpu:
            raise ValueError(
                f'pure_nccl: parameter {item.param.name} is on {device}, expected a GPU; use the '
                'communicator flat'
            )
    return described
