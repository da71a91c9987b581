"""NVIDIA's libraries that some kernels need, in front of stand-ins on the driver for tests."""

import pytest

LIBRARIES = {
    'cufft': ('libcufft.so.12', 'nvidia-cufft', 'chainerx.fft.fft(x)'),
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
    for line in ('cuFFT: ',):
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
