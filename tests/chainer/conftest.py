"""Skips tests that this machine can't run; makes `devices` and chainerx's tables importable."""

import multiprocessing
import pathlib
import sys

import pytest

for _folder in (_here := pathlib.Path(__file__).parent, _here.parent / 'chainerx'):
    if str(_folder) not in sys.path:
        sys.path.append(str(_folder))

import devices  # noqa: E402


def pytest_configure(config):
    devices.choose(config.getoption('--device', default=None))


@pytest.fixture(params=devices.DEVICES)
def make(request):
    """A function that makes an array of each kind from a NumPy array."""
    return devices.maker(request.param)


@pytest.fixture
def forkserver(monkeypatch):
    """How Python 3.14 starts processes unless it is told otherwise."""
    get = multiprocessing.get_context
    monkeypatch.setattr(
        multiprocessing, 'get_context', lambda method=None: get(method or 'forkserver')
    )


def pytest_collection_modifyitems(items):
    from chainer.backends import cuda, intel64

    missing = {
        'gpu': not cuda.available,
        'cudnn': not cuda.cudnn_enabled,
        'ideep': not intel64.is_ideep_available(),
    }
    for item in items:
        for name in {mark.name for mark in item.iter_markers()} & {*missing}:
            if missing[name]:
                item.add_marker(pytest.mark.skip(reason=f'needs {name}'))
