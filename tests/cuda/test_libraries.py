"""NVIDIA's libraries that some kernels need, in front of stand-ins on the driver for tests."""

import pytest

LIBRARIES = {
    'cufft': ('libcufft.so.12', 'nvidia-cufft', 'chainerx.fft.fft(x)'),
    'cusolver': ('libcusolver.so.12', 'nvidia-cusolver', 'chainerx.linalg.svd(x)'),
}


@pytest.fixture(scope='module')
def driver_alone(driver, tmp_path_factory):
    """The driver for tests without other libraries."""
    folder = tmp_path_factory.mktemp('alone')
    for name in ('libcuda.so.1', 'libnvrtc.so.13', 'plain', 'checked'):
        (folder / name).symlink_to(driver / name)
    return folder


@pytest.mark.parametrize('name', LIBRARIES)
def test_missing_library_names_its_wheel(run, driver_alone, name):
    soname, wheel, call = LIBRARIES[name]
    program = (
        'import chainerx\n'
        "x = chainerx.ones((4, 4), device='cuda:0')\n"
        'try:\n'
        f'    {call}\n'
        'except chainerx.BackendError as error:\n'
        '    print(error)\n'
        f'print(chainerx.cuda.describe()[{name!r}])\n'
        'print((x + x).sum())'
    )
    text = run(program, environment={'CHAINERX_CUDA_TEST_DRIVER': driver_alone})
    error, description = text.split('{', 1)
    for words in (f'`pip install {wheel}`', f'{driver_alone}/{soname}: no such file'):
        assert words in error
        assert words in description
    assert 'array(32.' in description


def test_config_names_libraries(run):
    text = run('import chainerx; chainerx.show_config()')
    for line in ('cuBLASLt: ', 'cuDNN: ', 'cuFFT: ', 'cuSOLVER: '):
        assert line in text


def test_more_plans_than_are_kept(run):
    run(
        'import numpy as np, chainerx\n'
        "stream = chainerx.cuda.Stream('cuda:0')\n"
        'for _ in range(2):\n'
        '    for n in range(1, 150):\n'
        '        x = np.arange(n) % 5.0\n'
        '        with stream:\n'
        "            y = chainerx.fft.rfft(chainerx.array(x, device='cuda:0'))\n"
        '        stream.synchronize()\n'
        '        np.testing.assert_allclose(chainerx.to_numpy(y), np.fft.rfft(x), atol=1e-11)'
    )


@pytest.mark.parametrize('n', [5, 70])  # by kernels of our own, by cuSOLVER
def test_matrices_without_factors_are_errors_as_of_native(run, n):
    run(
        'import numpy as np, chainerx\n'
        'def error_of(f, *arrays, device):\n'
        '    try:\n'
        '        f(*[chainerx.array(x, device=device) for x in arrays])\n'
        '        chainerx.cuda.synchronize()\n'
        '    except chainerx.LinAlgError as error:\n'
        '        return str(error)\n'
        f'a = np.random.default_rng(0).normal(size=(3, {n}, {n}))\n'
        'positive = a @ a.swapaxes(1, 2)\n'
        'positive[1, 3, 3] = -1\n'
        'singular = a.copy()\n'
        'singular[2, :, 2] = 0\n'
        'infinite = a.copy()\n'
        'infinite[1, 2, 2] = np.inf\n'
        'linalg = chainerx.linalg\n'
        'for f, *arrays in (\n'
        '    (linalg.cholesky, positive),\n'
        '    (linalg.solve, singular, a),\n'
        '    (linalg.inv, singular),\n'
        '    (linalg.svd, infinite[:, :5, :5]),\n'
        '    (linalg.eigh, infinite[:, :5, :5]),\n'
        '    (linalg.eigvals, infinite[:, :5, :5]),\n'
        '):\n'
        "    errors = [error_of(f, *arrays, device=name) for name in ('native:0', 'cuda:0')]\n"
        '    assert errors[0] and errors[0] == errors[1], errors\n'
        "x = chainerx.ones(3, device='cuda:0')\n"
        'assert (x + x).sum().item() == 6'
    )


def test_triangles_that_are_not_read_may_have_anything(run):
    run(
        'import numpy as np, chainerx\n'
        'a = np.random.default_rng(0).normal(size=(6, 6)) + 1j\n'
        'a = a + a.conj().T\n'
        "for uplo in 'LU':\n"
        "    b = np.where(np.tri(6) == (uplo == 'L'), a, np.nan)\n"
        '    b[range(6), range(6)] = np.diag(a) + 5j\n'
        "    w = chainerx.linalg.eigvalsh(chainerx.array(b, device='cuda:0'), UPLO=uplo)\n"
        '    np.testing.assert_allclose(chainerx.to_numpy(w), np.linalg.eigvalsh(a))'
    )


def test_large_products_are_those_of_the_library(run, driver_alone):
    program = (
        'import numpy as np, chainerx\n'
        'from chainerx import testing\n'
        'x = np.random.default_rng(0).normal(size=(128, 128)).astype("float32")\n'
        "a = chainerx.array(x, device='cuda:0')\n"
        'def error():\n'
        '    return abs(chainerx.to_numpy(a @ a) - x.astype("float64") @ x).max()\n'
        'assert error() < 1e-4\n'
        'assert chainerx.cuda.allow_tf32(True) is False\n'
        'print(error() > 1e-3)\n'
        'assert chainerx.cuda.allow_tf32(False) is True\n'
        "with testing.force_algorithm('cuda_product', 'tiles'):\n"
        '    assert error() < 1e-4\n'
        'try:\n'
        "    with testing.force_algorithm('cuda_product', 'cublaslt'):\n"
        '        assert error() < 1e-4\n'
        '        a[:, ::-1] @ a\n'  # not as the library reads matrices
        'except chainerx.ChainerxError as error:\n'
        "    print('cuBLASLt' in str(error))"
    )
    assert run(program).split() == ['True', 'True']
    alone = run(program, environment={'CHAINERX_CUDA_TEST_DRIVER': driver_alone})
    assert alone.split() == ['False', 'True']
