"""`chainerx.testing` itself: the arrays that it accepts, and the errors that it must detect."""

import chainerx as chx
import chainerx.testing.array
import chainerx.testing.dtypes
import chainerx.testing.helper
import numpy as np
import pytest
from chainerx import testing


def test_dtype_tuples():
    assert testing.float_dtypes == ('float16', 'float32', 'float64')
    assert testing.all_dtypes[0] == 'bool_'
    assert testing.all_dtypes[1:] == testing.numeric_dtypes
    assert set(testing.numeric_dtypes) == set(testing.signed_dtypes + testing.unsigned_dtypes)
    assert len(testing.all_dtypes) == 9
    assert len(testing.extended_all_dtypes) == 15
    for name in testing.extended_all_dtypes:
        assert chx.zeros(1, name).dtype == chx.dtype(name)
    assert testing.dtypes.all_dtypes is testing.all_dtypes
    for name in testing.__all__:
        assert hasattr(testing, name)


def test_assert_allclose():
    x, n = chx.array([1.0, 2.0]), np.array([1.0, 2.0])
    for a in (x, n):
        for b in (x, n):
            testing.assert_allclose(a, b)
            testing.assert_array_equal(a, b)
            with pytest.raises(AssertionError):
                testing.assert_allclose(a, b + 1)
            with pytest.raises(AssertionError):
                testing.assert_array_equal(a + 1, b)
    testing.assert_allclose(x, n + 0.1, atol=0.2)
    testing.assert_allclose(chx.ones(2, 'bfloat16'), chx.ones(2, 'bfloat16'))
    testing.assert_array_equal(chx.array(float('nan')), np.nan)
    with pytest.raises(AssertionError):
        testing.assert_array_equal(chx.zeros(2), np.zeros(3))


def test_ex_checks():
    x, n = chx.ones((2, 3), 'float32'), np.ones((2, 3), 'float32')
    for check in (testing.assert_allclose_ex, testing.assert_array_equal_ex):
        check(x, n)
        with pytest.raises(AssertionError, match='dtype'):
            check(x, n.astype('float64'))
        check(x, n.astype('float64'), dtype_check=False)
        with pytest.raises(AssertionError, match='strides'):
            check(x.T.copy().T, n)
        check(x.T.copy().T, n, strides_check=False)
        with pytest.raises(ValueError, match='strides_check'):
            check(x, n, dtype_check=False, strides_check=True)
    testing.assert_allclose_ex(x, n * 1.05, float32_rtol=0.1)
    with pytest.raises(AssertionError):
        testing.assert_allclose_ex(x, n * 1.05, float64_rtol=0.1)


@testing.numpy_chainerx_array_equal()
def test_decorator_equal(xp):
    return xp.arange(6, dtype='float32').reshape((2, 3)).T, xp.ones(2, dtype='int8')


@testing.numpy_chainerx_allclose(rtol=1e-6, name='module')
def test_decorator_name(module):
    return module.exp(module.linspace(0, 1, 5, dtype='float32'))


@testing.numpy_chainerx_array_equal(accept_error=(chx.DimensionError, ValueError))
@pytest.mark.parametrize('shape', [(2, 2), (7,)])
def test_decorator_errors(xp, shape):
    return xp.zeros((2, 3), dtype='float32').reshape(shape)


@testing.numpy_chainerx_array_equal()
def test_decorator_ignore(xp):
    return testing.ignore()


@testing.numpy_chainerx_array_equal()
def test_decorator_scalar(xp):
    return xp.ones((2, 3), dtype='int8').shape


class TestMethods:
    @testing.numpy_chainerx_array_equal()
    def test_method(self, xp):
        return xp.zeros(3, dtype='int16')


@pytest.mark.parametrize(
    'body',
    [
        lambda xp: None,
        lambda xp: xp.zeros(2, dtype='float32') + (xp is chx),
        lambda xp: xp.zeros(2, dtype='float32' if xp is chx else 'float64'),
        lambda xp: xp.zeros((2, 3), dtype='int8').T if xp is chx else np.zeros((3, 2), 'int8'),
        lambda xp: (xp.zeros(2),) if xp is chx else [xp.zeros(2)],
        lambda xp: [xp.zeros(2, dtype='int8')] * (1 + (xp is chx)),
        lambda xp: np.zeros(2),
        lambda xp: 1 if xp is chx else 2,
        lambda xp: 1 if xp is chx else 1.0,
        lambda xp: 1 if xp is chx else True,
        lambda xp: 5.0 if xp is chx else np.float64(5),
        lambda xp: 5 if xp is chx else np.array(5),
        lambda xp: 5 if xp is chx else np.array([5, 5]),
        lambda xp: np.float32(5),
        lambda xp: (1, 2) if xp is chx else (1, 2.0),
        lambda xp: xp.zeros((1, 2), 'int8') if xp is chx else np.zeros((2, 1), 'int8').T,
        lambda xp: testing.ignore() if xp is chx else 1,
        lambda xp: chx.zeros(2, 'int8', 'native:1') if xp is chx else np.zeros(2, 'int8'),
        lambda xp: 1 / (xp is np),
        lambda xp: 1 / (xp is chx),
        lambda xp: 1 / 0,
    ],
)
def test_decorators_fail_when_they_should(body):
    def run(xp):
        return body(xp)

    with pytest.raises(AssertionError):
        testing.numpy_chainerx_array_equal()(run)()


def test_accept_error_needs_both():
    decorate = testing.numpy_chainerx_array_equal(accept_error=ZeroDivisionError)

    def both(xp):
        return 1 / 0

    def one(xp):
        return 1 / (xp is np)

    decorate(both)()
    with pytest.raises(AssertionError):
        decorate(one)()


def test_parametrize_dtype_specifier():
    mark = testing.parametrize_dtype_specifier('spec', ['float32', 'bool_'], [None])
    argname, values = mark.mark.args
    assert argname == 'spec'
    assert values[-1] is None
    assert {'float32', 'bool_', 'f', '?'} <= {v for v in values if isinstance(v, str)}
    assert np.dtype('float32') in values


def test_fromnumpy():
    n = np.arange(24.0).reshape(4, 6)
    for view in (n, n.T, n[::-1, ::2], n[:0], np.broadcast_to(n[0], (3, 6)), n[1, 1]):
        view = np.asarray(view)
        x = testing._fromnumpy(view, keepstrides=True)
        assert x.strides == view.strides
        testing.assert_array_equal(x, view)
        testing.assert_array_equal(testing._fromnumpy(view, device='native:1'), view)
    x = testing._fromnumpy(n, keepstrides=True)
    n[0, 0] = 42
    assert float(x[0, 0]) == 0


def test_device_buffer():
    for buffer in (
        testing._DeviceBuffer([1, 2, 3, 4], (2, 2), 'int16'),
        testing._DeviceBuffer((2, 2), 'int16', [1, 2, 3, 4]),
        testing._DeviceBuffer(shape=(2, 2), dtype='int16', data=[1, 2, 3, 4], device='native:1'),
    ):
        view = memoryview(buffer)
        assert view.tolist() == [[1, 2], [3, 4]]
        assert view.format == 'h'
        testing.assert_array_equal(chx.frombuffer(buffer, 'int16'), [1, 2, 3, 4])
