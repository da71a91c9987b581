"""A folder with a model and its data."""

from __future__ import annotations

import os
import typing as tp

from onnx_chainer.export_testcase import export_testcase

TEST_OUT_DIR: tp.Final = 'out'


def gen_test_data_set(
    model: tp.Any, args: tp.Any, name: str, opset_version: int, **kwargs: tp.Any
) -> str:
    """Exports a model to ``out/opset<version>/<name>``.

    Args:
        model (Link or callable): The model.
        args: Its arguments; see `onnx_chainer.export`.
        name (str): The name of the folder.
        opset_version (int): The version of the operators.
        **kwargs: Of `onnx_chainer.export_testcase`.

    Returns:
        str: The folder.
    """
    path = os.path.join(TEST_OUT_DIR, f'opset{opset_version}', name)
    export_testcase(model, args, path, opset_version=opset_version, **kwargs)
    return path
