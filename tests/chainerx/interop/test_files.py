"""Arrays in NumPy's files, and in text."""

import io

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy
from cases._table import ALL, np_dtype


@pytest.mark.parametrize('dtype', ALL)
@pytest.mark.parametrize('shape', [(), (0, 2), (3,), (2, 3)])
def test_npy(dtype, shape, device):
    x = chx.array(np.arange(np.prod(shape, dtype=int)).reshape(shape), device=device).astype(dtype)
    file = io.BytesIO()
    chx.save(file, x)
    if dtype != 'bfloat16':
        file.seek(0)
        np.testing.assert_array_equal(np.load(file), to_numpy(x), strict=True)
    file.seek(0)
    y = chx.load(file, device=device)
    assert y.dtype == np_dtype(dtype)
    assert y.shape == shape
    assert y.tolist() == x.tolist()
    assert y.device.name == x.device.name


@pytest.mark.parametrize('save', [chx.savez, chx.savez_compressed])
def test_npz(save, tmp_path, device):
    x = chx.array([[1.5, 2.5]], device=device)
    save(tmp_path / 'a', x.T, x.astype('bfloat16'), last=x.astype('int8'))
    found = chx.load(tmp_path / 'a.npz')
    assert list(found) == ['last', 'arr_0', 'arr_1']
    assert found['arr_0'].tolist() == [[1.5], [2.5]]
    assert found['arr_1'].dtype == chx.bfloat16
    assert np.load(tmp_path / 'a.npz')['last'].tolist() == [[1, 2]]
    with pytest.raises(ValueError, match='arr_0'):
        save(tmp_path / 'a', x, arr_0=x)
    with pytest.raises(TypeError, match='arr_1 must be'):
        save(tmp_path / 'a', x, ['a'])


def test_files_of_others(tmp_path):
    np.save(tmp_path / 'a.npy', np.array([{}]))
    with pytest.raises(ValueError, match='pickle'):
        chx.load(tmp_path / 'a.npy')
    np.save(tmp_path / 'a.npy', np.array(['x']))
    with pytest.raises(chx.DtypeError):
        chx.load(tmp_path / 'a.npy')
    np.save(tmp_path / 'a.npy', np.arange(4, dtype='>i4').reshape(2, 2).T)
    assert chx.load(tmp_path / 'a.npy').tolist() == [[0, 2], [1, 3]]
    with pytest.raises(OSError, match='none'):
        chx.load(tmp_path / 'none.npy')
    with pytest.raises(TypeError, match='arr must be'):
        chx.save(tmp_path / 'a.npy', np.zeros(1))


@pytest.mark.parametrize('dtype', ['int32', 'float64', 'bfloat16', 'complex64'])
def test_text(dtype, tmp_path):
    x = chx.array([[1, 2], [3, 4]], dtype)
    chx.savetxt(tmp_path / 'a.txt', x, delimiter=',')
    expected = np.loadtxt(tmp_path / 'a.txt', dtype=complex, delimiter=',')
    assert expected.tolist() == x.tolist()
    if dtype != 'complex64':
        y = chx.loadtxt(tmp_path / 'a.txt', delimiter=',')
        assert y.tolist() == x.tolist()
    with pytest.raises(ValueError, match='D array'):
        chx.savetxt(tmp_path / 'a.txt', x[None])
    with pytest.raises(TypeError, match='X must be'):
        chx.savetxt(tmp_path / 'a.txt', ['a'])


def test_text_with_gaps():
    y = chx.genfromtxt(io.StringIO('1,2,\n4,,6'), delimiter=',', device='native:0')
    np.testing.assert_array_equal(to_numpy(y), [[1, 2, np.nan], [4, np.nan, 6]])
    assert chx.genfromtxt(['1 x'], 'int8', filling_values=7).tolist() == [1, 7]
    with pytest.raises(ValueError, match='columns'):
        chx.genfromtxt(['1 2', '1'])


def test_finite():
    assert chx.asarray_chkfinite([1, 2], 'float32').dtype == 'float32'
    x = chx.array([1.0])
    assert chx.asarray_chkfinite(x) is x
    for value in (np.nan, np.inf):
        with pytest.raises(ValueError, match='infinities or NaN'):
            chx.asarray_chkfinite([1.0, value])
