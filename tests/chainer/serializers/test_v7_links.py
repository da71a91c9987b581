"""A snapshot of every link by Chainer 7.8.1 loads, gives the same results, and ours equals it."""

import importlib.util
import pathlib

import chainer
import numpy as np
import pytest
from chainer import optimizers, serializers
from devices import DEVICES, to_numpy

DATA = pathlib.Path(__file__).parents[1] / 'data'


def load_module(name):
    spec = importlib.util.spec_from_file_location(name, DATA / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


v7 = load_module('make_v7_links')
SNAPSHOT, RESULTS = DATA / v7.SNAPSHOT, DATA / v7.RESULTS


@pytest.fixture(scope='module')
def results():
    with np.load(RESULTS) as found:
        return dict(found)


@pytest.fixture(scope='module')
def filled():
    return v7.values_of(v7.chain())


@pytest.mark.parametrize('device', DEVICES)
def test_loads_to_the_bit(device, filled):
    link = v7.chain(filled=False).to_device(device)
    serializers.load_npz(SNAPSHOT, link)
    found = v7.values_of(link)
    assert found.keys() == filled.keys()
    for path, expected in filled.items():
        x, y = np.asarray(to_numpy(found[path])), np.asarray(expected)
        assert (x.dtype, x.shape, x.tobytes()) == (y.dtype, y.shape, y.tobytes()), path


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('row', v7.ROWS, ids=repr)
def test_results_equal_those_of_v7(row, device, results):
    """Loaded links give v7's results in both modes, and its gradients."""
    link = v7.make(row)
    for value in v7.values_of(link).values():
        if isinstance(value, np.ndarray):
            value[...] = -77
    serializers.load_npz(SNAPSHOT, link, path=f'{row.key}/')
    link.to_device(device)
    send = chainer.get_device(device).send
    convert = lambda x: chainer.Variable(send(x))  # noqa: E731
    found = v7.results_of(row, link, convert, send)
    assert found.keys() == {k for k in results if k.startswith(f'{row.key}/')}
    for path, value in found.items():
        expected = results[path]
        assert value.dtype == expected.dtype, path
        np.testing.assert_allclose(to_numpy(value), expected, 2e-4, 2e-5, err_msg=path)


@pytest.mark.parametrize('device', DEVICES)
def test_ours_has_the_members_of_v7s(device, tmp_path):
    serializers.save_npz(tmp_path / 'ours', v7.chain().to_device(device))
    with np.load(tmp_path / 'ours') as ours, np.load(SNAPSHOT) as theirs:
        assert sorted(ours.zip.namelist()) == sorted(theirs.zip.namelist())
        for member in ours.zip.namelist():
            assert ours.zip.read(member) == theirs.zip.read(member), member


def test_large_models_have_the_members_of_v7s(results, monkeypatch):
    """Large models have the names, shapes and dtypes of v7's members."""
    # Filling them and their initial gradients takes half a minute.
    monkeypatch.setattr(chainer.backend, 'copyto', lambda dst, src: None)
    monkeypatch.setattr(np.random, 'normal', lambda loc, scale, size: np.broadcast_to(0.0, size))
    text = results['models'].tobytes().decode()
    assert [f'{path} {kind}' for path, kind in v7.models()] == text.splitlines()


def test_every_link_and_optimizer_is_there():
    with np.load(SNAPSHOT) as saved:
        there = {name.partition('/')[0].partition('_')[0] for name in saved}
    assert v7.all_links() == there | v7.MODELS | v7.NEW | (v7.GONE & v7.all_links())
    classes = (getattr(optimizers, name) for name in dir(optimizers))
    classes = {c for c in classes if isinstance(c, type) and issubclass(c, chainer.Optimizer)}
    names = {c.__name__ for c in classes}
    assert names == set(load_module('make_v7_snapshots').OPTIMIZERS)
