"""Files of arrays that C++ reads and writes (cpp/chainerx/io), by models that change nothing."""

import io
import json
import struct
import zipfile

import chainer
import chainer.links as L
import chainerx
import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx_models import info, make, node
from runner import fail, identity, run

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = [*map(np.dtype, '?bhilBHILefdFD'), BFLOAT16]


def draw(dtype, shape, seed=0):
    rng = np.random.default_rng(seed)
    if dtype.kind == 'b':
        return np.array(rng.random(shape) < 0.5)
    if dtype.kind in 'iu':
        limits = np.iinfo(dtype)
        return np.array(rng.integers(limits.min, limits.max, shape, dtype, endpoint=True))
    x = np.array(rng.standard_normal(shape))
    return (x + 1j * x[::-1] if dtype.kind == 'c' and x.ndim else x).astype(dtype)


def arrays_of(shape):
    return {f'x{i}': draw(dtype, shape, i) for i, dtype in enumerate(DTYPES)}


def same(x, y):
    """Whether all but the order of bytes is the same."""
    if x.dtype == 'V2':
        x = x.view(BFLOAT16)
    assert (x.dtype, x.shape) == (y.dtype.newbyteorder('='), y.shape)
    return x.tobytes() == y.astype(x.dtype).tobytes()


def outputs_of(path):
    return {name.removesuffix('_out'): x for name, x in np.load(path).items()}


def passed(tmp_path, file, arrays):
    """Lets a model read the file and write its arrays; checks that they are these."""
    model = identity(tmp_path / 'model.onnx', {k: x.dtype for k, x in arrays.items()})
    run(model, '--input', file, '--output', tmp_path / 'out.npz')
    outputs = outputs_of(tmp_path / 'out.npz')
    assert outputs.keys() == arrays.keys()
    for name, x in arrays.items():
        assert same(outputs[name], x), name


@pytest.mark.parametrize('shape', [(), (3,), (0, 2), (2, 3, 4), (1,) * 10])
@pytest.mark.parametrize('save', [np.savez, np.savez_compressed])
def test_npz(tmp_path, shape, save):
    arrays = arrays_of(shape)
    save(tmp_path / 'x.npz', **arrays)
    passed(tmp_path, tmp_path / 'x.npz', arrays)
    assert zipfile.ZipFile(tmp_path / 'out.npz').testzip() is None


@pytest.mark.parametrize('shape', [(), (3,), (0, 2), (2, 3, 4), (123456, 0), (2,) * 10])
def test_npy_has_the_bytes_of_numpy(tmp_path, shape):
    arrays = arrays_of(shape)
    np.savez(tmp_path / 'x.npz', **arrays)
    model = identity(tmp_path / 'model.onnx', {k: x.dtype for k, x in arrays.items()})
    text = run(model, '--input', tmp_path / 'x.npz', '--output', tmp_path / 'out')
    for name, x in arrays.items():
        file = tmp_path / 'out' / f'{name}_out.npy'
        assert f'{name}_out: {x.dtype} {shape} in {file}\n' in text
        expected = io.BytesIO()
        np.save(expected, x)
        assert file.read_bytes() == expected.getvalue()
    assert len(list((tmp_path / 'out').iterdir())) == len(arrays)


@pytest.mark.parametrize('version', [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize('dtype', ['>i2', '>f4', '>f8', '>c16', '<u8', '=f2'])
@pytest.mark.parametrize('order', 'CF')
def test_npy_of_all_layouts(tmp_path, version, dtype, order):
    x = np.array(draw(np.dtype(dtype).newbyteorder('='), (2, 3, 4)), dtype, order=order)
    with open(tmp_path / 'x.npy', 'wb') as file:
        np.lib.format.write_array(file, x, version)
    model = identity(tmp_path / 'model.onnx', {'x': x.dtype.newbyteorder('=')})
    run(model, '--input', tmp_path / 'x.npy', '--output', tmp_path / 'y.npy')
    y = np.load(tmp_path / 'y.npy')
    assert same(y, x)
    assert y.flags.c_contiguous


def test_npy_of_python_2(tmp_path):
    text = b'{"shape": (2L, 1L,), "descr": "|u1", "fortran_order": True}\n'
    path = tmp_path / 'x.npy'
    path.write_bytes(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(text)) + text + b'\x07\x08')
    passed(tmp_path, f'x={path}', {'x': np.array([[7], [8]], 'u1')})


def test_bools_of_other_bytes(tmp_path):
    file = tmp_path / 'x.npy'
    np.save(file, np.array([0, 1, 2, 255], 'u1').view(bool))
    passed(tmp_path, f'x={file}', {'x': np.array([False, True, True, True])})


@pytest.mark.parametrize('compression', [True, False])
def test_snapshot_of_chainer(tmp_path, compression):
    link = chainer.Sequential(L.Convolution2D(3, 8, 3), L.BatchNormalization(8), L.Linear(200, 9))
    # Snapshots of a Trainer have no end of a name, so the contents decide.
    chainer.serializers.save_npz(tmp_path / 'snapshot', link, compression=compression)
    arrays = dict(np.load(tmp_path / 'snapshot'))
    assert '0/W' in arrays
    passed(tmp_path, tmp_path / 'snapshot', arrays)


def test_snapshot_in_safetensors(tmp_path):
    link = chainer.Sequential(L.Convolution2D(3, 8, 3), L.BatchNormalization(8))
    chainer.serializers.save_npz(tmp_path / 'arrays.npz', link)
    chainer.serializers.save_safetensors(tmp_path / 'snapshot', link, {'by': 'ü\n"\\'})
    arrays = dict(np.load(tmp_path / 'arrays.npz'))
    passed(tmp_path, tmp_path / 'snapshot', arrays)


def test_arrays_of_chainerx(tmp_path):
    x = chainerx.arange(6, dtype='bfloat16').reshape(2, 3).T
    chainerx.savez_compressed(tmp_path / 'x.npz', x=x)
    passed(tmp_path, tmp_path / 'x.npz', {'x': chainerx.to_numpy(x)})


class Unseekable(io.RawIOBase):
    """A pipe, of which sizes are known only afterwards."""

    def __init__(self):
        self.data = b''

    def writable(self):
        return True

    def write(self, data):
        self.data += bytes(data)
        return len(data)


@pytest.mark.parametrize('compression', [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize('case', ['unseekable', 'zip64', 'comment', 'many'])
def test_zips_of_all_kinds(tmp_path, monkeypatch, compression, case):
    arrays = {'x': draw(np.dtype('f'), (100, 7)), 'ä/é': np.arange(3)}
    if case == 'zip64':
        monkeypatch.setattr(zipfile, 'ZIP64_LIMIT', 10)
    if case == 'many':
        monkeypatch.setattr(zipfile, 'ZIP_FILECOUNT_LIMIT', 1)
    stream = Unseekable() if case == 'unseekable' else io.BytesIO()
    with zipfile.ZipFile(stream, 'w', compression) as file:
        for name, x in arrays.items():
            with file.open(f'{name}.npy', 'w', force_zip64=True) as entry:
                np.save(entry, x)
        if case == 'comment':
            file.comment = b'PK\5\6' * 1000
    data = stream.data if case == 'unseekable' else stream.getvalue()
    assert (b'PK\6\6' in data) == (case in ('zip64', 'many'))
    (tmp_path / 'x.npz').write_bytes(data)
    passed(tmp_path, tmp_path / 'x.npz', arrays)


def test_many_arrays(tmp_path):
    """More than the 65,535 that a directory without 64 bits has."""
    n = 66_000
    model = make(
        [node('SplitToSequence', ['x'], ['y'])],
        [info('x', [n])],
        [helper.make_tensor_sequence_value_info('y', TensorProto.FLOAT, None)],
    )
    (tmp_path / 'model.onnx').write_bytes(model)
    np.save(tmp_path / 'x.npy', np.arange(n, dtype='f'))
    path = tmp_path / 'y.npz'
    run(tmp_path / 'model.onnx', '--input', tmp_path / 'x.npy', '--output', path)
    with np.load(path) as arrays:
        assert arrays.files == [f'y[{i}]' for i in range(n)]
        assert arrays[f'y[{n - 1}]'] == np.array([n - 1], 'f')
    message = fail(tmp_path / 'model.onnx', '--input', path)
    assert f'there is no input "y[0]" for an array of "{path}": the model has "x"' in message


def test_compressed_without_zlib(tmp_path):
    np.savez_compressed(tmp_path / 'x.npz', x=np.ones(3))
    model = identity(tmp_path / 'model.onnx', {'x': np.dtype('d')})
    message = fail(model, '--input', tmp_path / 'x.npz', CHAINERX_ZLIB='/nowhere/libz.so')
    assert 'entry "x.npy" is compressed, which needs zlib ($CHAINERX_ZLIB may name it)' in message
    assert '/nowhere/libz.so' in message
    message = fail(model, '--input', tmp_path / 'x.npz', CHAINERX_ZLIB='libm.so.6')
    assert 'is compressed, but libm.so.6 is not zlib' in message
    np.savez(tmp_path / 'x.npz', x=np.ones(3))
    run(model, '--input', tmp_path / 'x.npz', CHAINERX_ZLIB='/nowhere/libz.so')


@pytest.mark.parametrize('shape', [(), (3,), (0, 2), (2, 3, 4)])
def test_safetensors(tmp_path, shape):
    """Files of the package safetensors, and files for it, as bytes: its NumPy has no bfloat16."""
    safetensors = pytest.importorskip('safetensors.numpy')
    arrays = {k: x for k, x in arrays_of(shape).items() if x.dtype != 'D'}
    arrays['"ü\\\n\x01/€😀'] = draw(np.dtype('d'), shape)
    safetensors.save_file(arrays, tmp_path / 'x.safetensors', {'license': 'ü\n"\\'})
    passed(tmp_path, tmp_path / 'x.safetensors', arrays)
    out = tmp_path / 'y.safetensors'
    run(tmp_path / 'model.onnx', '--input', tmp_path / 'x.safetensors', '--output', out)
    found = dict(safetensors.deserialize(out.read_bytes()))
    assert found.keys() == {f'{k}_out' for k in arrays}
    names = {'bool': 'BOOL', 'bfloat16': 'BF16', 'complex64': 'C64'}
    for k, x in arrays.items():
        y = found[f'{k}_out']
        short = names.get(x.dtype.name, f'{x.dtype.kind.upper()}{8 * x.dtype.itemsize}')
        assert (y['dtype'], tuple(y['shape'])) == (short, shape)
        assert bytes(y['data']) == x.tobytes()


def test_complex_numbers_in_safetensors(tmp_path):
    x = draw(np.dtype('F'), (3, 2))
    header = {'x': {'data_offsets': [0, 48], 'dtype': 'C64', 'shape': [3, 2]}}
    write_safetensors(tmp_path / 'x', header, x.tobytes())
    passed(tmp_path, tmp_path / 'x', {'x': x})
    run(tmp_path / 'model.onnx', '--input', tmp_path / 'x', '--output', tmp_path / 'y.safetensors')
    assert (tmp_path / 'y.safetensors').read_bytes().endswith(x.tobytes())
    np.save(tmp_path / 'd.npy', x.astype('D'))
    model = identity(tmp_path / 'model.onnx', {'x': np.dtype('D')})
    path = tmp_path / 'z.safetensors'
    message = fail(model, '--input', tmp_path / 'd.npy', '--output', path)
    assert 'array "x_out" has dtype complex128, which safetensors lacks' in message
    assert not path.exists()


def write_safetensors(path, header, data):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack('<Q', len(text)) + text + data)


def entry(dtype='F32', shape=(2,), offsets=(0, 8), **more):
    return {'dtype': dtype, 'shape': list(shape), 'data_offsets': list(offsets), **more}


DEEP = b'{"x":' + b'[' * 100_000
SAFETENSORS = [
    (entry('F8_E4M3'), 8, 'array "x" has dtype F8_E4M3, which no array has'),
    (entry(shape=[3]), 8, 'has 8 bytes of data, but float32 of shape (3,) needs 12'),
    (entry(shape=[2**62, 4]), 8, 'has the impossible shape (4611686018427387904, 4)'),
    (entry(shape=[2**63]), 8, 'has the impossible shape'),
    (entry(shape=[1] * 11), 8, 'has 11 dimensions, expected at most 10'),
    (entry(shape=[-2]), 8, 'expected a whole number of 64 bits'),
    (entry(shape=[2.0]), 8, 'expected a whole number of 64 bits'),
    (entry(shape=[2**64]), 8, 'expected a whole number of 64 bits'),
    (entry(offsets=[8, 0]), 8, 'data_offsets must be a beginning and an end behind it'),
    (entry(offsets=[0]), 8, 'data_offsets must be a beginning and an end behind it'),
    (entry(offsets=[4, 12]), 12, 'begins at byte 4 of the data, but the ones before end at byte 0'),
    (entry(offsets=[0, 2**63]), 8, 'ends at byte 9223372036854775808 of the data, which has 8'),
    (entry(), 12, 'has 12 bytes of data, but its arrays end at byte 8'),
    (entry(), 7, 'ends at byte 8 of the data, which has 7'),
    (entry(more=1), 8, 'has an unknown or second entry "more"'),
    ({'dtype': 'F32', 'shape': [2]}, 8, 'lacks one of dtype, shape and data_offsets'),
    ([], 8, 'expected {'),
]
HEADERS = [
    (b'', 'expected {'),
    (b'{', 'expected "'),
    (b'{"x', 'a string has no end'),
    (b'{"x\n"', 'a control character'),
    (b'{"\\q"', 'unknown escape'),
    (b'{"\\ud800"', 'half of a character'),
    (b'{"\\ud800\\u0041"', 'half of a character'),
    (b'{"\\udc00"', 'half of a character'),
    (b'{"\\u12g4"', 'four hexadecimal digits'),
    (b'{"\\u+123"', 'four hexadecimal digits'),
    (b'{"\\u12', 'four hexadecimal digits'),
    (b'{} x', 'expected nothing more'),
    (b'{"__metadata__":{},"__metadata__":{}}', 'a second __metadata__'),
    (b'{"__metadata__":{"a":1}}', 'expected "'),
    (b'{"x":' + json.dumps(entry(offsets=[0, 8])).encode() + b','
     b'"x":' + json.dumps(entry(offsets=[8, 16])).encode() + b'}', 'array "x" is there twice'),
    (DEEP, 'expected {'),
]  # fmt: skip


@pytest.fixture
def model(tmp_path):
    return identity(tmp_path / 'model.onnx', {'x': np.dtype('f')})


@pytest.mark.parametrize(('value', 'size', 'message'), SAFETENSORS)
def test_bad_safetensors(tmp_path, model, value, size, message):
    path = tmp_path / 'x.safetensors'
    write_safetensors(path, {'x': value}, bytes(size))
    error = fail(model, '--input', path)
    assert error.startswith(f'chainerx-run: io: "{path}": ') or 'its arrays end' in error
    assert message in error


@pytest.mark.parametrize(('header', 'message'), HEADERS)
def test_bad_headers_of_safetensors(tmp_path, model, header, message):
    path = tmp_path / 'x.safetensors'
    write_safetensors(path, header, bytes(16))
    error = fail(model, '--input', path)
    assert error.startswith(f'chainerx-run: io: "{path}": ')
    assert message in error


def test_overlaps_in_safetensors(tmp_path, model):
    path = tmp_path / 'x.safetensors'
    write_safetensors(path, {'x': entry(), 'y': entry(offsets=[4, 12])}, bytes(12))
    message = 'array "y" begins at byte 4 of the data, but another one ends at byte 8'
    assert message in fail(model, '--input', path)


@pytest.mark.parametrize('data', [b'', b'abc', b'\xff' * 8 + b'{}', struct.pack('<Q', 100) + b'{}'])
def test_no_file_of_arrays(tmp_path, model, data):
    (tmp_path / 'x').write_bytes(data)
    assert 'x" is no .npy, .npz or .safetensors' in fail(model, '--input', tmp_path / 'x')


def npy(header, data=bytes(8), version=1):
    text = header.encode()
    length = struct.pack('<H' if version == 1 else '<I', len(text))
    return b'\x93NUMPY' + bytes([version, 0]) + length + text + data


def dictionary(descr="'<f4'", order='False', shape='(2,)', more=''):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, {more}}}\n"


NPY = [
    (b'\x93NUMPY', 'has 6 bytes, which is no .npy'),
    (b'\x93NUMPY\x04\x00\x00\x00', 'has version 4.0 of NumPy'),
    (b'\x93NUMPY\x01\x01\x00\x00', 'has version 1.1 of NumPy'),
    (b'\x93NUMPY\x02\x00\xff\xff\xff\xff', 'its header is said to have 4294967295 bytes of 0'),
    (b'\x93NUMPY\x01\x00\x09\x00', 'its header is said to have 9 bytes of 0'),
    (b'\x93NUMPY\x01\x00\x09', 'ends too early: it has 1 more bytes, expected 2'),
    (npy(''), 'expected {'),
    (npy('{' * 1000), 'expected a string'),
    (npy(dictionary(descr="'|O'")), 'has Python objects, which are never unpickled'),
    (npy(dictionary(descr="[('a', '<f4')]")), 'descr is a list of fields'),
    (npy(dictionary(descr="'<U4'")), "has dtype '<U4', which no array has"),
    (npy(dictionary(descr="'<f16'")), "has dtype '<f16', which no array has"),
    (npy(dictionary(descr="'f4'")), "has dtype 'f4', which no array has"),
    (npy(dictionary(descr="''")), "has dtype '', which no array has"),
    (npy(dictionary(descr="'\0f4'")), 'has dtype'),
    (npy(dictionary(descr='1')), 'expected a string'),
    (npy(dictionary(descr="'<f4")), 'a'),
    (npy(dictionary(order='0')), 'fortran_order is neither True nor False'),
    (npy(dictionary(shape='2')), 'expected ('),
    (npy(dictionary(shape='(2')), 'shape has'),
    (npy(dictionary(shape='(-2,)')), 'has the impossible shape (-2,)'),
    (npy(dictionary(shape='(9223372036854775807, 2)')), 'has the impossible shape'),
    (npy(dictionary(shape='(9223372036854775808,)')), 'something else than numbers of 64 bits'),
    (npy(dictionary(shape='(3,)')), 'has 8 bytes of data, but float32 of shape (3,) needs 12'),
    (npy(dictionary(shape='(1,)')), 'has 8 bytes of data, but float32 of shape (1,) needs 4'),
    (npy(dictionary(shape='(' + '1,' * 11 + ')')), 'has 11 dimensions, expected at most 10'),
    (npy(dictionary(more="'shape': (2,)")), "the entry 'shape' is unknown, or is there twice"),
    (npy(dictionary(more="'x': 1")), "the entry 'x' is unknown, or is there twice"),
    (npy(dictionary() + 'x'), 'something stands behind the dict'),
    (npy(dictionary() + '\0x'), 'something stands behind the dict'),
    (npy("{'descr': '<f4'}"), 'there is no fortran_order'),
    (npy("{'descr': '<f4' 'shape': ()}"), 'an entry has no end'),
]


@pytest.mark.parametrize(('data', 'message'), NPY)
def test_bad_npy(tmp_path, model, data, message):
    path = tmp_path / 'x.npy'
    path.write_bytes(data)
    error = fail(model, '--input', path)
    assert error.startswith(f'chainerx-run: io: "{path}"')
    assert message in error


def test_long_headers(tmp_path, model):
    path = tmp_path / 'x.npy'
    path.write_bytes(npy(dictionary() + ' ' * 70_000, version=2))
    assert 'at most 65535 are allowed' in fail(model, '--input', path)


def zipped(compression=zipfile.ZIP_STORED, names=('x.npy',), x=None):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, 'w', compression) as file:
        for name in names:
            with file.open(name, 'w') as part:
                np.save(part, np.arange(100, dtype='f') if x is None else x)
    return bytearray(stream.getvalue())


def changed(data, signature, offset, form, value):
    data = bytearray(data)
    struct.pack_into(form, data, data.index(signature) + offset, value)
    return bytes(data)


DEFLATED = zipfile.ZIP_DEFLATED
CENTRAL, LOCAL, END = b'PK\1\2', b'PK\3\4', b'PK\5\6'
NPZ = [
    (zipped()[:-1], 'is cut off, or no .npz'),
    (zipped()[:100], 'is cut off, or no .npz'),
    (changed(zipped(), END, 16, '<I', 2**31), 'its directory is said to have 1 entries'),
    (changed(zipped(), END, 12, '<I', 2**31), 'its directory is said to have 1 entries'),
    (changed(zipped(), END, 10, '<H', 60_000), 'its directory is said to have 60000 entries'),
    (changed(zipped(), END, 16, '<I', 2**32 - 1), 'on, but ends at byte'),
    (changed(zipped(), END, 4, '<H', 1), 'is one of several files'),
    (changed(zipped(), CENTRAL, 8, '<H', 1), 'entry "x.npy" is encrypted'),
    (changed(zipped(), CENTRAL, 10, '<H', 14), 'is compressed by method 14, expected 0'),
    (changed(zipped(), CENTRAL, 28, '<H', 60_000), 'its directory is broken'),
    (changed(zipped(), CENTRAL, 24, '<I', 2**31), 'is said to have 2147483648 bytes, but'),
    (changed(zipped(), CENTRAL, 24, '<I', 2**32 - 1), 'its sizes of 64 bits are missing'),
    (changed(zipped(DEFLATED), CENTRAL, 24, '<I', 2**31), 'is said to have 2147483648 bytes, but'),
    (changed(zipped(DEFLATED), CENTRAL, 24, '<I', 527), 'has 399 bytes of data, but float32'),
    (changed(zipped(DEFLATED), CENTRAL, 24, '<I', 529), 'has 401 bytes of data, but float32'),
    (changed(zipped(DEFLATED), CENTRAL, 20, '<I', 50), 'its compressed data'),
    (changed(zipped(DEFLATED), CENTRAL, 16, '<I', 7), 'is damaged: its checksum is'),
    (changed(zipped(), CENTRAL, 42, '<I', 2**31), 'is said to be at byte 2147483648, but'),
    (changed(zipped(), CENTRAL, 42, '<I', 4), 'is not at byte 4, where the directory says'),
    (changed(zipped(), LOCAL, 26, '<H', 60_000), 'is not at byte 0, where the directory says'),
    (changed(zipped(), LOCAL, 28, '<H', 30), 'has 498 bytes, expected 528'),
    (changed(zipped(), b'NUMPY', 200, '<I', 1), 'is damaged: its checksum is'),
    (zipped(names=('x', 'x.npy')), 'array "x" is there twice'),
    (zipped().replace(b'x.npy', b'y.npy', 1), 'is not at byte 0'),
]  # fmt: skip


@pytest.mark.parametrize(('data', 'message'), NPZ)
def test_bad_npz(tmp_path, model, data, message):
    path = tmp_path / 'x.npz'
    path.write_bytes(data)
    error = fail(model, '--input', path)
    assert error.startswith(f'chainerx-run: io: "{path}"')
    assert message in error


def test_overlaps_in_npz(tmp_path, model):
    """An entry within another one, as in archives that unpack to more than a disk has."""
    inner = zipped(names=('y.npy',))
    outer = zipped(names=('x.npy', 'y.npy'), x=np.frombuffer(inner, 'u1'))
    central, last = inner.index(CENTRAL), outer.rindex(CENTRAL)
    outer[last + 16 : last + 28] = inner[central + 16 : central + 28]  # checksum, sizes
    struct.pack_into('<I', outer, last + 42, outer.index(LOCAL, 1))
    (tmp_path / 'x.npz').write_bytes(outer)
    error = fail(model, '--input', tmp_path / 'x.npz')
    assert 'entry "y.npy" overlaps entry "x.npy"' in error


def test_objects_in_npz(tmp_path, model):
    np.savez(tmp_path / 'x.npz', x=np.ones(2, 'f'), none=np.array(None))
    error = fail(model, '--input', tmp_path / 'x.npz')
    assert 'entry "none.npy" has Python objects, which are never unpickled' in error


@pytest.mark.parametrize('end', ['.npy', '.npz', '.safetensors'])
def test_writing_replaces(tmp_path, model, end):
    np.save(tmp_path / 'x.npy', np.ones(2, 'f'))
    old = tmp_path / f'old{end}'
    old.write_text('old')
    old.chmod(0o640)
    (tmp_path / f'link{end}').symlink_to(old)
    run(model, '--input', tmp_path / 'x.npy', '--output', tmp_path / f'link{end}')
    assert (tmp_path / f'link{end}').is_symlink()
    assert old.read_bytes() != b'old'
    assert old.stat().st_mode & 0o777 == 0o640
    assert not list(tmp_path.glob('.*'))
    error = fail(model, '--input', tmp_path / 'x.npy', '--output', tmp_path / 'no' / f'y{end}')
    assert "can't be written: No such file or directory" in error


def test_no_regular_files(tmp_path, model):
    for path in (tmp_path, '/dev/null'):
        assert f'io: "{path}" is no regular file' in fail(model, '--input', path)
