"""A hook that marks functions in the profilers of CUDA."""

from __future__ import annotations

import typing as tp

from chainer.backends import cuda
from chainer.function_hook import FunctionHook

if tp.TYPE_CHECKING:
    from chainer._graph.function_node import FunctionNode
    from chainer._typing import Arrays


class CUDAProfileHook(FunctionHook):
    """Makes a range of each function in NVIDIA's profilers (NVTX), through CuPy.

    Raises:
        RuntimeError: If CuPy is not available.
    """

    name = 'CUDAProfileHook'

    def __init__(self) -> None:
        cuda.check_cuda_available()

    def forward_preprocess(self, function: FunctionNode, in_data: Arrays) -> None:
        cuda.cupy.cuda.nvtx.RangePush(f'{function.label}.forward')

    def forward_postprocess(self, function: FunctionNode, in_data: Arrays) -> None:
        cuda.cupy.cuda.nvtx.RangePop()

    def backward_preprocess(
        self, function: FunctionNode, in_data: Arrays, out_grad: Arrays
    ) -> None:
        cuda.cupy.cuda.nvtx.RangePush(f'{function.label}.backward')

    def backward_postprocess(
        self, function: FunctionNode, in_data: Arrays, out_grad: Arrays
    ) -> None:
        cuda.cupy.cuda.nvtx.RangePop()
