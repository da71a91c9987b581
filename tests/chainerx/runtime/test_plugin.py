"""A backend in its own library: built here from tests/cpp/toy_backend.cc, loaded by name.

Libraries that are no valid plug-in are in tests/cpp/backend_test.cc.
"""

import ctypes
import os
import subprocess
import sys

import chainerx as chx
import numpy as np
import pytest


@pytest.fixture(scope='module')
def toy(build_backend):
    """The path of the built library, in a folder that CHAINERX_PATH may name."""
    return build_backend('toy')


@pytest.fixture
def context(toy, monkeypatch):
    monkeypatch.setenv('CHAINERX_PATH', str(toy.parent.parent))
    return chx.Context()


def test_operations_and_gradients_run_on_it(toy, context):
    library = ctypes.CDLL(str(toy))
    library.ToyAllocatedBytes.restype = library.ToyFills.restype = ctypes.c_int64
    fills, allocated = library.ToyFills(), library.ToyAllocatedBytes()
    with chx.context_scope(context), chx.using_device('toy:1'):
        x = chx.ones((2, 3)).require_grad()
        assert x.device.name == 'toy:1'
        assert library.ToyFills() == fills + 1
        assert library.ToyAllocatedBytes() == allocated + 24
        y = (x * x).sum()
        y.backward()
        assert y.device is x.device
        np.testing.assert_array_equal(chx.to_numpy(x.grad), np.full((2, 3), 2, np.float32))
        del x, y
    assert library.ToyAllocatedBytes() == allocated


def test_device_count_and_backend(context):
    backend = context.get_backend('toy')
    assert (backend.name, backend.get_device_count()) == ('toy', 2)
    with pytest.raises(IndexError, match='2'):
        backend.get_device(2)


def test_operands_on_two_backends(context):
    with chx.context_scope(context):
        x = chx.ones(3, device='toy:0')
        y = chx.ones(3, device='native:0')
        with pytest.raises(chx.DeviceError, match=r'toy:0.*native:0'):
            x + y


def test_unknown_name_lists_the_paths_tried(context, toy):
    with pytest.raises(chx.BackendError, match='nowhere') as error:
        context.get_backend('nowhere')
    assert str(toy.parent / 'nowhere.so') in str(error.value)


def test_name_with_a_path_in_it(context):
    with pytest.raises(chx.BackendError, match='invalid'):
        context.get_backend('../toy')


def test_process_ends_cleanly_with_arrays_alive(toy):
    code = 'import chainerx as chx; x = chx.ones(3, device="toy:0"); print(x.sum())'
    environment = {**os.environ, 'CHAINERX_PATH': str(toy.parent.parent)}
    done = subprocess.run([sys.executable, '-c', code], env=environment, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b'')


DEFECTS = {
    'no_buffer': ('if (data == nullptr) throw', 'if (data != nullptr) return nullptr; throw'),
    'no_device': ('std::make_unique<ToyDevice>(this, index)', 'nullptr'),
    'another_device': ('(this, index)', '(this, index + 7)'),
    'device_throws': ('return std::make_unique<ToyDevice>(this, index);', 'throw index;'),
    'count_throws': ('return 2;', 'throw 2;'),
    'kernel_throws': ('++filled;', 'throw 2;'),
    'kernel_throws_std': ('++filled;', 'throw std::bad_cast{};'),
}
FOUND = {
    'no_buffer': (MemoryError, 'no buffer'),
    'no_device': (chx.BackendError, "'no_device' makes no device for index 0"),
    'another_device': (chx.BackendError, 'makes another device for index 0'),
    'device_throws': (RuntimeError, r'unknown C\+\+ exception'),
    'count_throws': (RuntimeError, r'unknown C\+\+ exception'),
    'kernel_throws': (RuntimeError, r'unknown C\+\+ exception'),
    'kernel_throws_std': (RuntimeError, 'bad_cast'),
}


@pytest.mark.parametrize('defect', DEFECTS)
def test_defects_of_a_backend_are_errors(defect, context, toy, build_backend, monkeypatch):
    library = build_backend(defect, edit=DEFECTS[defect])
    monkeypatch.setenv('CHAINERX_PATH', str(library.parent.parent))
    cls, text = FOUND[defect]
    for _ in range(2):
        with pytest.raises(cls, match=text):
            chx.ones(3, device=context.get_device(f'{defect}:0'))
