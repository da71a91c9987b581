"""Functions accept more than lists, tuples and ints, as NumPy does."""

import chainer.functions as F
import numpy as np
import pytest
from chainer import Variable
from chainer.functions.activation.relu import ReLU
from chainer.utils.type_check import InvalidType
from devices import assert_equal, to_numpy


@pytest.mark.parametrize('name', ['concat', 'stack', 'hstack', 'vstack', 'dstack', 'pad_sequence'])
def test_any_iterable_of_arrays(name, make):
    function = getattr(F, name)
    xs = [Variable(make([[1, 2], [3, 4]], 'float32') * (i + 1)) for i in range(3)]
    expected = to_numpy(function(xs))
    for iterable in (iter(xs), map(lambda x: x, xs), dict(enumerate(xs)).values(), (x for x in xs)):
        assert_equal(function(iterable), expected)
    with pytest.raises(InvalidType):
        function(iter(()))
    for wrong in (None, 3, xs[0], xs[0].array):
        with pytest.raises(TypeError):
            function(wrong)


def test_parameters_that_numpy_takes(make):
    x = Variable(make([[3, 4], [6, 8], [0, 1]], 'float32'))
    a = to_numpy(x)
    assert_equal(x[range(2)], a[range(2)])
    assert_equal(x[:, range(1, -1, -1)], a[:, ::-1])
    assert_equal(x[range(0)], a[:0])
    width = np.array([[1, 0], [0, 2]])
    assert_equal(F.pad(x, width, 'constant'), np.pad(a, width))
    expected = to_numpy(F.normalize(x, axis=1))
    assert_equal(F.normalize(x, axis=np.int64(1)), expected)
    blocks = Variable(make(np.arange(16.0).reshape(1, 4, 2, 2), 'float32'))
    expected = to_numpy(F.depth2space(blocks, 2))
    assert_equal(F.depth2space(blocks, np.int32(2)), expected)
    assert_equal(F.space2depth(expected, np.int64(2)), to_numpy(blocks))


X = np.ones((2, 4, 5, 5), 'f')
MISTAKES = [
    (lambda: F.average(X[:0]), ZeroDivisionError, r'average: x has shape \(0, 4, 5, 5\), nothing'),
    (lambda: F.fft((X,)), ValueError, 'fft: x has length 1, expected a real and an imaginary'),
    (lambda: F.max_pooling_2d(X, 2, 0), ValueError, r'^max_pool: stride\[0\] is 0, expected at le'),
    (
        lambda: F.permutate(X, [1, 0]),
        TypeError,
        'permutate: indices is a list, expected a Variable',
    ),
    (
        lambda: F.resize_images(X, (2,)),
        ValueError,
        r'output_shape is \(2,\), expected a height and',
    ),
    (lambda: F.linear([[1.0]], X), TypeError, 'input 0 is a list, expected a Variable or an array'),
    (lambda: F.resize_images(X, 2), TypeError, 'output_shape is 2, expected a height and a width'),
    (
        lambda: F.softmax_cross_entropy(X[..., 0, 0], np.zeros(2, 'i'), class_weight=[1.0] * 4),
        TypeError,
        'class_weight is a list, expected an array',
    ),
]


@pytest.mark.parametrize(('call', 'error', 'match'), MISTAKES)
def test_mistakes_are_named(call, error, match):
    with pytest.raises(error, match=match):
        call()


ROWS = X[0, 0]


@pytest.mark.parametrize(
    ('label', 'call', 'condition'),
    [
        ('Broadcast', F.broadcast, 'in_types.size > 0\nActual: 0 <= 0'),
        ('Concat', lambda: F.concat([]), 'in_types.size > 0\nActual: 0 <= 0'),
        ('PadSequence', lambda: F.pad_sequence([]), 'in_types.size > 0\nActual: 0 <= 0'),
        ('Gaussian', lambda: F.gaussian(ROWS, ROWS, eps=ROWS[0]), 'Actual: (5,) != (5, 5)'),
        ('Maxout', lambda: F.maxout(ROWS, 2), 'x.shape[1] % pool_size == 0\nActual: 1 != 0'),
        ('Permutate', lambda: F.permutate(ROWS, np.arange(5), 2), 'x.ndim > 2\nActual: 2 <= 2'),
        ('RReLU', lambda: F.rrelu(ROWS, r=ROWS[0]), 'x.shape == r.shape\nActual: (5, 5) != (5,)'),
        ('ScatterAdd', lambda: F.scatter_add(ROWS, (0, 0, 0), X), 'a.ndim >= 3\nActual: 2 < 3'),
        ('Where', lambda: F.where(ROWS, ROWS, ROWS), 'condition.dtype == bool\nActual: float32'),
        ('Where', lambda: F.where(ROWS[0, :2] > 0, ROWS, ROWS), 'condition.shape = (2,)\n'),
        ('average', lambda: F.average(ROWS, 1, ROWS[0, :2]), 'weights.size == 5\nActual: 2 != 5'),
        ('det', lambda: F.det(ROWS[0]), 'a.ndim >= 2\nActual: 1 < 2'),
        ('det', lambda: F.det(X), 'a.shape[2:] == (1, 1)\nActual: (5, 5) != (1, 1)'),
    ],
)
def test_errors_of_types_name_the_function(label, call, condition):
    with pytest.raises(InvalidType) as caught:
        call()
    assert f'Invalid operation is performed in: {label} (Forward)\n' in str(caught.value)
    assert condition in str(caught.value)


SIZES = 0, 1, 2, (1 << 16) - 1, 1 << 16, (1 << 23) - 1, 1 << 23, (1 << 23) + 1, 1 << 32, 1 << 39


@pytest.mark.parametrize('dtype', ['f', 'd'])
def test_passed_checks_do_not_hold_for_other_shapes(dtype):
    """Checks are cached by dtypes and shapes, which must not be confused with one another."""
    for n in SIZES:
        for m in SIZES:
            x, w = np.empty((0, n), dtype), np.empty((0, m), dtype)
            if n == m:
                assert F.linear(x, w).shape == (0, 0)
            else:
                with pytest.raises(InvalidType):
                    F.linear(x, w)
    for other in (np.empty(3, dtype), np.empty((0, 3), 'i'), np.empty((0, 3, 0), dtype)):
        assert F.linear(np.empty((0, 3), dtype), np.empty((0, 3), dtype)).shape == (0, 0)
        with pytest.raises(InvalidType):
            F.linear(np.empty((0, 3), dtype), other)


@pytest.mark.parametrize('axis', [0, 1, 2])
def test_alternating_shapes_are_checked_once(request, axis):
    """Shapes that alternate, as in the layers of a network, are checked once each."""
    checked = []
    check = ReLU.check_type_forward

    def count(self, types):
        checked.append(1)
        check(self, types)

    # Past the metaclass: a class that a program has patched checks each call.
    type.__setattr__(ReLU, 'check_type_forward', count)
    request.addfinalizer(lambda: type.__setattr__(ReLU, 'check_type_forward', check))
    shapes = [tuple(17 * n if i == axis else 1 for i in range(axis + 1)) for n in range(1, 9)]
    for _ in range(2):
        checked.clear()
        for shape in shapes:
            F.relu(np.zeros(shape, 'f'))
    assert len(checked) <= 2  # two of them share a slot of the cache
