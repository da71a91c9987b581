"""Damaged and hostile files cause a clean error, bounded memory, and no change of the target."""

import io
import os
import random
import struct
import subprocess
import sys
import tracemalloc
import zipfile
import zlib

import chainer
import numpy as np
import pytest
from chainer import links as L
from chainer import serializers

ERRORS = (ValueError, KeyError, TypeError, OSError)


class Net(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.a = L.Linear(2, 2)
            self.lazy = L.Linear(None, 2)
        self.add_persistent('n', 1)
        self.add_persistent('none', None)
        self.add_persistent('s', 'text')


def state(net):
    values = {k: None if p.array is None else p.array.tobytes() for k, p in net.namedparams()}
    return values | {'n': net.n, 'none': net.none, 's': net.s}


def saved(format, **options):
    stream = io.BytesIO()
    net = Net()
    net.lazy.W.initialize((2, 3))
    getattr(serializers, f'save_{format}')(stream, net, **options)
    return stream.getvalue()


def check(load, content):
    """Tries to load; returns whether it succeeded."""
    net = Net()
    before = state(net)
    try:
        load(io.BytesIO(content), net)
    except ERRORS as error:
        failure = error
    else:
        return True
    assert str(failure)
    assert state(net) == before, failure
    return False


def mutations(content, n, seed):
    rng = random.Random(seed)
    for _ in range(n):
        data = bytearray(content)
        for _ in range(rng.choice((1, 1, 2, 5))):
            i = rng.randrange(len(data) or 1)
            kind = rng.randrange(5)
            if kind == 0:
                data[i : i + 1] = bytes([rng.randrange(256)])
            elif kind == 1:
                del data[i : i + rng.randrange(1, 9)]
            elif kind == 2:
                data[i:i] = rng.randbytes(rng.randrange(1, 9))
            elif kind == 3:
                data[i : i + 4] = rng.choice((b'\xff' * 4, b'\0' * 4, b'\x7f' + b'\xff' * 3))
            else:
                j = rng.randrange(len(data) or 1)
                data[i : i + 8] = data[j : j + 8]
        yield bytes(data)


@pytest.mark.parametrize('compression', [True, False])
def test_mutations_of_npz(compression):
    content = saved('npz', compression=compression)
    results = [check(serializers.load_npz, m) for m in mutations(content, 600, compression)]
    assert 0 < sum(results) < 600


def test_mutations_of_safetensors():
    content = saved('safetensors')
    results = [check(serializers.load_safetensors, m) for m in mutations(content, 1000, 1)]
    assert 0 < sum(results) < 1000


@pytest.mark.parametrize('format', ['npz', 'safetensors'])
def test_truncations(format):
    content = saved(format)
    load = getattr(serializers, f'load_{format}')
    assert check(load, content)
    for i in range(0, len(content), 7 if format == 'npz' else 1):
        assert not check(load, content[:i])


def test_mutations_of_members():
    # Inside an archive that is itself valid, so that no checksum detects them.
    with zipfile.ZipFile(io.BytesIO(saved('npz'))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    results = []
    for name, content in members.items():
        for mutated in mutations(content, 120, name):
            stream = io.BytesIO()
            with zipfile.ZipFile(stream, 'w') as archive:
                for other in members:
                    archive.writestr(other, mutated if other == name else members[other])
            results.append(check(serializers.load_npz, stream.getvalue()))
    assert 0 < sum(results) < len(results)


def damaged_hdf5(content):
    yield from mutations(content, 150, 3)
    for i in range(0, len(content), 97):
        yield content[:i]


HDF5_CODE = """
import pathlib, sys
sys.path.insert(0, sys.argv[1])
import test_hostile as t
from chainer import serializers
contents = list(t.damaged_hdf5(pathlib.Path(sys.argv[2]).read_bytes()))
for i in range(int(sys.argv[3]), len(contents)):
    print(i, flush=True)
    print(t.check(serializers.load_hdf5, contents[i]))
"""

# Reads everything that a loader may request, without chainer.
H5PY_CODE = """
import io, sys
import h5py
def visit(name, item):
    if isinstance(item, h5py.Dataset):
        item.dtype, item.shape, item[()]
try:
    with h5py.File(io.BytesIO(sys.stdin.buffer.read()), 'r') as file:
        file.visititems(visit)
except Exception:
    pass
"""


def test_mutations_of_hdf5(tmp_path):
    """Runs in subprocesses, as the HDF5 library itself crashes on some files; these don't count."""
    pytest.importorskip('h5py')
    file = tmp_path / 'saved.h5'
    file.write_bytes(saved('hdf5'))
    contents = list(damaged_hdf5(file.read_bytes()))
    path = os.pathsep.join([os.path.dirname(os.path.dirname(chainer.__file__)), *sys.path])
    env = {**os.environ, 'PYTHONPATH': path}
    results, excused, start = [], [], 0
    while start < len(contents):
        command = [sys.executable, '-c', HDF5_CODE, os.path.dirname(__file__), file, str(start)]
        done = subprocess.run(command, capture_output=True, text=True, env=env)
        words = done.stdout.split()
        results += words[1::2]
        if done.returncode == 0:
            break
        assert done.returncode < 0, done.stderr
        dead = int(words[-1 if len(words) % 2 else -2])
        alone = subprocess.run([sys.executable, '-c', H5PY_CODE], input=contents[dead], env=env)
        assert alone.returncode < 0, f'loading file {dead} dies of signal {-done.returncode}'
        excused.append(dead)
        start = dead + 1
    assert len(results) + len(excused) == len(contents)
    assert len(excused) < 5
    assert {*results} == {'True', 'False'}


# ---- archives that claim too much ----


def npy(shape, descr='<f4', data=b'', version=1, header=None):
    if header is None:
        header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    length = struct.pack('<H' if version == 1 else '<I', len(header))
    return b'\x93NUMPY' + bytes([version, 0]) + length + header + data


def archive(method=zipfile.ZIP_STORED, **members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, 'w', method) as file:
        for name, content in members.items():
            file.writestr(f'{name}.npy', content)
    return stream.getvalue()


class One:
    """Loads one value, of unknown size by default."""

    def __init__(self, value=None):
        self.x = value

    def serialize(self, serializer):
        self.x = serializer('x', self.x)


def peak_of_failure(content, target, match):
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=match):
            serializers.load_npz(io.BytesIO(content), target)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ('content', 'match'),
    [
        (npy((1 << 40,)), 'make 4398046511'),
        (npy((1 << 40, 1 << 40)), 'no array can have shape'),
        (npy((0, 1 << 62, 4)), 'no array can have shape'),
        (npy((1,) * 100), 'no array can have shape'),
        (npy((10**30,)), 'no array can have shape'),
        (npy('(-1,)'), 'its header is none'),
        (npy((2,), data=bytes(7)), 'make .* bytes, but it has'),
        (npy((2,), data=bytes(9)), 'make .* bytes, but it has'),
        (npy((), '<V2000000000'), 'none that is saved'),
        (npy((), '<U999999999999999'), r'unknown|none that|make'),
        (npy((2,), 'M8[ns]'), 'its header is none'),
        (npy((2,), '<Q9'), 'unknown'),
        (npy((2,), "f4'), ('b"), 'its header is none'),
        (npy((), version=2, header=b' ' * 20_000), 'claims 20000 bytes'),
        (npy((), version=9), 'no array in the format'),
        (b'\x93NUMPY\x02\x00\xff\xff\xff\xff', 'claims 4294967295 bytes'),
        (b'\x93NUMPY\x01\x00\xff\x00abc', 'ends within its header'),
        (b'', 'no array in the format'),
        (npy((), header=b'(' * 9000), 'its header is none'),
        (npy((), header=b'__import__("os").abort()'), 'its header is none'),
        (npy((2,), '?', data=b'\1\2'), 'neither 0 nor 1'),
    ],
)
def test_claims_of_members(content, match):
    peak = peak_of_failure(archive(x=content), One(), f"'x' of the file object cannot.*({match})")
    assert peak < 1 << 20


def bomb(n):
    return archive(zipfile.ZIP_DEFLATED, x=npy((n,), data=bytes(4 * n)))


def test_a_bomb_for_a_target_of_known_size():
    # 64 MB of zeros in 64 KB. Neither shape nor size may be allocated.
    content = bomb(1 << 24)
    assert len(content) < 1 << 17
    peak = peak_of_failure(content, One(np.zeros(3, 'f')), r'shape \(16777216,\), but the target')
    assert peak < 1 << 20


def test_a_bomb_for_a_target_of_unknown_size():
    content = bomb((1 << 24) + 1)
    peak = peak_of_failure(content, One(), 'would unpack to 67108868')
    assert peak < 1 << 20
    # An optimizer's state has the size of a parameter, and may well be all zero.
    net = chainer.Chain(x=chainer.Chain())
    with net.init_scope():
        net.w = chainer.Parameter(np.ones((1 << 24) + 1, 'f'))
    net.state = One()
    net.serialize = net.state.serialize
    serializers.load_npz(io.BytesIO(content), net)
    assert net.state.x.shape == ((1 << 24) + 1,)
    # An initialized parameter shows that the user wants this size.
    target = One(np.ones((1 << 24) + 1, 'f'))
    serializers.load_npz(io.BytesIO(content), target)
    assert not target.x.any()


def patched(content, **fields):
    """Changes the directory entry of an archive's single member."""
    data = bytearray(content)
    at = data.rindex(b'PK\x01\x02')
    places = {'flags': (8, 'H'), 'method': (10, 'H'), 'packed': (20, 'I'), 'size': (24, 'I')}
    for name, value in fields.items():
        offset, code = places[name]
        struct.pack_into(f'<{code}', data, at + offset, value)
        local = data.rindex(b'PK\x03\x04')
        struct.pack_into(f'<{code}', data, local + offset - 2, value)
    return bytes(data)


def test_a_directory_that_lies():
    data = npy((1 << 28,), data=bytes(100))
    size = len(data) - 100 + (1 << 30)
    plain = archive(x=data)
    for content, match in [
        (patched(plain, size=size), f'cannot unpack to {size}'),
        (patched(plain, size=size, packed=size), f'claims {size} bytes'),
        (patched(plain, size=size, packed=1 << 24, method=8), 'claims 16777216 bytes'),
        (patched(plain, flags=1), 'encrypted'),
        (patched(plain, method=12), 'compression method 12'),
        (patched(plain, method=99), 'method 99'),
        (plain.replace(b'PK\x01\x02', b'PK\x01\x03'), 'no npz file'),
    ]:
        assert peak_of_failure(content, One(), match) < 1 << 20, match


def test_a_wrong_checksum():
    data = npy((2,), data=struct.pack('<2f', 1, 2))
    content = archive(x=data).replace(struct.pack('<I', zlib.crc32(data)), b'abcd')
    target = One(np.zeros(2, 'f'))
    with pytest.raises(ValueError, match=r"'x' of the file object cannot be read: Bad CRC"):
        serializers.load_npz(io.BytesIO(content), target)
    assert not target.x.any()


def test_a_key_that_is_there_twice():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, 'w') as file:
        file.writestr('x.npy', npy((2,), data=bytes(8)))
        with pytest.warns(UserWarning, match='Duplicate'):
            file.writestr('x.npy', npy((2,), data=b'\1' * 8))
    with pytest.raises(ValueError, match="'x' is twice"):
        serializers.load_npz(stream, One())


@pytest.mark.parametrize('name', ['../escape', '/escape', 'a/../../escape', '..\\escape', 'C:x'])
def test_names_that_are_paths(tmp_path, name, monkeypatch):
    folder = tmp_path / 'in'
    folder.mkdir()
    monkeypatch.chdir(folder)
    content = archive(**{name: npy((2,), data=bytes(8)), 'x': npy((1,), data=bytes(4))})
    (folder / 'a.npz').write_bytes(content)
    serializers.load_npz('a.npz', One())
    assert [p.name for p in tmp_path.rglob('*')] == ['in', 'a.npz']


def test_an_archive_of_something_else():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, 'w') as file:
        file.writestr('model/data.pkl', b'\x80\x02.')
    stream.seek(0)
    with pytest.raises(KeyError, match="'x' is not in the file object"):
        serializers.load(stream, One())
