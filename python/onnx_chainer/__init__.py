"""Chainer models as ONNX.

`export` runs a model once and writes what it did as a graph of ONNX; `export_testcase` writes the
inputs and outputs beside it. It needs the package ``onnx``.
"""

try:
    import onnx as _onnx  # noqa: F401
except ImportError as e:
    raise ImportError(
        f'onnx_chainer needs the package onnx, which cannot be imported ({e}): pip install onnx'
    ) from e

from chainerx.onnx._opsets import MAXIMUM_OPSET_VERSION, MINIMUM_OPSET_VERSION

from onnx_chainer import context, onnx_helper, replace_func
from onnx_chainer.export import RetainInputHook, convert_parameter, export
from onnx_chainer.export_testcase import export_testcase

__all__ = [
    'MAXIMUM_OPSET_VERSION',
    'MINIMUM_OPSET_VERSION',
    'RetainInputHook',
    'context',
    'convert_parameter',
    'export',
    'export_testcase',
    'onnx_helper',
    'replace_func',
]
