"""The safetensors format: contents of a file, and files that the reader refuses."""

import io
import json

import numpy as np
import pytest
from chainer import links as L
from chainer import serializers


class Object:
    def __init__(self, **values):
        self.values = values

    def serialize(self, serializer):
        for key in self.values:
            self.values[key] = serializer(key, self.values[key])


def make(header, data=b'', length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    length = len(text) if length is None else length
    return io.BytesIO(length.to_bytes(8, 'little') + text + data)


def entry(begin=0, end=8, shape=(2,), dtype='F32'):
    return {'dtype': dtype, 'shape': list(shape), 'data_offsets': [begin, end]}


def test_content():
    stream = io.BytesIO()
    values = Object(b=np.array([1, 2], '>i2'), a=1.5, none=None, s='text')
    serializers.save_safetensors(stream, values, metadata={'license': 'MIT'})
    content = stream.getvalue()
    length = int.from_bytes(content[:8], 'little')
    assert length % 8 == 0
    assert json.loads(content[8 : 8 + length]) == {
        '__metadata__': {'license': 'MIT', 'chainer': '{"none": null, "s": "text"}'},
        'a': {'dtype': 'F64', 'shape': [], 'data_offsets': [0, 8]},
        'b': {'dtype': 'I16', 'shape': [2], 'data_offsets': [8, 12]},
    }
    assert content[8 + length :] == np.float64(1.5).tobytes() + b'\1\0\2\0'


def test_the_package_of_that_name_agrees(tmp_path):
    package = pytest.importorskip('safetensors.numpy')
    link = L.Linear(3, 2)
    serializers.save_safetensors(tmp_path / 'a', link)
    arrays = package.load_file(tmp_path / 'a')
    assert arrays.keys() == {'W', 'b'}
    np.testing.assert_array_equal(arrays['W'], link.W.array)
    package.save_file({'W': np.full((2, 3), 7, 'f'), 'b': np.ones(2, 'f')}, tmp_path / 'b')
    serializers.load_safetensors(tmp_path / 'b', link)
    assert (link.W.array == 7).all()


@pytest.mark.parametrize('value', [np.ones(2, 'c16'), np.array(['a', 'b']), b'bytes'])
def test_unsaved_attributes(tmp_path, value):
    with pytest.raises(TypeError, match="'x' cannot be saved: safetensors has no dtype"):
        serializers.save_safetensors(tmp_path / 'a', Object(x=value))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize('metadata', [{'chainer': 'x'}, {'a': 1}])
def test_bad_metadata(metadata):
    with pytest.raises(TypeError, match='metadata must map'):
        serializers.save_safetensors(io.BytesIO(), Object(), metadata)


def test_files_of_others():
    # Any order, white space, and no metadata are accepted.
    header = b' '.join([b'{"b":', json.dumps(entry(8, 16)).encode(), b',"x":'])
    stream = make(
        header + json.dumps(entry()).encode() + b'}   ', np.arange(4, dtype='f').tobytes()
    )
    loaded = Object(x=np.zeros(2, 'f'))
    serializers.load_safetensors(stream, loaded)
    assert loaded.values['x'].tolist() == [0, 1]


BIG = 1 << 63


@pytest.mark.parametrize(
    ('stream', 'message'),
    [
        (io.BytesIO(b''), 'a header of 0 bytes in a file of 0'),
        (io.BytesIO(b'\1\0\0'), 'in a file of 3'),
        (make(b'{}', length=3), 'a header of 3 bytes in a file of 10'),
        (make(b'{}', length=BIG), 'at most'),
        (make(b'[]'), 'no header in JSON'),
        (make(b'{"x"'), 'delimiter'),
        (make(b'{"a":' + b'[' * 100_000), 'nested too deep'),
        (make(b'{"\xff": 1}'), 'utf-8'),
        (make(b'{"x": 1, "x": 1}'), 'twice'),
        (make({'x': 3}), 'must have dtype'),
        (make({'x': {'dtype': 'F32'}}), 'must have dtype'),
        (make({'x': entry() | {'more': 1}}, bytes(8)), 'must have dtype'),
        (make({'x': entry(dtype='F8_E4M3')}, bytes(8)), 'has dtype'),
        (make({'x': entry(dtype=[])}, bytes(8)), 'has dtype'),
        (make({'x': entry(shape=[-2])}, bytes(8)), 'lists of sizes'),
        (make({'x': entry(shape=[2.0])}, bytes(8)), 'lists of sizes'),
        (make({'x': entry(shape=[True])}, bytes(8)), 'lists of sizes'),
        (make({'x': entry() | {'shape': 2}}, bytes(8)), 'lists of sizes'),
        (make({'x': entry() | {'data_offsets': [0]}}, bytes(8)), 'lists of sizes'),
        (make({'x': entry(shape=[3])}, bytes(8)), 'has 12 bytes by its shape'),
        (make({'x': entry(8, 0)}, bytes(8)), 'has 8 bytes by its shape'),
        (make({'x': entry(shape=[1 << 32, 1 << 32])}, bytes(8)), 'no array can have shape'),
        (make({'x': entry(0, 0, shape=[0, 1 << 61, 1 << 61])}), 'no array can have shape'),
        (make({'x': entry(0, 4, shape=[1] * 40)}, bytes(4)), 'no array can have shape'),
        (make({'x': entry(8, 16)}, bytes(16)), 'starts at byte 8 of the data, expected 0'),
        (make({'x': entry(), 'y': entry()}, bytes(8)), "'y' starts at byte 0"),
        (make({'x': entry(), 'y': entry(4, 12)}, bytes(12)), "'y' starts at byte 4"),
        (make({'x': entry()}, bytes(7)), '7 bytes of data, but the arrays have 8'),
        (make({'x': entry()}, bytes(9)), '9 bytes of data'),
        (make({'__metadata__': 3}), 'must map strings'),
        (make({'__metadata__': {'a': 3}}), 'must map strings'),
        (make({'__metadata__': {'chainer': '{"x": 1}'}}), 'must map keys'),
        (make({'__metadata__': {'chainer': '[]'}}), 'must map keys'),
        (make({'__metadata__': {'chainer': '{"x": null}'}, 'x': entry()}, bytes(8)), 'twice'),
    ],
)
def test_invalid_files(stream, message):
    link = L.Linear(1, 1)
    before = link.W.array.copy()
    with pytest.raises(ValueError, match='the file object is no valid safetensors file') as info:
        serializers.load_safetensors(stream, link)
    assert message in str(info.value)
    np.testing.assert_array_equal(link.W.array, before)


def test_a_bool_that_is_none():
    stream = make({'x': entry(0, 2, dtype='BOOL')}, b'\1\2')
    with pytest.raises(ValueError, match=r"'x' of .* neither 0 nor 1"):
        serializers.load_safetensors(stream, Object(x=np.zeros(2, '?')))
