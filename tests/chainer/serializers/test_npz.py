"""The classes of the npz format, as user code calls them."""

import io
import itertools
import os
import pickle
import sys
import threading
import zipfile

import chainer
import chainerx
import numpy as np
import pytest
from chainer import serializers
from chainer.serializers import _npy, npz


class Object:
    def __init__(self, **values):
        self.values = values

    def serialize(self, serializer):
        for key in self.values:
            self.values[key] = serializer(key, self.values[key])


# ---- saving ----


def interrupt_at(event, function):
    """Calls a function with Ctrl-C before its n-th line; returns whether it has that many.

    It runs in a separate thread: CPython confuses exceptions handled while a line is traced with
    the thread's current exception.
    """
    count = itertools.count(1)
    raised = []

    def trace(frame, what, argument):
        if what == 'line' and next(count) == event:
            raise KeyboardInterrupt
        return trace

    def run():
        sys.settrace(trace)
        try:
            function()
        except BaseException as error:
            raised.append(type(error))
        finally:
            sys.settrace(None)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert raised in ([], [KeyboardInterrupt])
    return bool(raised)


@pytest.mark.parametrize('compression', [False, True])
def test_ctrl_c_anywhere_while_saving(compression, tmp_path, monkeypatch, capfd):
    """Ctrl-C propagates, leaves the old file or the new one, and no other message."""
    monkeypatch.setattr(os, 'fsync', lambda descriptor: None)
    unraisable = []
    monkeypatch.setattr(sys, 'unraisablehook', unraisable.append)
    path, file = str(tmp_path / 'x'), io.BytesIO()
    serializers.save_npz(path, {'old': np.zeros(1)})
    values = {'a': np.arange(3), 'none': None}
    for event in itertools.count(1):
        target = file if event % 2 else path
        if not interrupt_at(event, lambda t=target: serializers.save_npz(t, values, compression)):
            break
        assert os.listdir(tmp_path) == ['x']
        with np.load(path) as saved:
            assert sorted(saved) in (['old'], ['a', 'none'])
    assert event > 200  # for all lines
    # What Ctrl-C has found half made in zipfile can't be closed, and Python 3.14 says so.
    assert [u for u in unraisable if 'zipfile.' not in (u.err_msg or '')] == []
    assert capfd.readouterr().err == ''


@pytest.mark.parametrize(
    ('path', 'key', 'expected'),
    [
        ((), 'a', 'a'),
        ((), '/a', 'a'),
        (('x', 'y'), 'z', 'x/y/z'),
        (('/x/',), '/z', 'x/z'),
        (('x',), '/z/', 'x/z/'),
    ],
)
def test_keys(path, key, expected):
    saver = serializers.DictionarySerializer()
    child = saver
    for name in path:
        child = child[name]
    assert child(key, 3) == 3
    assert list(saver.target) == [expected]
    loader = serializers.NpzDeserializer({expected: np.array(4)})
    for name in path:
        loader = loader[name]
    assert loader(key, 3) == 4
    assert loader.path == child.path


def test_target_and_path_of_a_dictionary_serializer():
    target = {'old': 1}
    saver = serializers.DictionarySerializer(target, 'pre/')
    saver('a', 2)
    saver['child']('b', 3)
    assert saver.target is target
    assert target == {'old': 1, 'pre/a': 2, 'pre/child/b': 3}
    assert isinstance(saver, chainer.Serializer)


@pytest.mark.parametrize(
    ('value', 'dtype'),
    [(1, 'i8'), (1.5, 'f8'), (True, '?'), (1j, 'c16'), ('abc', 'U3'), (b'ab', 'S2'), (None, 'O')],
)
def test_scalars_become_arrays(value, dtype):
    target = npz.serialize(Object(x=value))
    assert target['x'].dtype == dtype
    assert target['x'].shape == ()
    assert target['x'].item() == value


@pytest.mark.parametrize('value', [chainer.Variable(np.ones(2)), {1: 2}, object(), np.array([{}])])
def test_unsaved_attributes(value):
    with pytest.raises(TypeError, match="'x' cannot be saved"):
        serializers.DictionarySerializer()('x', value)


def test_arrays_of_chainerx_become_numpys():
    x = chainerx.array([1, 2], 'float32')
    target = npz.serialize(Object(x=x))
    assert isinstance(target['x'], np.ndarray)
    assert target['x'].dtype == 'f'


def test_a_dictionary_is_saved_verbatim(tmp_path):
    serializers.save_npz(tmp_path / 'a', {'a': 1, '/b/c': np.ones(3), 'file': 2, 'n': None})
    with np.load(tmp_path / 'a', allow_pickle=True) as file:
        assert file.files == ['a', '/b/c', 'file', 'n']
        assert file['file'] == 2
        assert file['n'].item() is None


@pytest.mark.parametrize('compression', [True, False])
def test_compression(tmp_path, compression):
    serializers.save_npz(tmp_path / 'a', Object(x=np.zeros(1000)), compression)
    assert ((tmp_path / 'a').stat().st_size < 1000) is compression
    loaded = Object(x=None)
    serializers.load_npz(tmp_path / 'a', loaded)
    assert not loaded.values['x'].any()


# ---- loading ----


@pytest.mark.parametrize('allow_pickle', [True, False])
def test_loads_from_open_npz_files(tmp_path, allow_pickle):
    serializers.save_npz(tmp_path / 'a', Object(x=3, none=None, array=np.arange(3)))
    array = np.zeros(3, int)
    with np.load(tmp_path / 'a', allow_pickle=allow_pickle) as file:
        loader = serializers.NpzDeserializer(file)
        assert isinstance(loader, chainer.Deserializer)
        assert loader.npz is file
        assert loader('x', 0) == 3
        assert loader('none', 5) is None
        assert loader('array', array) is array
        assert array.tolist() == [0, 1, 2]
        with pytest.raises(KeyError, match="'y' is not in"):
            loader('y', 0)


def test_loads_from_a_dictionary():
    none = np.array(None, dtype=object)
    loader = serializers.NpzDeserializer({'p/x': 2.5, 'n': none, 'c': chainerx.ones(2)}, 'p/')
    assert loader('x', 0.0) == 2.5
    loader = serializers.NpzDeserializer({'n': none, 'c': chainerx.ones(2)}, strict=False)
    assert loader('n', 3) is None
    assert loader('missing', 3) == 3
    assert loader('c', None).tolist() == [1, 1]
    with pytest.raises(TypeError, match="'o' cannot"):
        serializers.NpzDeserializer({'o': np.array({}, dtype=object)})('o', None)


@pytest.mark.parametrize(
    ('value', 'target', 'expected'),
    [
        (3, 0.0, 3.0),
        (True, 0, 1),
        (np.ones(1), 0.0, 1.0),
        (3, '', '3'),
        (b'ab', '', 'ab'),
        (np.float16(3), 0.0, 3.0),
        (np.int8(3), np.int32(0), 3),
    ],
)
def test_scalars_that_fit(value, target, expected):
    loaded = serializers.NpzDeserializer({'x': value})('x', target)
    assert type(loaded) is type(target)
    assert loaded == expected


def test_none_loads_as_an_array():
    loaded = serializers.NpzDeserializer({'x': np.array(2.5)})('x', None)
    assert isinstance(loaded, np.ndarray)
    assert loaded.shape == ()


def test_arrays_loaded_from_a_dictionary_are_copies():
    value = np.ones(3)
    loaded = serializers.NpzDeserializer({'x': value})('x', None)
    loaded[:] = 2
    assert value.tolist() == [1, 1, 1]


def test_ignored_names():
    called = []

    def ignore(key):
        called.append(key)
        return key.endswith('x')

    loader = serializers.NpzDeserializer({'a': np.array(1)}, ignore_names=['b', ignore])
    assert loader['p']('x', 100) == 100
    assert loader('b', 100) == 100
    assert loader('a', 100) == 1
    assert called == ['p/x', 'a']


@pytest.mark.parametrize('names', [3, [3], [None], {1: 2}])
def test_bad_ignored_names(names):
    with pytest.raises(ValueError, match='ignore_names needs'):
        serializers.NpzDeserializer({}, ignore_names=names)


# ---- None, and pickles ----

NONE_ARRAY = np.array(None, dtype=object)


def member(payload, shape='()'):
    header = f"{{'descr': '|O', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + '\n'
    content = b'\x93NUMPY\x01\x00' + len(header).to_bytes(2, 'little') + header.encode() + payload
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, 'w') as archive:
        archive.writestr('x.npy', content)
    stream.seek(0)
    return stream


@pytest.mark.parametrize('protocol', [1, 2, 3, 4, 5])
@pytest.mark.parametrize('module', [b'numpy._core', b'numpy.core'])
def test_none_of_any_numpy(protocol, module):
    payload = pickle.dumps(NONE_ARRAY, protocol)
    if protocol < 4:  # newer versions write the length of the name before it
        payload = payload.replace(b'numpy._core', module).replace(b'numpy.core', module)
    loaded = Object(x=3)
    serializers.load_npz(member(payload), loaded)
    assert loaded.values == {'x': None}


class Exploit:
    ran = False

    def __reduce__(self):
        return explode, ()


def explode():
    Exploit.ran = True


@pytest.mark.parametrize(
    'payload',
    [
        pickle.dumps(Exploit()),
        pickle.dumps(np.array(Exploit(), dtype=object)),
        pickle.dumps(np.array([None], dtype=object)),
        pickle.dumps(np.array(3, dtype=object)),
        pickle.dumps(None),
        pickle.dumps(NONE_ARRAY) + b'x',
        pickle.dumps(NONE_ARRAY)[:-1],
        pickle.dumps(NONE_ARRAY, 2) * 2,
        b'cos\nsystem\n(S"true"\ntR.',
        b'.',
        b'0.',
        b't.',
        b'R.',
        b'(' * 5000,
        b'',
        b'h\x05.',
        b'\x8c\x00' * 400 + b'.',
        b'I' + b'9' * 900 + b'\n.',
    ],
)
def test_no_pickle_is_run(payload):
    with pytest.raises(ValueError, match=r"'x' of the file object cannot be read.*pickle"):
        serializers.load_npz(member(payload), Object(x=3))
    assert not Exploit.ran


def test_every_other_pickle_of_none_is_refused():
    payload = _npy.NONE[128:]
    _npy.check_none(payload)
    for i in range(len(payload)):
        for changed in (payload[:i] + payload[i + 1 :], payload[:i] + b'N' + payload[i:]):
            try:
                _npy.check_none(changed)
            except ValueError:
                continue
            # The omitted opcodes only store values that are never read.
            assert b'q' in payload[max(0, i - 2) : i + 2]


def test_an_array_of_none_is_refused():
    with pytest.raises(ValueError, match='pickle'):
        serializers.load_npz(member(pickle.dumps(NONE_ARRAY), '(1,)'), Object(x=3))
