"""Versions of ONNX's operators."""

from __future__ import annotations

import typing as tp
import warnings

import numpy as np
import onnx

MINIMUM_OPSET_VERSION: tp.Final = 7
# Operators of later versions are written as those of this one, which every version still reads.
MAXIMUM_OPSET_VERSION: tp.Final = min(28, onnx.defs.onnx_opset_version())
# What runtimes of the last years read.
DEFAULT_OPSET_VERSION: tp.Final = min(17, onnx.defs.onnx_opset_version())


def check_opset_version(opset_version: int | None) -> int:
    """Returns the version, or the default for None.

    Raises:
        TypeError: If it is not an int.
        ValueError: If the package onnx does not know it.
    """
    if opset_version is None:
        return DEFAULT_OPSET_VERSION
    if not isinstance(opset_version, (int, np.integer)) or isinstance(opset_version, bool):
        raise TypeError(f'opset_version is {opset_version!r}, expected an int')
    opset_version = int(opset_version)
    newest = onnx.defs.onnx_opset_version()
    if not 1 <= opset_version <= newest:
        raise ValueError(
            f'opset_version is {opset_version}; onnx {onnx.__version__} has 1 to {newest}'
        )
    if not MINIMUM_OPSET_VERSION <= opset_version <= MAXIMUM_OPSET_VERSION:
        warnings.warn(
            f'opset_version {opset_version} is not tested; '
            f'{MINIMUM_OPSET_VERSION} to {MAXIMUM_OPSET_VERSION} are',
            stacklevel=3,
        )
    return opset_version


def ir_version(opset_version: int) -> int:
    """The version of the file format: the first that came with these operators."""
    for row in onnx.helper.VERSION_TABLE:
        if row[2] >= opset_version:
            return row[1]
    return tp.cast(int, onnx.IR_VERSION)
