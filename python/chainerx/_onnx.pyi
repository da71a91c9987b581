# Written by hand, as cpp/chainerx/python/onnx/module.cc is.
import builtins
from collections.abc import Callable
from typing import Any

from chainerx._core import Device, ndarray

_Info = tuple[str, str | None, tuple[builtins.int | str | None, ...] | None, builtins.bool]

class Model:
    def __new__(
        cls,
        source: builtins.str | builtins.bytes,
        folder: builtins.str,
        device: Device,
        outputs: list[builtins.str],
        /,
    ) -> Model: ...
    @property
    def inputs(self) -> list[_Info]: ...
    @property
    def outputs(self) -> list[_Info]: ...
    @property
    def device(self) -> Device: ...
    def run(self, inputs: list[Any], /) -> list[Any]: ...
    def run_with(
        self,
        inputs: list[Any],
        parameters: list[ndarray],
        trains: builtins.bool,
        draw_key: Callable[[], builtins.int],
        /,
    ) -> tuple[list[Any], dict[builtins.int, ndarray]]: ...
    def statistics(self) -> list[builtins.bool]: ...
    def without_parameters(self, device: Device, /) -> Model: ...
    def parameters(self) -> dict[str, ndarray]: ...
    def set_parameter(self, name: str, value: ndarray, /) -> None: ...
    def to_device(self, device: Device, /) -> None: ...
