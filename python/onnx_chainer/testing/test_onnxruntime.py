"""Compares a folder of `export_testcase` with onnxruntime."""

from __future__ import annotations

import glob
import os
import typing as tp

import numpy as np
import onnx
from onnx import numpy_helper


def _read(folder: str, kind: str) -> list[tuple[str, np.ndarray]]:
    found = []
    for i in range(len(glob.glob(os.path.join(folder, f'{kind}_*.pb')))):
        with open(os.path.join(folder, f'{kind}_{i}.pb'), 'rb') as f:
            tensor = onnx.TensorProto.FromString(f.read())
        found.append((tensor.name, numpy_helper.to_array(tensor)))
    return found


def check_model_expect(
    test_path: str | os.PathLike[str],
    input_names: tp.Sequence[str] | None = None,
    rtol: float = 1e-5,
    atol: float = 1e-5,
) -> None:
    """Runs the model of a folder by onnxruntime, and compares all data sets there.

    Args:
        test_path (str): The folder.
        input_names (list of str): The names that the inputs must have; default: any.
        rtol (float): The relative tolerance.
        atol (float): The absolute tolerance.

    Raises:
        ImportError: If there is no onnxruntime.
        ValueError: If the folder has no data set.
        AssertionError: If an output differs, or the inputs have other names.
    """
    import onnxruntime

    test_path = os.fspath(test_path)
    path = os.path.join(test_path, 'model.onnx')
    onnx.checker.check_model(path)
    session = onnxruntime.InferenceSession(path, providers=['CPUExecutionProvider'])
    names = [x.name for x in session.get_inputs()]
    if input_names is not None and list(input_names) != names:
        raise AssertionError(f'the inputs are {names}, expected {list(input_names)}')
    folders = sorted(glob.glob(os.path.join(test_path, 'test_data_set_*')))
    if not folders:
        raise ValueError(f'no test_data_set_N in {test_path}')
    for folder in folders:
        inputs = dict(_read(folder, 'input'))
        outputs = _read(folder, 'output')
        found = session.run([name for name, _ in outputs], inputs)
        for (name, expected), y in zip(outputs, found, strict=True):
            np.testing.assert_allclose(
                y, expected, rtol=rtol, atol=atol, err_msg=f'{folder}: {name}'
            )
