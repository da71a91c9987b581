"""Programs in the style of v7, on NumPy arrays and on chainerx, compared with plain NumPy."""

import importlib
import json
import pathlib
import random
import warnings

import chainer
import numpy as np
import pytest
from first_losses import ROWS

FOLDER = pathlib.Path(__file__).parent / 'programs'
NAMES = sorted(path.stem for path in FOLDER.glob('[!_]*.py'))
# The results of Chainer 7.8.1 with NumPy 1.23, in all iterations.
V7 = json.loads((FOLDER / 'v7.json').read_text())


class Start(dict):
    """Keeps float64 copies of a program's initial values."""

    def __call__(self, **named):
        for name, value in named.items():
            if isinstance(value, chainer.Link):
                serializer = chainer.serializers.DictionarySerializer()
                serializer.save(value)
                for path, array in serializer.target.items():
                    self[f'{name}/{path}'] = _copy(array)
            else:
                self[name] = _copy(value)


def _copy(value):
    if isinstance(value, dict):
        return {key: _copy(element) for key, element in value.items()}
    if isinstance(value, list):
        return [_copy(element) for element in value]
    if isinstance(value, chainer.get_array_types()):
        array = chainer.get_device('@numpy').send(value)
        return np.array(array, np.float64 if array.dtype.kind == 'f' else array.dtype)
    return value


def run(name, device, folder):
    program = importlib.import_module(f'programs.{name}')
    np.random.seed(0)
    random.seed(0)
    device = chainer.get_device(device)
    start = Start()
    with (
        chainer.using_config('out', str(folder)),
        chainer.using_device(device),
        warnings.catch_warnings(),
    ):
        # The programs cause no other warning on v7.
        warnings.simplefilter('error')
        warnings.simplefilter('ignore', DeprecationWarning)
        rows = program.train(device, start)
    return start, rows


def test_each_program_has_its_losses():
    assert set(NAMES) == set(ROWS) == set(V7)
    assert len(NAMES) >= 25


@pytest.mark.parametrize('name', NAMES)
def test_program(name, tmp_path):
    start, rows = run(name, '@numpy', tmp_path / 'numpy')
    first = ROWS[name](start)
    np.testing.assert_allclose(rows[0][: len(first)], first, 2e-5, 1e-6)
    _, native = run(name, 'native:0', tmp_path / 'native')
    for ours, other in ((native, rows), (rows, V7[name])):
        np.testing.assert_allclose(np.concatenate(ours), np.concatenate(other), 1e-3, 1e-5)
