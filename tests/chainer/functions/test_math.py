"""Properties beyond the table: mixed dtypes, ties, borders, identity, unusual conditions."""

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import Variable
from chainer.functions.math.clip import Clip
from chainer.functions.math.matmul import MatMul
from chainer.functions.math.minmax import ArgMax, Max


def numpy_array(values, dtype='float32'):
    return np.array(values, dtype)


def native_array(values, dtype='float32'):
    return chainerx.array(np.array(values, dtype), device='native:0')


@pytest.fixture(params=[numpy_array, native_array], ids=['numpy', 'native'])
def array(request):
    return request.param


def gradients(function, *arrays):
    """The gradients of the sum of the outputs."""
    xs = [Variable(x) for x in arrays]
    F.sum(function(*xs)).backward()
    return [None if x.grad is None else chainerx.to_numpy(chainerx.array(x.grad)) for x in xs]


def values_of(y):
    return chainerx.to_numpy(chainerx.array(y.array)).tolist()


@pytest.mark.parametrize('dtypes', [('float32', 'float16'), ('float16', 'float64')])
def test_matmul_of_two_dtypes(array, dtypes):
    a, b = array(np.ones((2, 3)), dtypes[0]), array(np.ones((3, 4)), dtypes[1])
    y = F.matmul(a, b)
    assert y.dtype == np.promote_types(*dtypes)
    assert y.shape == (2, 4)
    for gx, x, total in zip(gradients(F.matmul, a, b), (a, b), (4, 2), strict=True):
        assert gx.dtype == x.dtype
        np.testing.assert_array_equal(gx, np.full(x.shape, total))


def test_matmul_class_transposes_and_converts(array):
    a, b = array(np.arange(6).reshape(2, 3)), array(np.arange(12).reshape(3, 4))
    (y,) = MatMul(transc=True, dtype=np.dtype('float64')).apply((Variable(a), b))
    assert y.dtype == np.float64
    expected = (np.arange(6).reshape(2, 3) @ np.arange(12).reshape(3, 4)).T
    np.testing.assert_array_equal(values_of(y), expected)


def test_matmul_operator_takes_arrays_on_either_side(array):
    x, a = Variable(array(np.ones((2, 3)))), array(np.ones((3, 2)))
    for y in (x @ a, Variable(a) @ x.array, x.__rmatmul__(a)):
        assert isinstance(y, Variable)
        assert type(y.creator) is MatMul
    with pytest.raises(TypeError):
        x @ 'a'
    with pytest.raises(TypeError):
        x @ 2.0


def test_batch_matmul_is_deprecated(array):
    with pytest.warns(DeprecationWarning, match='matmul'):
        F.batch_matmul(array(np.ones((2, 3, 4))), array(np.ones((2, 4, 3))))


def test_several_extremes_get_the_whole_gradient_each(array):
    assert gradients(F.max, array([1, 2, 2]))[0].tolist() == [0, 1, 1]
    assert gradients(F.min, array([1, 1, 2]))[0].tolist() == [1, 1, 0]
    assert values_of(F.argmax(array([1, 2, 2]))) == 1
    assert values_of(F.argmin(array([1, 1, 2]))) == 0


def test_equal_elements_share_the_gradient(array):
    for function in (F.maximum, F.minimum):
        g1, g2 = gradients(function, array([1, 3]), array([1, 3]))
        assert (g1 + g2).tolist() == [1, 1]


def test_nan_wins(array):
    x, y = array([np.nan, 1]), array([1, np.nan])
    assert np.isnan(values_of(F.maximum(x, y))).all()
    assert np.isnan(values_of(F.minimum(x, y))).all()


def test_clip_passes_gradients_at_the_limits(array):
    assert gradients(lambda x: F.clip(x, 0, 1), array([-1, 0, 0.5, 1, 2]))[0].tolist() == [
        0, 1, 1, 1, 0,
    ]  # fmt: skip
    assert gradients(lambda x: F.clip(x, None, 1), array([1, 2]))[0].tolist() == [1, 0]
    assert gradients(lambda x: F.clip(x, 1, None), array([0, 1]))[0].tolist() == [0, 1]


def test_relu_passes_no_gradient_at_0(array):
    assert gradients(F.relu, array([-1, -0.0, 0, 1]))[0].tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize('slope', [0.5, 0.0, -0.5])
def test_leaky_relu_has_derivative_slope_at_0(array, slope):
    (g,) = gradients(lambda x: F.leaky_relu(x, slope), array([-1, -0.0, 0, 1]))
    assert g.tolist() == [slope, slope, slope, 1]


def test_crelu_passes_no_gradient_at_0(array):
    assert gradients(lambda x: F.crelu(x, 0), array([-1, -0.0, 0, 1]))[0].tolist() == [-1, 0, 0, 1]


def test_get_item_with_an_empty_list(array):
    x = Variable(array([[1, 2], [3, 4]]))
    assert x[[]].shape == (0, 2)
    assert x[:, []].shape == (2, 0)
    assert x[[], [0]].shape == (0,)


def test_lists_of_indices_may_change_later(array):
    for whole in (False, True):
        rows = [0, 1]
        x, b = Variable(array([[1, 2], [3, 4], [5, 6]])), Variable(array([[1, 1], [1, 1]]))
        slices = (rows, slice(None)) if whole else rows
        y, z = x[slices], F.scatter_add(x, slices, b)
        rows[0] = 2
        F.sum(y).backward()
        F.sum(z * array([[1, 2], [3, 4], [5, 6]])).backward()
        assert x.grad.tolist() == [[2, 3], [4, 5], [5, 6]]
        assert b.grad.tolist() == [[1, 2], [3, 4]]


def test_scatter_add_takes_a_list_with_slices(array):
    y = F.scatter_add(array([[1, 2], [3, 4]]), [Ellipsis, None, 1], array([[1], [2]]))
    assert y.array.tolist() == [[1, 3], [3, 6]]


def test_rounding_ends_the_graph(array):
    x = Variable(array([1.5, 2.5]))
    for y in (F.floor(x), F.sign(x), x // 2, x // x, 2 // x):
        assert y.creator is None
        assert not y.requires_grad
        F.sum(y * x).backward()
        assert y.grad is None


def test_products_with_zeros_have_gradients(array):
    assert gradients(F.prod, array([1, 0, 2]))[0].tolist() == [0, 2, 0]
    assert gradients(F.prod, array([0, 0, 2]))[0].tolist() == [0, 0, 0]
    assert gradients(F.cumprod, array([1, 0, 2, 3]))[0].tolist() == [1, 9, 0, 0]


def test_borders_of_exponentials(array):
    inf = np.inf
    assert values_of(F.logsumexp(array([-inf, 0]))) == 0
    assert gradients(F.logsumexp, array([-inf, 0]))[0].tolist() == [0, 1]
    assert values_of(F.logsumexp(array([1000, 1000]))) == pytest.approx(1000 + np.log(2))
    assert values_of(F.log(array([0, 1]))) == [-inf, 0]
    assert np.isnan(values_of(F.sqrt(array([-1])))[0])
    assert gradients(lambda x: 0**x, array([0, 1]))[0].tolist() == [0, 0]
    assert gradients(lambda x: x**2, array([0, 1]))[0].tolist() == [0, 2]


def test_linear_interpolate_is_exact_at_the_ends(array):
    x, y = array([1e8, 3]), array([1, 0.1])
    assert values_of(F.linear_interpolate(array([1, 1]), x, y)) == values_of(Variable(x))
    assert values_of(F.linear_interpolate(array([0, 0]), x, y)) == values_of(Variable(y))


def test_sum_to_returns_arrays_of_the_shape_as_they_are(array):
    x = Variable(array(np.ones((2, 3))))
    assert F.sum_to(x, (2, 3)) is x
    assert F.sum_to(x.array, (2, 3)).array is x.array


def test_identity_shares_memory():
    x = Variable(np.zeros(3))
    y = F.identity(x)
    assert y is not x
    assert np.shares_memory(y.array, x.array)
    ys = F.identity(x, y)
    assert isinstance(ys, tuple)
    assert ys[0].creator is ys[1].creator


@pytest.mark.parametrize('dtype', ['int8', 'uint8', 'int64', 'bool'])
@pytest.mark.parametrize('function', [F.floor, F.ceil, F.fix])
def test_rounding_leaves_integers(array, function, dtype):
    x = array([0, 1, 1], dtype)
    y = function(x)
    assert y.dtype == dtype
    assert values_of(y) == np.array([0, 1, 1], dtype).tolist()


def test_average_converts_to_the_dtype_of_weights(array):
    x, w = array([[1, 2], [3, 4]], 'int32'), array([1, 3])
    y = F.average(x, 0, w)
    assert y.dtype == np.float32
    assert values_of(y) == [2.5, 3.5]


def test_classes_check_their_attributes():
    assert Max(1).axis == (1,)
    assert Max(None, True).keepdims
    with pytest.raises(ValueError, match='twice'):
        Max((0, 0))
    with pytest.raises(TypeError, match='axis'):
        ArgMax((0,))
    with pytest.raises(ValueError, match='x_min'):
        Clip(1, 0)
    with pytest.raises(TypeError, match=r'Max: .*axes'):
        Max(axes=1)


def test_functions_of_integers_have_no_gradient(array):
    x = Variable(array([[1, 5], [7, 2]]))
    for y in (F.argmax(x, 1), F.accuracy(x, array([1, 0], 'int32'))):
        assert y.creator is not None
        F.sum(F.cast(y, 'float32')).backward()
        assert x.grad is None


def test_no_type_check(array):
    with chainer.using_config('type_check', False):
        assert values_of(F.square(array([2], 'int32'))) == [4]


@pytest.mark.parametrize('condition', [True, False, np.True_, [True, False]], ids=str)
def test_where_with_a_condition_that_is_no_array(array, condition):
    x, y = array([1, 2]), array([3, 4])
    expected = np.where(condition, [1, 2], [3, 4]).tolist()
    assert values_of(F.where(condition, x, y)) == expected
    gx, gy = gradients(lambda x, y: F.where(condition, x, y), x, y)
    assert (gx + gy).tolist() == [1, 1]
    assert (gx == np.broadcast_to(condition, 2)).all()


def test_det_leaves_out_axes_of_length_1(array):
    w = Variable(array(np.reshape([2, 1, 3, 4], (2, 2, 1, 1))))
    y = F.det(w)
    assert (y.shape, float(y.array)) == ((), pytest.approx(5))
    (gw,) = chainer.grad([y], [w])
    assert gw.shape == (2, 2, 1, 1)
    np.testing.assert_allclose(np.ravel(values_of(gw)), [4, -3, -1, 2], rtol=1e-5)


def test_norms_pass_nan_on(array):
    x = array([[np.nan, 1], [3, 4]])
    y = values_of(F.normalize(x))
    assert np.isnan(y[0]).all()
    np.testing.assert_allclose(y[1], [0.6, 0.8], rtol=1e-4)
    apart = array(np.zeros(2), 'int32')
    g, _ = gradients(lambda a, b: F.contrastive(a, b, apart, 9), x, array([[0, 0], [0, 0]]))
    assert np.isnan(g[0]).all()
    assert not np.isnan(g[1]).any()
