"""Kernels of users, which chainerx compiles."""

from __future__ import annotations

import chainerx

import cupy


def _on_chainerx(kernel, args, kwargs):
    """Calls a kernel of chainerx on the same memory and the current stream."""
    stream = cupy.cuda.get_current_stream().ptr
    device = f'cuda:{cupy.cuda.Device().id}'

    def swap(x):
        if isinstance(x, tuple):
            return tuple(map(swap, x))
        return chainerx.asarray(x) if isinstance(x, cupy.ndarray) else x

    with chainerx.cuda.Stream.from_ptr(stream, device):
        y = kernel(*map(swap, args), **{k: swap(v) for k, v in kwargs.items()})
        if y is None:
            return None
        return tuple(map(cupy.asarray, y)) if isinstance(y, tuple) else cupy.asarray(y)


class _Kernel:
    def __init__(self, *args, **kwargs):
        self.args = args
        self._kernel = getattr(chainerx.cuda, type(self).__name__)(*args, **kwargs)

    def __call__(self, *args, **kwargs):
        return _on_chainerx(self._kernel, args, kwargs)


class ElementwiseKernel(_Kernel):
    pass


class ReductionKernel(_Kernel):
    pass


class RawKernel(_Kernel):
    pass
