"""The classes of the HDF5 format, and file contents that are refused."""

import chainer
import numpy as np
import pytest
from chainer import links as L
from chainer import serializers
from chainer.serializers import hdf5

h5py = pytest.importorskip('h5py')


@pytest.fixture
def file(tmp_path):
    with h5py.File(tmp_path / 'a.h5', 'w') as group:
        yield group


def test_available():
    assert hdf5._available is True


def test_without_h5py(monkeypatch, tmp_path):
    monkeypatch.setattr(hdf5, '_available', False)
    for call in (
        lambda: serializers.save_hdf5(tmp_path / 'x', L.Linear(1, 1)),
        lambda: serializers.load_hdf5(tmp_path / 'x', L.Linear(1, 1)),
        lambda: serializers.HDF5Serializer(None),
        lambda: serializers.HDF5Deserializer(None),
    ):
        with pytest.raises(RuntimeError, match='h5py is not installed'):
            call()
    assert not list(tmp_path.iterdir())


def test_layout(file):
    saver = serializers.HDF5Serializer(file, compression=7)
    assert isinstance(saver, chainer.Serializer)
    assert saver.group is file
    child = saver['a']['/b/']
    for key, value in {
        'none': None,
        'scalar': 2,
        'one': np.ones(1),
        'empty': np.ones(0),
        'many': np.arange(3),
        '/abs': 1,
    }.items():
        assert child(key, value) is value
    group = file['a/b']
    assert set(group) == {'none', 'scalar', 'one', 'empty', 'many', 'abs'}
    assert group['none'].shape is None
    assert group['none'].dtype == 'f'
    assert [group[k].compression for k in ('scalar', 'one', 'empty', 'many')] == [
        None,
        None,
        None,
        'gzip',
    ]
    assert group['many'].compression_opts == 7
    loader = serializers.HDF5Deserializer(file)['a']['b']
    assert isinstance(loader, chainer.Deserializer)
    assert loader('none', 3) is None
    assert loader('scalar', 0) == 2
    assert loader('many', None).tolist() == [0, 1, 2]


def test_strict(file):
    with pytest.raises(KeyError, match="'a/x' is not in"):
        serializers.HDF5Deserializer(file)['a']('x', 3)
    loose = serializers.HDF5Deserializer(file, strict=False)
    assert loose['a']['b']('x', 3) == 3
    assert loose('x', None) is None
    assert serializers.HDF5Deserializer(None, strict=False)('x', 3) == 3


def test_groups(file):
    saver = serializers.HDF5Serializer(file)
    child = saver['a']
    assert [child[key].group.name for key in ('b', '/c/', 'd/e', '/', '')] == [
        '/a/b', '/a/c', '/a/d/e', '/a', '/a',
    ]  # fmt: skip
    child('x', 1)
    file['soft'] = h5py.SoftLink('/a')
    for loader in (
        serializers.HDF5Deserializer(file),
        serializers.HDF5Deserializer(file, strict=False),
    ):
        assert loader.group is file
        assert [loader['a'][key].group.name for key in ('b', '/c/', 'd/e')] == [
            '/a/b', '/a/c', '/a/d/e',
        ]  # fmt: skip
        assert loader['a'].group.name == '/a'
        for key in ('none', 'a/none', 'a/x', 'soft', '..'):
            assert loader[key].group is None
    assert serializers.HDF5Deserializer(file, path='a/').group.name == '/a'
    assert serializers.HDF5Deserializer(None).group is None


def test_arrays_of_strings_are_refused(file):
    with pytest.raises(TypeError, match="'x' cannot be saved"):
        serializers.HDF5Serializer(file)('x', np.array(['a', 'b']))


def secret(file, tmp_path):
    (tmp_path / 'secret').write_bytes(np.arange(3.0).tobytes())
    return str(tmp_path / 'secret')


def test_no_other_file_is_read(file, tmp_path):
    path = secret(file, tmp_path)
    file.create_dataset('external', (3,), 'f8', external=[(path, 0, 24)])
    with h5py.File(tmp_path / 'other.h5', 'w') as other:
        other['x'] = np.arange(3.0)
    file['link'] = h5py.ExternalLink(str(tmp_path / 'other.h5'), 'x')
    file['soft'] = h5py.SoftLink('/link')
    layout = h5py.VirtualLayout((3,), 'f8')
    layout[:] = h5py.VirtualSource(str(tmp_path / 'other.h5'), 'x', (3,))
    file.create_virtual_dataset('virtual', layout)
    loader = serializers.HDF5Deserializer(file)
    for key in ('external', 'virtual'):
        with pytest.raises(ValueError, match='in other files'):
            loader(key, np.zeros(3))
    for key in ('link', 'soft', '../x', 'link/../x'):
        with pytest.raises(KeyError, match='is not in'):
            loader(key, np.zeros(3))


def test_claims_of_huge_shapes(file):
    file.create_dataset('huge', (1 << 40,), 'f8', chunks=(1 << 10,))
    file.create_dataset('chunk', (3,), 'f8', chunks=(1 << 25,), maxshape=(None,))
    loader = serializers.HDF5Deserializer(file)
    with pytest.raises(ValueError, match='would unpack'):
        loader('huge', None)
    with pytest.raises(ValueError, match=r'has shape .* but the target'):
        loader('huge', np.zeros(3))
    with pytest.raises(ValueError, match='would unpack'):
        loader('chunk', np.zeros(3))


@pytest.mark.parametrize('dtype', [[('a', 'f4'), ('b', 'i4')], h5py.ref_dtype, 'V7'])
def test_dtypes_that_are_refused(file, dtype):
    file.create_dataset('x', (2,), dtype)
    with pytest.raises(ValueError, match='none that is saved'):
        serializers.HDF5Deserializer(file)('x', None)


def test_a_group_is_no_value(file):
    file.create_group('x')
    with pytest.raises(KeyError, match="'x' is not in"):
        serializers.HDF5Deserializer(file)('x', 3)


@pytest.mark.parametrize('content', [b'', b'\x89HDF\r\n\x1a\n', b'\x89HDF\r\n\x1a\n' + bytes(500)])
def test_files_that_are_none(tmp_path, content):
    (tmp_path / 'x').write_bytes(content)
    with pytest.raises(OSError, match=r'x. is no HDF5 file'):
        serializers.load_hdf5(tmp_path / 'x', L.Linear(1, 1))


def test_a_full_disk_keeps_the_old_file(tmp_path):
    """A full disk keeps the old file; HDF5's own writer would end the process."""
    resource = pytest.importorskip('resource')
    path = tmp_path / 'x'
    serializers.save_hdf5(path, L.Linear(1, 1))
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, limits[1]))
    try:
        with pytest.raises(OSError, match='File too large'):
            serializers.save_hdf5(path, L.Linear(100, 100))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ['x']
