"""Snapshots of Chainer 7.8.1 load to the bit, and ours have the same content."""

import importlib.util
import pathlib

import numpy as np
import pytest
from chainer import backend, serializers
from devices import DEVICES

DATA = pathlib.Path(__file__).parents[1] / 'data'

spec = importlib.util.spec_from_file_location('make_v7_snapshots', DATA / 'make_v7_snapshots.py')
v7 = importlib.util.module_from_spec(spec)
spec.loader.exec_module(v7)


def snapshot(file):
    if file.endswith('.h5'):
        pytest.importorskip('h5py')
    return DATA / file


def assert_same(actual, expected):
    assert actual.keys() == expected.keys()
    assert [key for key in expected if not v7.same(actual[key], expected[key])] == []


@pytest.mark.parametrize('file', v7.FILES)
def test_loads_to_the_bit(file):
    obj = v7.clear(v7.model_of(file))
    serializers.load(snapshot(file), obj)
    assert_same(v7.values(obj), v7.values(v7.fill(v7.model_of(file))))


@pytest.mark.parametrize('name', v7.OPTIMIZERS)
def test_states_load_into_a_new_optimizer(name):
    expected = v7.fill(v7.MODELS[name]())
    new = v7.MODELS[name]()
    new.optimizer = type(new.optimizer)().setup(new.optimizer.target)
    serializers.load(snapshot(f'v7_{name}.npz'), new)
    assert_same(v7.values(new), v7.values(expected))
    for param in new.optimizer.target.params():
        param.grad = np.ones_like(param.array)
    with np.errstate(invalid='ignore'):  # the filled states of RMSpropGraves are not valid ones
        new.optimizer.update()
    assert new.optimizer.t == 13


@pytest.mark.parametrize('suffix', ['.npz', '.h5'])
@pytest.mark.parametrize('name', v7.LINKS)
def test_loads_on_chainerx(name, suffix):
    link = v7.clear(v7.MODELS[name]()).to_device('native:0')
    serializers.load(snapshot(f'v7_{name}{suffix}'), link)
    assert {p.device.name for p in link.params() if p.is_initialized} == {'native:0'}
    assert_same(v7.values(link.to_device('@numpy')), v7.values(v7.fill(v7.MODELS[name]())))


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('name', v7.MODELS)
def test_ours_has_the_members_of_v7s_npz(name, device, tmp_path):
    obj = v7.fill(v7.MODELS[name]())
    if name in v7.LINKS:
        obj.to_device(device)
    else:
        obj.optimizer.target.to_device(device)
    serializers.save_npz(tmp_path / 'ours', obj)
    theirs_path = snapshot(f'v7_{name}.npz')
    with np.load(tmp_path / 'ours') as ours, np.load(theirs_path) as theirs:
        assert sorted(ours.zip.namelist()) == sorted(theirs.zip.namelist())
        for member in ours.zip.namelist():
            # To the last byte: the pickle of None refers to old NumPy's module names.
            assert ours.zip.read(member) == theirs.zip.read(member), member
            info = ours.zip.getinfo(member)
            assert info.compress_type == theirs.zip.getinfo(member).compress_type


@pytest.mark.parametrize('name', [*v7.LINKS, 'Adam'])
def test_ours_has_the_datasets_of_v7s_hdf5(name, tmp_path):
    h5py = pytest.importorskip('h5py')

    def content(path):
        found = {}

        def visit(key, x):
            if isinstance(x, h5py.Dataset):
                data = None if x.shape is None else np.asarray(x[()]).tobytes()
                found[key] = x.dtype, x.shape, x.compression, x.compression_opts, data
            else:
                found[key] = 'group'

        with h5py.File(path) as file:
            file.visititems(visit)
        return found

    serializers.save_hdf5(tmp_path / 'ours', v7.fill(v7.MODELS[name]()))
    assert content(tmp_path / 'ours') == content(snapshot(f'v7_{name}.h5'))


def test_a_part_by_its_prefix():
    net = v7.fill(v7.Net())
    part = v7.Net().tail
    serializers.load_npz(snapshot('v7_net.npz'), part, path='tail/')
    for actual, expected in zip(part.params(), net.tail.params(), strict=True):
        np.testing.assert_array_equal(actual.array, expected.array)


def test_an_uninitialized_parameter_of_the_file_leaves_the_target():
    link = v7.Lazy()
    link.lazy.W.initialize((3, 2))
    before = link.lazy.W.array.copy()
    serializers.load_npz(snapshot('v7_lazy.npz'), link)
    np.testing.assert_array_equal(link.lazy.W.array, before)


@pytest.mark.parametrize('device', DEVICES)
def test_initializes_a_parameter_on_its_device(device):
    import chainer
    from chainer import links as L

    link = chainer.ChainList(L.Linear(None, 4)).to_device(device)
    serializers.load_npz(snapshot('v7_sequential.npz'), link, path='')
    assert link[0].W.shape == (4, 3)
    assert link[0].W.device == chainer.get_device(device)
    expected = v7.fill(v7.sequential())[0].W.array
    np.testing.assert_array_equal(backend.CpuDevice().send(link[0].W.array), expected)
