"""The part of the check of a GPU that is about streams, pinned memory, and sharing."""

from __future__ import annotations

import typing as tp

import numpy as np

import chainerx
from chainerx import cuda

if tp.TYPE_CHECKING:
    from chainerx.cuda._check_values import Checks


def check_streams(checks: Checks) -> None:
    def of_gpu(x: tp.Any) -> bool:
        return x.device.name == checks.device

    def beside(x: tp.Any, y: tp.Any) -> tp.Any:
        if not of_gpu(x):
            return (x * 2 + 1) * y
        main, side = cuda.current_stream(x.device), cuda.Stream(x.device, priority=-1)
        side.wait_stream(main)
        with side:
            x = x * 2
            event = side.record()
            x = x + 1
        main.wait_event(event)
        main.wait_stream(side)
        return x * y

    def reused(x: tp.Any) -> tp.Any:
        # Memory that is freed on one stream while another one still reads it.
        total = x * 0
        side = cuda.Stream(x.device) if of_gpu(x) else None
        for _ in range(20):
            y = x + 1
            if side is not None:
                side.wait_stream(cuda.current_stream(x.device))
                with side:
                    z = y * 2
                del y
                filler = x * 0 - 1
                cuda.current_stream(x.device).wait_stream(side)
                del filler
            else:
                z = y * 2
            total = total + z
        return total

    def pinned(x: tp.Any) -> tp.Any:
        if not of_gpu(x):
            return x * 3
        host = cuda.to_host(x * 3)
        back = cuda.to_gpu(host, x.device)
        del host
        return back

    def shared(x: tp.Any) -> tp.Any:
        return chainerx.from_dlpack(chainerx.from_dlpack(x + 1).__dlpack__(max_version=(1, 0))) * 2

    def described(x: tp.Any) -> tp.Any:
        class Other:
            def __init__(self, y: tp.Any) -> None:
                self.y = y
                self.__cuda_array_interface__ = y.__cuda_array_interface__

        return chainerx.asarray(Other(x + 1)) * 2 if of_gpu(x) else (x + 1) * 2

    def elsewhere(x: tp.Any) -> tp.Any:
        if not of_gpu(x):
            return x * 2 + 1
        return ((x * 2).to_device(other) + 1).to_device(x.device)

    def reduced(x: tp.Any) -> tp.Any:
        if not of_gpu(x):
            return x * 3
        arrays = [x * 1, (x * 2).to_device(other)]
        cuda.all_reduce(arrays)
        return arrays[1].to_device(x.device)

    count = cuda.device_count()
    other = f'cuda:{(int(checks.device.rpartition(":")[2]) + 1) % max(count, 1)}'
    x = np.random.default_rng(4).normal(size=(500, 700)).astype('float32')
    checks.compare('two streams', beside, x, x[::-1])
    checks.compare('memory of two streams', reused, x)
    checks.compare('pinned memory', pinned, x)
    checks.compare('DLPack', shared, x)
    checks.compare('__cuda_array_interface__', described, x)
    if count > 1:
        checks.compare('another GPU', elsewhere, x)
        checks.compare('sums over two GPUs', reduced, x)
