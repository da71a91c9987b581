"""Writes snapshots of small models with Chainer v7.8.1; checks that it loads ours.

Run it where Chainer 7.8.1 with numpy < 1.24 and h5py is installed:

    python tests/chainer/data/make_v7_snapshots.py make             # writes v7_*.* here
    python tests/chainer/data/make_v7_snapshots.py check FOLDER     # loads those in FOLDER

With our `chainer` on the path, ``write FOLDER`` makes the files to check. The tests import
this module for the models, so it uses only what both versions have.
"""

import functools
import pathlib
import pickle
import sys

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import optimizers, serializers

HERE = pathlib.Path(__file__).parent


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
    """A link with parameters that have no shape yet."""

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


def convolutions(ins=3):
    """One convolution of each kind; lazy where no input channels are given."""
    optional = () if ins is None else (ins,)
    return chainer.Chain(
        conv1=L.Convolution1D(ins, 2, 2),
        conv2=L.Convolution2D(*optional, 6, (2, 3), groups=3),
        conv3=L.Convolution3D(ins, 2, 2, nobias=True),
        conv4=L.ConvolutionND(4, *optional, 2, (1, 2, 1, 1)),
        deconv1=L.Deconvolution1D(ins, 2, 2),
        deconv2=L.Deconvolution2D(*optional, 6, (2, 3), groups=3),
        deconv3=L.Deconvolution3D(ins, 2, 2, nobias=True),
        deconv4=L.DeconvolutionND(4, *optional, 2, (1, 2, 1, 1)),
        depthwise2=L.DepthwiseConvolution2D(ins, 2, 2),
        dilated2=L.DilatedConvolution2D(*optional, 2, 2, dilate=2),
        local2=L.LocalConvolution2D(ins, 2, 3, 2),
        mlp2=L.MLPConvolution2D(*optional, (3, 2), 2),
        inception2=L.Inception(ins, 1, 2, 3, 2, 1, 2),
        inceptionbn2=L.InceptionBN(ins, 1, 2, 3, 2, 1, 'avg', 2),
    )


def drawn():
    """Initial values, including links that infer their channels later."""
    np.random.seed(0)
    link = chainer.Chain(given=convolutions(), later=convolutions(None))
    with chainer.using_config('train', False):
        for child in link.later.children():
            child(np.ones((1, 3) + (3,) * int(child.name[-1]), 'f'))
    return link


class Optimized:
    """An optimizer after two steps, its states then overwritten with what `fill` gives."""

    def __init__(self, name):
        model = chainer.Chain(a=L.Linear(2, 3), b=L.Linear(3, 1))
        self.optimizer = getattr(optimizers, name)().setup(model)
        for _ in range(2):
            for param in model.params():
                param.grad = np.ones_like(param.array)
            self.optimizer.update()

    def serialize(self, serializer):
        self.optimizer.serialize(serializer)

    def namedstates(self):
        for path, param in self.optimizer.target.namedparams():
            for key, state in param.update_rule.state.items():
                yield path + '/' + key, state


OPTIMIZERS = [
    'AMSBound',
    'AMSGrad',
    'AdaBound',
    'AdaDelta',
    'AdaGrad',
    'Adam',
    'AdamW',
    'CorrectedMomentumSGD',
    'MSVAG',
    'MomentumSGD',
    'NesterovAG',
    'RMSprop',
    'RMSpropGraves',
    'SGD',
    'SMORMS3',
]
LINKS = {'net': Net, 'lazy': Lazy, 'sequential': sequential, 'scaled': Scaled}
MODELS = LINKS | {name: functools.partial(Optimized, name) for name in OPTIMIZERS}
# File names. HDF5 takes at least 25 KB per file, so it has only one optimizer.
FILES = [f'v7_{name}.npz' for name in MODELS] + [f'v7_{name}.h5' for name in [*LINKS, 'Adam']]

DRAWN = 'v7_drawn.npz'


def model_of(file):
    """Makes the model that a file holds."""
    return MODELS[file.removeprefix('v7_').partition('.')[0]]()


def fill(link):
    """Gives each array values that depend on its name alone, with bits in all places."""
    if isinstance(link, Optimized):
        for path, state in link.namedstates():
            state[...] = np.random.RandomState(sum(map(ord, path))).random_sample(state.shape)
        link.optimizer.t, link.optimizer.epoch = 12, 3
        for i, param in enumerate(link.optimizer.target.params()):
            param.update_rule.t = 5 + i
        return link
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
    """Makes all values differ from those of `fill`."""
    if isinstance(link, Optimized):
        return link
    for param in link.params():
        if param.array is not None:
            param.array[...] = -77
    if isinstance(link, Net):
        link.counts[...] = 0
        link.steps, link.rate, link.done, link.nothing = 0, 0.0, True, 3
    return link


def values(link):
    """All values of a link or optimizer by path."""
    if isinstance(link, Optimized):
        result = dict(link.namedstates())
        for path, param in link.optimizer.target.namedparams():
            result[path + '/t'] = param.update_rule.t
        return result | {'t': link.optimizer.t, 'epoch': link.optimizer.epoch}
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
    for file in FILES:
        save = serializers.save_npz if file.endswith('.npz') else serializers.save_hdf5
        save(str(folder / file), fill(model_of(file)))
    serializers.save_npz(str(folder / DRAWN), drawn())


def check(folder):
    for file in FILES:
        load = serializers.load_npz if file.endswith('.npz') else serializers.load_hdf5
        expected = values(fill(model_of(file)))
        link = clear(model_of(file))
        load(str(folder / file), link)
        actual = values(link)
        wrong = [k for k in expected if not same(expected[k], actual[k])]
        if wrong or expected.keys() != actual.keys():
            sys.exit(f'{file}: {wrong} differ')
        print(f'{file}: {len(expected)} values are equal')
    link = clear(drawn())
    serializers.load_npz(str(folder / DRAWN), link)
    actual, expected = values(link), values(drawn())
    assert all(same(actual[k], expected[k]) for k in expected), DRAWN
    print(f'{DRAWN}: {len(expected)} values are equal')


def variables():
    x = chainer.Variable(np.array([1, 2], 'f'), name='x')
    x.grad = np.array([3, 4], 'f')
    p = chainer.Parameter(np.array([1, 2], 'f'), name='p')
    p.grad = np.array([3, 4], 'f')
    fixed = chainer.Variable(np.array([1, 2], 'i'), requires_grad=False)
    return [x, p, fixed, x * 2, chainer.Parameter(1.5, name='later')]


if __name__ == '__main__':
    if sys.argv[1] == 'make':
        assert chainer.__version__ == '7.8.1'
        write(HERE)
        (HERE / 'v7_variables.pkl').write_bytes(pickle.dumps(variables(), protocol=2))
    else:
        {'write': write, 'check': check}[sys.argv[1]](pathlib.Path(sys.argv[2]))
