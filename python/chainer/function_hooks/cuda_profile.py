"""A hook that marks functions in the profilers of CUDA."""

from __future__ import annotations

import chainerx

from chainer._diagnostics.nvtx_ranges import FunctionRanges
from chainer.backends import cuda


class CUDAProfileHook(FunctionRanges):
    """Makes a range of each function in NVIDIA's profilers (NVTX).

    Through CuPy where that is available, else by :mod:`chainerx.cuda.nvtx`.

    Raises:
        RuntimeError: If there is neither CuPy nor a GPU that chainerx can use.
    """

    name = 'CUDAProfileHook'

    def __init__(self) -> None:
        if cuda.available:
            nvtx = cuda.cupy.cuda.nvtx
            super().__init__(self.name, nvtx.RangePush, nvtx.RangePop)
            return
        if not chainerx.cuda.is_available():
            cuda.check_cuda_available()
        super().__init__(self.name)
