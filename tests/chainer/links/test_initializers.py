"""Same seed, same weights as in Chainer v7, in arrays of any kind."""

from __future__ import annotations

import math

import chainer
import chainerx
import numpy as np
import pytest
from chainer import initializer, initializers
from devices import DEVICES

SHAPES = [(2, 3), (4, 4), (3, 2, 3, 3), (6, 2, 5), (1, 7), (7, 1)]
DTYPES = ['e', 'f', 'd', 'i']


def make(device, shape, dtype='f'):
    return chainer.get_device(device).send(np.full(shape, 77).astype(dtype))


def numpy_of(array):
    return chainer.backend.CpuDevice().send(array)


def fans(shape):
    size = math.prod(shape[2:])
    return shape[1] * size, shape[0] * size


# The class, its arguments, and the expected parameter of the distribution for a shape.
NORMAL = [
    ('Normal', {}, lambda s: 0.05),
    ('Normal', {'scale': 0.7}, lambda s: 0.7),
    ('LeCunNormal', {}, lambda s: math.sqrt(1 / fans(s)[0])),
    ('LeCunNormal', {'scale': 1.3}, lambda s: 1.3 * math.sqrt(1 / fans(s)[0])),
    ('GlorotNormal', {}, lambda s: math.sqrt(2 / sum(fans(s)))),
    ('HeNormal', {}, lambda s: math.sqrt(2 / fans(s)[0])),
    ('HeNormal', {'fan_option': 'fan_in'}, lambda s: math.sqrt(2 / fans(s)[0])),
    ('HeNormal', {'fan_option': 'fan_out', 'scale': 2}, lambda s: 2 * math.sqrt(2 / fans(s)[1])),
]
UNIFORM = [
    ('Uniform', {}, lambda s: 0.05),
    ('Uniform', {'scale': 2}, lambda s: 2),
    ('LeCunUniform', {}, lambda s: math.sqrt(3 / fans(s)[0])),
    ('GlorotUniform', {'scale': 0.5}, lambda s: 0.5 * math.sqrt(6 / sum(fans(s)))),
    ('HeUniform', {}, lambda s: math.sqrt(6 / fans(s)[0])),
]


@pytest.mark.parametrize('device', ['@numpy', 'native:0', 'native:1'])
@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('own_rng', [False, True])
@pytest.mark.parametrize(('name', 'kwargs', 'scale'), NORMAL + UNIFORM)
def test_random(device, dtype, own_rng, name, kwargs, scale):
    for shape in [*SHAPES, *([(3,), ()] if name in ('Normal', 'Uniform') else [])]:
        array = make(device, shape, dtype)
        rng = np.random.RandomState(5) if own_rng else None
        np.random.seed(5)
        getattr(initializers, name)(**kwargs, rng=rng)(array)
        following = (rng or np.random).rand()
        s = scale(shape)
        draw = np.random.RandomState(5)
        expected = draw.normal(0, s, shape) if 'Normal' in name else draw.uniform(-s, s, shape)
        np.testing.assert_array_equal(numpy_of(array), np.asarray(expected).astype(dtype))
        assert following == draw.rand()
        if own_rng:
            assert np.random.rand() == np.random.RandomState(5).rand()


def test_values_of_v7():
    """Observed with Chainer 7.8.1."""
    for rng_initializer, expected in [
        (initializers.Normal(), [[0.08121727, -0.03058782], [-0.02640859, -0.05364843]]),
        (initializers.HeNormal(), [[1.6243454, -0.6117564], [-0.5281718, -1.0729686]]),
        (initializers.Uniform(), [[-0.0082978, 0.02203245], [-0.04998856, -0.01976674]]),
        (initializers.Orthogonal(), [[1.0460883, -0.34014583], [-0.34014583, -1.0460883]]),
    ]:
        array = np.empty((2, 2), 'f')
        np.random.seed(1)
        rng_initializer(array)
        np.testing.assert_allclose(array, expected, rtol=1e-6)


@pytest.mark.parametrize('cls', [initializers.Normal, initializers.Uniform])
def test_generator_objects(cls):
    array = np.empty((2, 3), 'f')
    cls(rng=np.random.default_rng(3))(array)
    again = np.empty((2, 3), 'f')
    cls(rng=np.random.default_rng(3))(again)
    np.testing.assert_array_equal(array, again)
    assert array.std() > 0


@pytest.mark.parametrize('name', ['LeCunNormal', 'GlorotNormal', 'HeNormal', 'LeCunUniform'])
def test_fans_need_two_dimensions(name):
    with pytest.raises(ValueError, match=r'length >= 2. Actual shape: \(3,\)'):
        getattr(initializers, name)()(np.empty(3))


@pytest.mark.parametrize('name', ['LeCunNormal', 'GlorotUniform', 'HeNormal', 'HeUniform'])
@pytest.mark.parametrize('shape', [(3, 0), (0, 0), (0, 3), (3, 2, 0)])
def test_nothing_to_draw(name, shape):
    getattr(initializers, name)()(np.empty(shape, 'f'))


def test_fan_option():
    with pytest.raises(ValueError, match=r"either 'fan_in' or 'fan_out'. Actual: 'x'"):
        initializers.HeNormal(fan_option='x')(np.empty((2, 3)))


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize(
    ('made', 'value'),
    [
        (initializers.Constant(2.5), 2.5),
        (initializers.Constant(np.float32(2)), 2),
        (initializers.Constant(np.array([1, 2, 3])), [1, 2, 3]),
        (initializers.Constant(chainerx.array([1, 2, 3])), [1, 2, 3]),
        (initializers.Zero(), 0),
        (initializers.One(), 1),
    ],
)
@pytest.mark.parametrize('dtype', DTYPES)
def test_constants(device, made, value, dtype):
    array = make(device, (2, 3), dtype)
    made(array)
    np.testing.assert_array_equal(numpy_of(array), np.broadcast_to(value, (2, 3)).astype(dtype))


@pytest.mark.parametrize('device', DEVICES)
def test_nan(device):
    array = make(device, (2, 3))
    initializers.NaN()(array)
    assert np.isnan(numpy_of(array)).all()


def test_constant_errors():
    with pytest.raises(ValueError, match='fill_value must be either scalar'):
        initializers.Constant([1, 2])
    with pytest.raises(ValueError, match=r'broadcast'):
        initializers.Constant(np.arange(2))(np.empty(3))


@pytest.mark.parametrize('device', DEVICES)
def test_identity(device):
    array = make(device, (3, 3))
    initializers.Identity(2)(array)
    np.testing.assert_array_equal(numpy_of(array), 2 * np.eye(3))
    for shape in [(2, 3), (2,), (2, 2, 2), ()]:
        with pytest.raises(ValueError, match='can only be used for 2D squared matrices'):
            initializers.Identity()(make(device, shape))


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('shape', [*SHAPES, (3,), (1,)])
@pytest.mark.parametrize(('dtype', 'tol'), [('e', 3e-3), ('f', 1e-6), ('d', 1e-14)])
def test_orthogonal(device, shape, dtype, tol):
    array = make(device, shape, dtype)
    np.random.seed(0)
    initializers.Orthogonal(scale=1.5)(array)
    rows = shape[0]
    matrix = numpy_of(array).reshape(rows, -1).astype('d') / 1.5
    product = matrix @ matrix.T if rows <= matrix.shape[1] else matrix.T @ matrix
    np.testing.assert_allclose(product, np.eye(len(product)), atol=tol)


@pytest.mark.parametrize(('seed', 'sign'), [(0, -1), (1, 1), (2, -1), (5, 1)])
def test_orthogonal_scalar(seed, sign):
    array = np.empty(())
    np.random.seed(seed)
    initializers.Orthogonal()(array)
    assert array == 1.1 * sign
    initializers.Orthogonal(rng=np.random.default_rng(0))(array)
    assert abs(array) == 1.1


@pytest.mark.parametrize(
    ('mode', 'good', 'bad'),
    [
        ('projection', [(2, 3), (2, 2)], [(3, 2), (3,)]),
        ('embedding', [(3, 2), (3,), (2, 2)], [(2, 3), (1, 2, 2)]),
        ('basis', [(2, 2), (4, 2, 2), (1,)], [(2, 3), (3, 2)]),
    ],
)
def test_orthogonal_modes(mode, good, bad):
    made = initializers.Orthogonal(mode=mode)
    for shape in good:
        made(np.empty(shape))
    for shape in bad:
        with pytest.raises(ValueError, match=f'Cannot make orthogonal {mode}. shape = '):
            made(np.empty(shape))


def test_orthogonal_errors():
    with pytest.raises(ValueError, match=r"Invalid mode: 'x'. Choose from 'auto', 'projection'"):
        initializers.Orthogonal(mode='x')
    with pytest.raises(ValueError, match='must be non-empty'):
        initializers.Orthogonal()(np.empty((0, 3)))


LINES = {1: [1], 2: [0.5, 0.5], 3: [0.5, 1, 0.5], 4: [0.25, 0.75, 0.75, 0.25]}


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('size', LINES)
def test_sampling_filters(device, size):
    line = np.array(LINES[size])
    for upsampling in (True, False):
        cls = getattr(
            initializers, 'UpsamplingDeconvFilter' if upsampling else 'DownsamplingConvFilter'
        )
        line = np.array(LINES[size]) / (1 if upsampling else sum(LINES[size]))
        array = make(device, (2, 2, size, size))
        cls()(array)
        plane = np.outer(line, line)
        expected = np.stack([[plane, plane * 0], [plane * 0, plane]])
        np.testing.assert_allclose(numpy_of(array), expected, rtol=1e-6)
        array = make(device, (3, 1, size))
        cls()(array)
        np.testing.assert_allclose(numpy_of(array), np.stack([[line]] * 3), rtol=1e-6)


def test_sampling_filter_errors():
    cls = initializers.UpsamplingDeconvFilter
    with pytest.raises(ValueError, match='Unsupported interpolation method: cubic'):
        cls(interpolation='cubic')
    with pytest.raises(ValueError, match='ksize must be all same: 2 != 4'):
        cls()(np.empty((1, 1, 2, 4)))
    with pytest.raises(ValueError, match='one channel, or as many'):
        cls()(np.empty((2, 3, 3, 3)))
    with pytest.raises(ValueError, match='length >= 3'):
        cls()(np.empty((2, 2)))


ALL = ['Normal', 'HeNormal', 'GlorotUniform', 'Orthogonal', 'Identity', 'Zero']


@pytest.mark.parametrize('name', ALL)
def test_dtype(name):
    for dtype in ('d', np.float64, np.dtype('d')):
        made = getattr(initializers, name)(dtype=dtype)
        assert made.dtype is dtype
        made(np.empty((2, 2), 'd'))
        with pytest.raises(ValueError, match='dtype of the array is float32'):
            made(np.empty((2, 2), 'f'))
    made = getattr(initializers, name)(dtype=chainer.mixed16)
    made(np.empty((2, 2), 'e'))
    with pytest.raises(ValueError, match='float32'):
        made(np.empty((2, 2), 'f'))


def test_attributes():
    made = initializers.HeNormal(2, 'f', 'fan_out')
    assert (made.scale, made.dtype, made.fan_option, made.rng) == (2, 'f', 'fan_out', None)
    assert initializers.Constant(3).fill_value == 3
    assert initializers.Orthogonal().mode == 'auto'
    with pytest.raises(TypeError):
        initializers.Normal(1, None, np.random)  # rng is for keywords only


@pytest.mark.parametrize(
    ('shape', 'expected'), [((2, 3), (3, 2)), ((4, 2, 3, 3), (18, 36)), ((0, 3), (3, 0))]
)
def test_get_fans(shape, expected):
    assert initializer.get_fans(shape) == expected


def test_abstract_initializer():
    assert chainer.Initializer is initializer.Initializer
    with pytest.raises(NotImplementedError):
        initializer.Initializer()(np.empty(2))


def test_get_initializer():
    get = initializers._get_initializer
    assert type(get(None)) is initializers.LeCunNormal
    for value in (3, 1.5, np.float32(1), np.ones(2), chainerx.ones(2)):
        made = get(value)
        assert type(made) is initializers.Constant
        assert made.fill_value is value
    one = initializers.One()
    assert get(one) is one
    assert get(np.copyto) is np.copyto
    for wrong in ([1, 2], (1,), {}, 'he'):
        with pytest.raises(TypeError, match=r'invalid type of initializer.*HeNormal\(\)'):
            get(wrong)


def test_a_class_is_no_initializer():
    """A class is refused: it would be instantiated with the array, and not fill it."""
    for use in (
        lambda: chainer.links.Linear(None, 4, initialW=initializers.HeNormal),
        lambda: chainer.Parameter(initializers.HeNormal, (2, 3)),
    ):
        with pytest.raises(TypeError, match=r'initializer is the class HeNormal, .* HeNormal\(\)'):
            use()


def test_arrays_that_do_not_fit():
    with pytest.raises(ValueError, match=r'Constant: fill_value of shape \(3, 4\) does not'):
        chainer.links.Linear(3, 4, initialW=np.ones((3, 4), 'f'))
    row = chainer.links.Linear(3, 4, initialW=np.arange(3, dtype='f'))  # broadcast, as in v7
    np.testing.assert_array_equal(row.W.array[2], [0, 1, 2])


@pytest.mark.parametrize(
    ('dtype', 'own', 'config', 'expected'),
    [
        (None, None, 'f', 'f'),
        (None, None, chainer.mixed16, 'e'),
        (None, 'd', 'f', 'd'),
        ('d', None, 'f', 'd'),
        (np.float16, 'e', 'f', 'e'),
        (chainer.mixed16, None, 'f', 'e'),
        (None, chainer.mixed16, 'f', 'e'),
    ],
)
@pytest.mark.parametrize('xp', [np, chainerx])
def test_generate_array(xp, dtype, own, config, expected):
    with chainer.using_config('dtype', config):
        array = initializers.generate_array(initializers.One(dtype=own), (2, 3), xp, dtype=dtype)
    assert isinstance(array, xp.ndarray)
    assert (array.shape, array.dtype) == ((2, 3), np.dtype(expected))
    assert (numpy_of(array) == 1).all()


def test_generate_array_of_a_function():
    seen: list = []

    def fill(array):
        seen.append(type(array))
        array[...] = [1, 2, 3]

    array = initializers.generate_array(fill, (2, 3), chainerx, 'f')
    assert array.tolist() == [[1, 2, 3]] * 2
    assert seen == [np.ndarray]
    assert initializers.generate_array(fill, 3, np).shape == (3,)


def test_generate_array_on_a_device():
    one = initializers.One()
    array = initializers.generate_array(one, (2,), chainerx, device='native:1')
    assert array.device.name == 'native:1'
    with chainer.using_device('native:2'):
        assert initializers.generate_array(one, (2,), chainerx).device.name == 'native:2'
    assert initializers.generate_array(one, (2,), np, device='@numpy').shape == (2,)


def test_generate_array_errors():
    one = initializers.One('e')
    with pytest.raises(ValueError, match='dtype mismatch: d != e'):
        initializers.generate_array(one, (2,), np, dtype='d')
    with pytest.raises(ValueError, match='xp and device arguments are inconsistent'):
        initializers.generate_array(one, (2,), np, device='native')
