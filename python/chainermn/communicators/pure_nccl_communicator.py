"""`PureNcclCommunicator`."""

from __future__ import annotations

import typing as tp

import chainer
import chainerx
import numpy as np

from chainermn.communicators import _arrays, _model, _nccl
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
        self._nccl: dict[str, _nccl.Communicator] = {}
        with self.config_scope():
            self.allreduce_grad_dtype = _to_dtype(allreduce_grad_dtype)

    def _start(self, mpi_comm: tp.Any) -> None:
        super()._start(mpi_comm)
        self._nccl = {}

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
        items = self._agreement.reach(
            'multi_node_mean_grad', lambda: _on_gpus(_model.gradients_of(model, zero_fill))
        )
        if self._size == 1:
            return
        for group in self._groups(items):
            flat = _model.join_on_device(group)
            dtype = flat.dtype
            if self.allreduce_grad_dtype is not None:
                flat = flat.astype(self.allreduce_grad_dtype, copy=False)
            comm, memory, stream = self._enter(flat)
            comm.mean(memory, flat.size, np.dtype(flat.dtype).name, stream)
            _model.set_gradients(group, flat.astype(dtype, copy=False))

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
            made = self._inner.bcast(made)
            self._nccl[name] = _nccl.Communicator(made, self._size, self._rank)
        return self._nccl[name], memory, stream


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
