"""Files of models."""

from __future__ import annotations

import contextlib
import os
import typing as tp

import onnx

# Of protobuf: 2 GB, some of which is for nodes.
SIZE_LIMIT: tp.Final = 2**31 - 2**24


def check(proto: onnx.ModelProto) -> None:
    """Raises if operators, or the shapes and types that they give, are not valid."""
    if _size(proto) < SIZE_LIMIT:
        onnx.checker.check_model(proto, full_check=True)


def write(proto: onnx.ModelProto, filename: str, save_text: bool) -> None:
    """Checks a model, and writes it; one above 2 GB has its tensors in a file beside it."""
    if _size(proto) < SIZE_LIMIT:
        onnx.checker.check_model(proto)
        onnx.save_model(proto, filename)
    else:
        location = f'{os.path.basename(filename)}.data'
        folder = os.path.dirname(filename)
        # The package adds to a file that is there.
        with contextlib.suppress(FileNotFoundError):
            os.remove(os.path.join(folder, location))
        onnx.save_model(proto, filename, save_as_external_data=True, location=location)
        # The package takes the values of tensors away.
        onnx.load_external_data_for_model(proto, folder)
        onnx.checker.check_model(filename)
    if save_text:
        with open(f'{filename}.txt', 'w', encoding='utf-8') as f:
            f.write(onnx.printer.to_text(proto))


def _size(proto: onnx.ModelProto) -> int:
    return sum(len(t.raw_data) for t in proto.graph.initializer)
