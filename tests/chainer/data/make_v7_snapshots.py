"""Snapshots of small models, written by Chainer v7.8.1; and the check that it loads ours.

Run it where Chainer 7.8.1 with numpy < 1.24 and h5py is installed:

    python tests/chainer/data/make_v7_snapshots.py make             # writes v7_*.npz, v7_*.h5 here
    python tests/chainer/data/make_v7_snapshots.py check FOLDER     # loads those in FOLDER

With our `chainer` on the path, ``write FOLDER`` makes the files to check. The tests import
this module for the models, so it keeps to what both have.
"""

import pathlib
import sys

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import serializers

HERE = pathlib.Path(__file__).parent
SUFFIXES = '.npz', '.h5'


class Net(chainer.Chain):
    """Parameters, persistent values of many kinds, and children two levels deep."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(3, 4)
            self.embed = L.EmbedID(5, 2, ignore_label=-1)
            self.tail = chainer.ChainList(L.Linear(4, 2, nobias=True), L.Linear(2, 2))
            self.scale = chainer.Parameter(np.float32(1), (2, 1))
            self.double = chainer.Parameter(np.zeros((2, 2)))
        self.add_persistent('steps', 7)
        self.add_persistent('rate', 0.1)
        self.add_persistent('done', True)
        self.add_persistent('nothing', None)
        self.add_persistent('counts', np.arange(6, dtype='i').reshape(2, 3))
        self.add_persistent('half', np.zeros((), 'e'))
        self.add_persistent('empty', np.zeros((0, 3), 'f'))


class Lazy(chainer.Chain):
    """Some parameters have no shape yet."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.lazy = L.Linear(None, 3)
            self.done = L.Linear(2, 3)


def sequential():
    return chainer.Sequential(
        L.Linear(3, 4), F.relu, chainer.Sequential(L.Linear(4, 4), F.relu), L.Linear(4, 2)
    )


class Scaled(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.bias = L.Bias(1, (3,))
            self.scale = L.Scale(1, (3,), bias_term=True)


MODELS = {'net': Net, 'lazy': Lazy, 'sequential': sequential, 'scaled': Scaled}


def fill(link):
    """Gives each array values that depend on its name alone, with bits in all places."""
    for path, param in sorted(link.namedparams()):
        if param.array is not None:
            rng = np.random.RandomState(sum(map(ord, path)))
            param.array[...] = rng.standard_normal(param.shape)
    if isinstance(link, Net):
        link.counts[...] = [[5, -6, 2**31 - 1], [0, -(2**31), 9]]
        link.half[...] = np.float16(1 / 3)
        link.steps, link.rate, link.done = 12345678901, 1 / 3, False
    return link


def clear(link):
    """Makes all values differ from what `fill` gives."""
    for param in link.params():
        if param.array is not None:
            param.array[...] = -77
    if isinstance(link, Net):
        link.counts[...] = 0
        link.steps, link.rate, link.done, link.nothing = 0, 0.0, True, 3
    return link


def values(link):
    """All values of a link by path."""
    result = {path: param.array for path, param in link.namedparams()}
    for path, child in link.namedlinks():
        for name in child._persistent:
            result[path + '#' + name] = getattr(child, name)
    return result


def same(a, b):
    """Whether two values are equal to the bit, and of the same type."""
    if a is None or b is None:
        return a is b
    x, y = np.asarray(a), np.asarray(b)
    return (
        type(a) is type(b)
        and x.dtype == y.dtype
        and x.shape == y.shape
        and (x.tobytes() == y.tobytes())
    )


def write(folder):
    for name, make in MODELS.items():
        for suffix in SUFFIXES:
            save = serializers.save_npz if suffix == '.npz' else serializers.save_hdf5
            save(str(folder / f'v7_{name}{suffix}'), fill(make()))


def check(folder):
    for name, make in MODELS.items():
        expected = values(fill(make()))
        for suffix in SUFFIXES:
            load = serializers.load_npz if suffix == '.npz' else serializers.load_hdf5
            link = clear(make())
            load(str(folder / f'v7_{name}{suffix}'), link)
            actual = values(link)
            wrong = [k for k in expected if not same(expected[k], actual[k])]
            if wrong or expected.keys() != actual.keys():
                sys.exit(f'{name}{suffix}: {wrong} differ')
            print(f'{name}{suffix}: {len(expected)} values are equal')


if __name__ == '__main__':
    if sys.argv[1] == 'make':
        assert chainer.__version__ == '7.8.1'
        assert hasattr(F, 'convolution_2d'), 'this is not the original Chainer'
        write(HERE)
    else:
        {'write': write, 'check': check}[sys.argv[1]](pathlib.Path(sys.argv[2]))
