"""Properties of all file formats: round trips, keys, bad targets, atomicity."""

import collections
import io
import os
import stat
from unittest import mock

import chainer
import chainerx
import numpy as np
import pytest
from chainer import links as L
from chainer import serializers
from devices import DEVICES

SUFFIXES = ['.npz', '.h5', '.safetensors']


@pytest.fixture(params=SUFFIXES)
def path(request, tmp_path):
    if request.param == '.h5':
        pytest.importorskip('h5py')
    return tmp_path / f'snapshot{request.param}'


class Bag:
    """An object that serializes given values."""

    def __init__(self, **values):
        self.values = values

    def serialize(self, serializer):
        for key in self.values:
            self.values[key] = serializer(key, self.values[key])


class Net(chainer.Chain):
    def __init__(self, n_in=3, n_out=2, dtype='f'):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(n_in, 4)
            self.l2 = L.Linear(4, n_out)
            self.p = chainer.Parameter(np.ones(2, dtype))
        self.add_persistent('mean', np.zeros(4, 'f'))
        self.add_persistent('count', 0)


def state(link):
    values = {k: p.array for k, p in link.namedparams()}
    values |= {'mean': link.mean, 'count': link.count}
    return {
        k: (v, None) if v is None else (type(v), chainer.backend.CpuDevice().send(v).tobytes())
        for k, v in values.items()
    }


@pytest.mark.parametrize('target', DEVICES)
@pytest.mark.parametrize('source', DEVICES)
def test_round_trip_of_a_chain(path, source, target):
    net, other = Net(), Net()
    net.mean[...] = 3
    net.count = 5
    serializers.save(path, net.to_device(source))
    serializers.load(path, other.to_device(target))
    assert other.l1.W.device == chainer.get_device(target)
    assert state(other.to_device('@numpy')) == state(net.to_device('@numpy'))


@pytest.mark.parametrize(
    'dtype', ['?', 'i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8', 'f2', 'f4', 'f8', 'c8', '>f4']
)
@pytest.mark.parametrize('shape', [(), (1,), (0,), (2, 0, 3), (5,), (2, 3), (2, 1, 3)])
def test_round_trip_of_arrays(path, dtype, shape):
    size = int(np.prod(shape))
    array = np.random.RandomState(size).randint(0, 100, size).astype(dtype).reshape(shape)
    serializers.save(path, Bag(x=array, t=array.T, s=array[::-1] if shape else array))
    for kept in (True, False):
        loaded = Bag(**{k: np.zeros_like(array.T if k == 't' else array) for k in 'xts'})
        if not kept:
            loaded = Bag(x=None, t=None, s=None)
        given = dict(loaded.values)
        serializers.load(path, loaded)
        for key, expected in ('x', array), ('t', array.T), ('s', array[::-1] if shape else array):
            assert (loaded.values[key] is given[key]) is kept
            assert loaded.values[key].dtype.newbyteorder('=') == array.dtype.newbyteorder('=')
            np.testing.assert_array_equal(loaded.values[key], expected)


@pytest.mark.parametrize('device', DEVICES)
def test_round_trip_of_bfloat16(path, device):
    ml_dtypes = pytest.importorskip('ml_dtypes')
    array = np.array([1.5, -2, 3e38], ml_dtypes.bfloat16)
    device = chainer.get_device(device)
    serializers.save(path, Bag(x=device.send(array)))
    loaded = Bag(x=device.send(np.zeros_like(array)))
    serializers.load(path, loaded)
    assert chainer.backend.CpuDevice().send(loaded.values['x']).tobytes() == array.tobytes()
    anew = Bag(x=None)
    serializers.load(path, anew)
    assert anew.values['x'].dtype == array.dtype
    wider = Bag(x=np.zeros(3, 'f'))
    serializers.load(path, wider)
    np.testing.assert_array_equal(wider.values['x'], array.astype('f'))
    with pytest.raises(TypeError, match=r'bfloat16.*int32'):
        serializers.load(path, Bag(x=np.zeros(3, 'i')))


@pytest.mark.parametrize(
    'value',
    [0, -5, 2**62, 1.5, float('inf'), True, False, 'text', 'höß ✓', '', np.float32(2), np.int8(3)],
)
def test_round_trip_of_scalars(path, value):
    serializers.save(path, Bag(x=value, none=None))
    loaded = Bag(x=type(value)(), none=3)
    serializers.load(path, loaded)
    assert type(loaded.values['x']) is type(value)
    assert loaded.values == {'x': value, 'none': None}


def test_lists(path):
    serializers.save(path, Bag(x=[1, 2, 3], y=(1.5, 2.5)))
    loaded = Bag(x=[], y=())
    serializers.load(path, loaded)
    assert loaded.values == {'x': [1, 2, 3], 'y': (1.5, 2.5)}


@pytest.mark.parametrize(
    ('saved', 'target', 'error'),
    [
        (1.5, 0, TypeError),
        (2, False, TypeError),
        (1.5, np.float32(0), TypeError),
        (np.ones(2), 0.0, ValueError),
        ('a', 0, TypeError),
        (np.ones(3), np.ones(4), ValueError),
        (np.ones(3), np.ones((3, 1)), ValueError),
        (np.ones(1), np.ones(3), ValueError),
        (np.ones((2, 3)), np.ones((3, 2)), ValueError),
        (np.ones(3), np.ones(3, 'i'), TypeError),
        (np.ones(3, 'c8'), np.ones(3, 'f'), TypeError),
        (np.ones((2, 2)), [0], ValueError),
        (1.0, object(), TypeError),
        (1.0, chainer.Variable(np.ones(())), TypeError),
    ],
)
def test_unfit_targets(path, saved, target, error):
    serializers.save(path, Bag(key=saved))
    with pytest.raises(error, match=f"'key' of '{path}'") as info:
        serializers.load(path, Bag(key=target))
    message = str(info.value)
    if isinstance(target, np.ndarray) and error is ValueError:
        assert str(saved.shape) in message
        assert str(target.shape) in message
    if isinstance(target, np.ndarray) and error is TypeError:
        assert str(saved.dtype) in message
        assert str(target.dtype) in message


@pytest.mark.parametrize(
    ('saved', 'target'),
    [(np.ones(3), np.zeros(3, 'f')), (np.ones(3, 'i'), np.zeros(3)), (np.ones(1), np.zeros(()))],
)
@pytest.mark.parametrize('device', DEVICES)
def test_fit_targets(path, saved, target, device):
    serializers.save(path, Bag(key=saved))
    target = chainer.get_device(device).send(target.copy())
    loaded = Bag(key=target)
    serializers.load(path, loaded)
    assert loaded.values['key'] is target
    assert float(target.sum()) == saved.size


@pytest.mark.parametrize('value', [{1: 2}, object(), np.array([None, 1]), np.array({}), {3}])
def test_objects_are_refused_and_the_old_file_kept(path, value):
    serializers.save(path, Bag(x=1))
    old = path.read_bytes()
    with pytest.raises(TypeError, match="'x' cannot be saved"):
        serializers.save(path, Bag(x=value))
    assert path.read_bytes() == old
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_missing_keys(path):
    net = Net()
    serializers.save(path, net.l1)
    other = L.Linear(4, 4)
    with pytest.raises(KeyError, match=f"'other/W' is not in '{path}', which has 'W', 'b'"):
        serializers.load(path, other, path='other/')
    before = other.W.array.copy()
    serializers.load(path, other, path='other/', strict=False)
    np.testing.assert_array_equal(other.W.array, before)


def test_path_and_ignored_names(path):
    net, part = Net(), L.Linear(3, 4)
    net.l1.b.array[...] = 7
    serializers.save(path, net)
    serializers.load(path, part, path='l1/')
    np.testing.assert_array_equal(part.W.array, net.l1.W.array)
    for ignored in ('l1/W', ['l1/W'], lambda key: key.endswith('W'), ('x', lambda k: k == 'l1/W')):
        part.W.array[...] = -1
        part.b.array[...] = -1
        serializers.load(path, part, path='l1/', ignore_names=ignored)
        assert (part.W.array == -1).all()
        assert (part.b.array == 7).all()
    with pytest.raises(ValueError, match='ignore_names needs to be a callable, string or list'):
        serializers.load(path, part, path='l1/', ignore_names=[3])


def bad_shape(values):
    values['p'] = np.ones(5)


def bad_dtype(values):
    values['p'] = np.ones(2, 'c8')


def no_key(values):
    del values['p']


class Keyed(Bag):
    def serialize(self, serializer):
        for key in self.values:
            serializer(key, self.values[key])


@pytest.mark.parametrize('damage', [bad_shape, bad_dtype, no_key])
@pytest.mark.parametrize('device', DEVICES)
def test_a_failure_leaves_the_target(path, device, damage):
    # Some formats put 'p' after the children and others before: put it last.
    values = serializers.npz.serialize(Net())
    values |= {'count': 99, 'mean': np.full(4, 9, 'f'), 'lazy/W': np.ones((2, 9), 'f')}
    damage(values)
    serializers.save(path, Keyed(**values))

    class Last(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.net = Net()
                self.lazy = L.Linear(None, 2, nobias=True)

        def serialize(self, serializer):
            self.lazy.serialize(serializer['lazy'])
            for child in 'l1', 'l2':
                self.net[child].serialize(serializer[child])
            self.net.mean = serializer('mean', self.net.mean)
            self.net.count = serializer('count', self.net.count)
            self.net.done = serializer('count', None)
            changed.append(state(self.net))
            serializer('p', self.net.p.array)

    changed: list = []
    target = Last().to_device(device)
    before = state(target.net)
    arrays = [p.array for p in target.net.params()]
    with pytest.raises((KeyError, ValueError, TypeError), match="'p'"):
        serializers.load(path, target)
    assert state(target.net) == before
    (written,) = changed
    assert {key for key in before if written[key] != before[key]} == {*before} - {
        '/p',
        '/l1/b',
        '/l2/b',
    }
    assert not hasattr(target.net, 'done')
    assert not target.lazy.W.is_initialized
    for param, array in zip(target.net.params(), arrays, strict=True):
        assert param.array is array
    # It still loads a correct file.
    serializers.save(path, net := Net())
    serializers.load(path, target.net)
    assert state(target.net.to_device('@numpy')) == state(net)


@pytest.mark.parametrize('device', DEVICES)
def test_a_failure_with_shared_parameters_leaves_them(path, device):
    net = Net().to_device(device)
    net.l2.b = net.p
    before = state(net)
    # The shared parameter is loaded first, and again last, which fails.
    values = serializers.npz.serialize(Net())
    values |= {'p': np.full(2, 9, 'f'), 'l2/b': np.ones(2, 'c8')}
    serializers.save(path, Keyed(**values))
    with pytest.raises(TypeError, match=r"'l2/b'.*complex64"):
        serializers.load(path, net)
    assert state(net) == before
    values['l2/b'] = np.full(2, 8, 'f')
    serializers.save(path, Keyed(**values))
    serializers.load(path, net)
    assert net.p.array.tolist() == [8, 8]


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('again', [False, True])
def test_a_failure_with_views_of_one_memory_leaves_it(path, device, again):
    """Failed loads are undone in reverse order, as views may share memory."""
    base = chainer.get_device(device).send(np.arange(7, dtype='f'))
    views = {'a': base[:4], 'b': base[2:6], 'c': base[::-1], 'd': base[1::2]}
    if again:
        views = dict(reversed(views.items()))
    file = {
        key: np.full(view.shape, 10 * n + 10, 'f') for n, (key, view) in enumerate(views.items())
    }
    first = next(iter(views))
    serializers.save(
        path, Keyed(**file, again=np.full(views[first].shape, 99, 'f'), last=np.ones(3))
    )
    written = []

    class Target(Bag):
        def serialize(self, serializer):
            for key, view in views.items():
                assert serializer(key, view) is view
                written.append(base.tolist())
            serializer('again', views[first])  # it remembers the original value
            serializer('last', np.zeros(4))

    with pytest.raises(ValueError, match="'last'"):
        serializers.load(path, Target())
    assert len({tuple(w) for w in written}) == 4
    assert base.tolist() == list(range(7))


def test_an_error_of_the_object_tells_the_key(path):
    link = chainer.Chain(l=L.Linear(None, 2))
    serializers.save(path, Keyed(**{'l/W': np.ones((2, 3), 'c8'), 'l/b': np.zeros(2, 'f')}))
    with pytest.raises((TypeError, chainerx.DtypeError)) as info:
        serializers.load(path, link)
    assert any("'l/W'" in note for note in info.value.__notes__)
    assert not link.l.W.is_initialized


# ---- files ----


def test_file_objects(path):
    stream = io.BytesIO()
    name = path.suffix[1:].replace('h5', 'hdf5')
    getattr(serializers, f'save_{name}')(stream, Bag(x=3))
    stream.seek(0)
    loaded = Bag(x=0)
    serializers.load(stream, loaded)
    assert loaded.values == {'x': 3}


def test_paths_as_strings_and_without_suffix(path):
    name = path.suffix[1:].replace('h5', 'hdf5')
    plain = str(path.with_suffix(''))
    getattr(serializers, f'save_{name}')(plain, Bag(x=3))
    assert os.listdir(path.parent) == [os.path.basename(plain)]
    serializers.load(plain, loaded := Bag(x=0))
    assert loaded.values == {'x': 3}


def test_permissions_stay(path):
    umask = os.umask(0o022)
    try:
        serializers.save(path, Bag(x=1))
        assert stat.S_IMODE(path.stat().st_mode) == 0o644
        path.chmod(0o600)
        serializers.save(path, Bag(x=2))
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        os.umask(umask)


def test_a_symbolic_link_stays(path):
    real = path.parent / 'real'
    real.mkdir()
    path.symlink_to(real / path.name)
    serializers.save(path, Bag(x=1))
    assert path.is_symlink()
    assert (real / path.name).is_file()
    assert [p.name for p in real.iterdir()] == [path.name]


def test_an_error_while_writing_keeps_the_old_file(path, monkeypatch):
    serializers.save(path, Bag(x=1))
    old = path.read_bytes()

    def fail(*args):
        raise OSError('disk full')

    monkeypatch.setattr(os, 'fsync', fail)
    with pytest.raises(OSError, match='disk full'):
        serializers.save(path, Bag(x=2))
    assert path.read_bytes() == old
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_the_longest_name(path):
    longest = path.with_name('ö' * 120 + path.suffix)
    serializers.save(longest, Bag(x=1))
    serializers.load(longest, loaded := Bag(x=0))
    assert loaded.values == {'x': 1}


def test_no_folder(path):
    missing = path.parent / 'none' / path.name
    with pytest.raises(FileNotFoundError, match=f"'{missing}'$"):
        serializers.save(missing, Bag(x=1))
    with pytest.raises(FileNotFoundError):
        serializers.load(path, Bag(x=1))


def test_save_by_an_unknown_suffix(tmp_path):
    with pytest.raises(ValueError, match=r"model\.pt' must end with one of \.npz, \.h5"):
        serializers.save(tmp_path / 'model.pt', Bag(x=1))


@pytest.mark.parametrize(
    ('content', 'message'),
    [(b'', 'neither npz nor HDF5'), (b'\x80\x04K\x01.', 'a pickle'), (b'hello world', 'neither')],
)
def test_load_what_is_none(tmp_path, content, message):
    (tmp_path / 'x.npz').write_bytes(content)
    with pytest.raises(ValueError, match=message):
        serializers.load(tmp_path / 'x.npz', Bag(x=1))


def test_the_content_tells_the_format_not_the_name(path):
    serializers.save(path, Bag(x=4))
    other = path.with_suffix('.npz' if path.suffix != '.npz' else '.h5')
    path.rename(other)
    serializers.load(other, loaded := Bag(x=0))
    assert loaded.values == {'x': 4}
    with pytest.raises(TypeError, match='must be a path or a binary file, not int'):
        serializers.load(3, loaded)


# ---- objects other than links ----


def optimizer_state(optimizer):
    rules = {path: param.update_rule for path, param in optimizer.target.namedparams()}
    states = {
        path: (rule.t, {key: np.array(x) for key, x in rule.state.items()})
        for path, rule in rules.items()
    }
    return str((optimizer.t, optimizer.epoch, states))


def trained(n_updates):
    optimizer = chainer.optimizers.Adam().setup(chainer.Sequential(L.Linear(2, 2), L.Linear(2, 2)))
    for i in range(n_updates):
        for param in optimizer.target.params():
            param.grad = np.full_like(param.array, i + 1)
        optimizer.update()
    return optimizer


def test_an_optimizer_with_its_model(path):
    class Both:
        def __init__(self, n_updates):
            self.optimizer = trained(n_updates)

        def serialize(self, serializer):
            self.optimizer.target.serialize(serializer['model'])
            self.optimizer.serialize(serializer['optimizer'])

    source, target = Both(3), Both(1)
    serializers.save(path, source)
    serializers.load(path, target)
    assert optimizer_state(target.optimizer) == optimizer_state(source.optimizer)
    # The last key of the file is wrong: all earlier loads are undone.
    values = serializers.npz.serialize(source)
    values['optimizer/1/b/v'] = np.ones(5)
    serializers.save(path, Keyed(**values))
    target = Both(1)
    before = optimizer_state(target.optimizer)
    weights = [p.array.tobytes() for p in target.optimizer.target.params()]
    with pytest.raises(ValueError, match=r'\(5,\)'):
        serializers.load(path, target)
    assert optimizer_state(target.optimizer) == before
    assert [p.array.tobytes() for p in target.optimizer.target.params()] == weights
    serializers.save(path, source)
    serializers.load(path, target)
    for optimizer in (source.optimizer, target.optimizer):
        for param in optimizer.target.params():
            param.grad = np.ones_like(param.array)
        optimizer.update()
    assert optimizer_state(target.optimizer) == optimizer_state(source.optimizer)


def test_a_summary(path):
    summary, other = chainer.DictSummary(), chainer.DictSummary()
    summary.add({'loss': 2.0, 'main/accuracy': 0.5})
    summary.add({'loss': 4.0})
    serializers.save(path, summary)
    serializers.load(path, other)
    assert other.compute_mean() == summary.compute_mean() == {'loss': 3.0, 'main/accuracy': 0.5}


class Endless:
    """Has every attribute, new at each access, except those that Python itself looks up."""

    count = 0

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        Endless.count += 1
        assert Endless.count < 1000
        return Endless()


class Values(dict):
    """A dict whose contents are never inspected."""

    def values(self):
        raise AssertionError

    items = keys = __iter__ = values


class Holder(chainer.Link):
    """A link with a saved value beside arbitrary attributes."""

    def __init__(self, *others):
        super().__init__()
        self.add_persistent('x', 1)
        self.others = others

    def serialize(self, serializer):
        super().serialize(serializer)
        self.x = serializer('y', 2)


def test_objects_with_endless_attributes(path):
    serializers.save(path, Holder())
    kept = collections.OrderedDict(a=1, b=2)
    kept.move_to_end('a')
    others = [Endless(), mock.MagicMock(), Values(a=1), mock, kept]
    holder = Holder(*others)
    serializers.load(path, holder)
    assert holder.x == 2
    link = chainer.Link()
    link.add_persistent('x', 5)
    serializers.save(path, link)  # without y
    holder.x = 3
    with pytest.raises(KeyError, match="'y'"):
        serializers.load(path, holder)
    assert holder.x == 3
    assert list(kept) == ['b', 'a']
    assert dict.__len__(others[2]) == 1
    # The attributes of the target itself are remembered, whatever its type.
    target = Endless()
    target.serialize = lambda serializer: setattr(target, 'x', serializer('x', 1))
    serializers.load(path, target)
    assert target.x == 5

    def fail(serializer):
        target.x = 6
        raise KeyError('y')

    target.serialize = fail
    with pytest.raises(KeyError, match='y'):
        serializers.load(path, target)
    assert target.x == 5
