"""Snapshots of Chainer 7.8.1: they load to the bit, and ours have the same content."""

import importlib.util
import pathlib

import numpy as np
import pytest
from chainer import backend, serializers

DATA = pathlib.Path(__file__).parents[1] / 'data'

spec = importlib.util.spec_from_file_location('make_v7_snapshots', DATA / 'make_v7_snapshots.py')
v7 = importlib.util.module_from_spec(spec)
spec.loader.exec_module(v7)


def snapshot(name, suffix):
    if suffix == '.h5':
        pytest.importorskip('h5py')
    return DATA / f'v7_{name}{suffix}'


def assert_same(actual, expected):
    assert actual.keys() == expected.keys()
    assert [key for key in expected if not v7.same(actual[key], expected[key])] == []


@pytest.mark.parametrize('suffix', v7.SUFFIXES)
@pytest.mark.parametrize('name', v7.MODELS)
def test_loads_to_the_bit(name, suffix):
    link = v7.clear(v7.MODELS[name]())
    serializers.load(snapshot(name, suffix), link)
    assert_same(v7.values(link), v7.values(v7.fill(v7.MODELS[name]())))


@pytest.mark.parametrize('suffix', v7.SUFFIXES)
@pytest.mark.parametrize('name', v7.MODELS)
def test_loads_on_chainerx(name, suffix):
    link = v7.clear(v7.MODELS[name]()).to_device('native:0')
    serializers.load(snapshot(name, suffix), link)
    assert {p.device.name for p in link.params() if p.is_initialized} == {'native:0'}
    assert_same(v7.values(link.to_device('@numpy')), v7.values(v7.fill(v7.MODELS[name]())))


@pytest.mark.parametrize('device', ['@numpy', 'native:0'])
@pytest.mark.parametrize('name', v7.MODELS)
def test_ours_has_the_members_of_v7s_npz(name, device, tmp_path):
    serializers.save_npz(tmp_path / 'ours', v7.fill(v7.MODELS[name]()).to_device(device))
    with np.load(tmp_path / 'ours') as ours, np.load(snapshot(name, '.npz')) as theirs:
        assert sorted(ours.zip.namelist()) == sorted(theirs.zip.namelist())
        for member in ours.zip.namelist():
            # To the last byte: the pickle of None names what old NumPy has.
            assert ours.zip.read(member) == theirs.zip.read(member), member
            info = ours.zip.getinfo(member)
            assert info.compress_type == theirs.zip.getinfo(member).compress_type


@pytest.mark.parametrize('name', v7.MODELS)
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
    assert content(tmp_path / 'ours') == content(snapshot(name, '.h5'))


def test_a_part_by_its_prefix():
    net = v7.fill(v7.Net())
    part = v7.Net().tail
    serializers.load_npz(snapshot('net', '.npz'), part, path='tail/')
    for actual, expected in zip(part.params(), net.tail.params(), strict=True):
        np.testing.assert_array_equal(actual.array, expected.array)


def test_an_uninitialized_parameter_of_the_file_leaves_the_target():
    link = v7.Lazy()
    link.lazy.W.initialize((3, 2))
    before = link.lazy.W.array.copy()
    serializers.load_npz(snapshot('lazy', '.npz'), link)
    np.testing.assert_array_equal(link.lazy.W.array, before)


@pytest.mark.parametrize('device', ['@numpy', 'native:0'])
def test_initializes_a_parameter_on_its_device(device):
    import chainer
    from chainer import links as L

    link = chainer.ChainList(L.Linear(None, 4)).to_device(device)
    serializers.load_npz(snapshot('sequential', '.npz'), link, path='')
    assert link[0].W.shape == (4, 3)
    assert link[0].W.device == chainer.get_device(device)
    expected = v7.fill(v7.sequential())[0].W.array
    np.testing.assert_array_equal(backend.CpuDevice().send(link[0].W.array), expected)
