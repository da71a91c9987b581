"""chainerx.fft: lengths and layouts with separate code paths, threads, and parts of numbers."""

import threading

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy

# FFT plans of each kind of the library, and rows that are split, or not, if their length is prime.
LENGTHS = [1, 2, 8, 11, 13, 121, 255, 256, 257, 1000, 1009, 4096, 4098, 8191, 3 * 5 * 7 * 64, 65536]


def draw(*shape):
    rng = np.random.default_rng(shape)
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def check(found, expected, dtype):
    found = to_numpy(found)
    assert found.shape == expected.shape
    tol = 4e-15 if dtype in ('float64', 'complex128') else 2e-6
    assert np.linalg.norm(found - expected) <= tol * np.linalg.norm(expected)


@pytest.mark.parametrize('dtype', ['complex64', 'complex128'])
@pytest.mark.parametrize('n', LENGTHS)
def test_lengths(n, dtype):
    for shape, axis in (((n,), 0), ((3, n), 1), ((n, 19), 0)):
        if n * len(shape) > 30000 and shape != (n,):
            continue
        x = draw(*shape).astype(dtype)
        wide = x.astype('complex128')
        a = chx.array(x)
        check(chx.fft.fft(a, axis=axis), np.fft.fft(wide, axis=axis), dtype)
        check(chx.fft.ifft(a, axis=axis), np.fft.ifft(wide, axis=axis), dtype)
        check(chx.fft.hfft(a, n, axis), np.fft.hfft(wide, n, axis), dtype)
        real = chx.real(a)  # strided
        check(chx.fft.rfft(real, axis=axis), np.fft.rfft(wide.real, axis=axis), dtype)


@pytest.mark.parametrize('n', [12, 37, 200, 512, 1000, 2100])
@pytest.mark.parametrize('rows', [1, 2, 3, 7, 8, 9, 15, 16, 17, 33, 300])
def test_rows(n, rows):
    """Rows that fill lanes and that do not, interleaved and contiguous."""
    for dtype in ('complex64', 'complex128'):
        x = draw(rows, n).astype(dtype)
        expected = np.fft.fft(x.astype('complex128'))
        check(chx.fft.fft(chx.array(x)), expected, dtype)
        check(chx.fft.fft(chx.array(x.T), axis=0), expected.T, dtype)
        check(chx.fft.fft(chx.array(x)[::-1, ::-1]), np.fft.fft(x[::-1, ::-1]), dtype)
        check(chx.fft.fft(chx.array(x).T, axis=0), expected.T, dtype)
        half = np.fft.rfft(x.real.astype('float64'))
        check(chx.fft.rfft(chx.array(x.real)), half, dtype)
        check(chx.fft.rfft(chx.array(x.real.T), axis=0), half.T, dtype)
        back = np.fft.irfft(half, n)
        check(chx.fft.irfft(chx.array(half.astype(dtype)), n), back, dtype)
        check(chx.fft.irfft(chx.array(half.T.astype(dtype)), n, 0), back.T, dtype)


def test_same_bits_for_any_number_of_threads():
    x = chx.array(draw(65536).astype('complex64'))
    before = chx.get_num_threads()
    found = []
    try:
        for n in (1, 3):
            chx.set_num_threads(n)
            found.append(to_numpy(chx.fft.fft(x)))
    finally:
        chx.set_num_threads(before)
    np.testing.assert_array_equal(*found)


def test_threads_that_need_more_plans_than_are_kept():
    errors = []

    def work(first):
        for n in range(first, first + 40):
            x = draw(n)
            found = to_numpy(chx.fft.fft(chx.array(x)))
            if not np.allclose(found, np.fft.fft(x)):
                errors.append(n)

    threads = [threading.Thread(target=work, args=(k,)) for k in (5, 15, 25, 250)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors


def test_integers_and_short_floats_are_computed_in_float32():
    for dtype in ('bool', 'int8', 'int64', 'float16', 'float32'):
        x = np.array([1, 0, 1, 1, 0, 1]).astype(dtype)
        assert chx.fft.fft(chx.array(x)).dtype == 'complex64'
        assert chx.fft.irfft(chx.array(x)).dtype == 'float32'
        np.testing.assert_allclose(
            to_numpy(chx.fft.rfft(chx.array(x))), np.fft.rfft(x.astype('float64')), atol=1e-6
        )


def test_gradient_of_a_power_spectrum():
    """By Parseval, the sum of squares of the transform is n times that of the numbers."""
    x = chx.array(np.random.default_rng(0).normal(size=(3, 40))).require_grad()
    y = chx.fft.fft(x)
    (chx.square(chx.real(y)) + chx.square(chx.imag(y))).sum().backward()
    np.testing.assert_allclose(to_numpy(x.grad), 2 * 40 * to_numpy(x), rtol=1e-12, atol=1e-12)


def test_parts_are_views():
    x = chx.array([1 + 2j, 3 - 4j])
    real = chx.real(x)
    real += 10
    np.testing.assert_array_equal(to_numpy(x), [11 + 2j, 13 - 4j])
    y = chx.array([1.0, 2.0])
    assert chx.imag(y).tolist() == [0, 0]
    chx.real(y)[0] = 5
    assert y.tolist() == [5, 2]
    constant = chx.broadcast_to(chx.array(1j), (3,))
    with pytest.raises(chx.ChainerxError, match='read-only'):
        chx.real(constant)[0] = 2


def test_backward_detects_a_write_to_a_part():
    x = chx.array([1 + 2j, 3 - 4j]).require_grad()
    y = x * x
    z = (y * y).sum()
    chx.real(y.as_grad_stopped())[0] = 7
    with pytest.raises(chx.GradientError, match='written'):
        z.backward()


def test_lengths_that_no_memory_holds():
    x = chx.array([1.0, 2.0])
    with pytest.raises(chx.ChainerxError):
        chx.fft.fft(x, 2**62)
    with pytest.raises(chx.ChainerxError):
        chx.fft.irfft(x, 2**62)
    with pytest.raises(TypeError, match='n'):
        chx.fft.fft(x, 2.5)
    with pytest.raises(TypeError, match='norm'):
        chx.fft.fft(x, norm=1)


def test_an_axis_that_is_there_twice_keeps_its_length():
    x = draw(4, 6).real
    for axes in ((0, 0), (1, 0, -1), (1, -2, 0)):
        for name in ('fftn', 'ifftn', 'rfftn', 'irfftn'):
            found = getattr(chx.fft, name)(chx.array(x), axes=axes)
            check(found, getattr(np.fft, name)(x, axes=axes), 'float64')
    check(chx.fft.rfftn(chx.array(x), (-1, 3), (0, 0)), np.fft.rfftn(x, (-1, 3), (0, 0)), 'float64')
