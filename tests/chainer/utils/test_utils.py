"""The small helpers of chainer.utils."""

from __future__ import annotations

import abc
import collections.abc
import os
import warnings

import chainer
import chainerx
import numpy as np
import pytest
from chainer import utils
from chainer.utils import argument, array, cache, imgproc, precision

X = np.arange(6, dtype='f').reshape(2, 3)


def test_force_array():
    for scalar in (3, 1.5, True, np.float32(2)):
        result = utils.force_array(scalar)
        assert isinstance(result, np.ndarray)
        assert result.dtype == np.asarray(scalar).dtype
        assert result == scalar
    assert utils.force_array(np.float32(2), np.float64).dtype == np.float64
    assert utils.force_array(X) is X
    assert utils.force_array(X, 'f') is X
    assert utils.force_array(X, 'd').dtype == np.float64
    x = chainerx.array(X)
    assert utils.force_array(x) is x
    assert utils.force_array(x, 'float64').dtype == np.float64


@pytest.mark.parametrize('dtype', [np.float32, 'f', np.dtype('f')])
def test_force_type(dtype):
    assert utils.force_type(dtype, X) is X
    assert utils.force_type(dtype, X.astype('d')).dtype == np.float32
    assert isinstance(utils.force_type(dtype, 3), np.float32)
    assert isinstance(utils.force_type(dtype, np.float64(3)), np.float32)
    assert utils.force_type(dtype, chainerx.array(X.astype('d'))).dtype == np.float32


def test_tempdir(tmp_path):
    with utils.tempdir(dir=tmp_path, prefix='begin', suffix='end') as path:
        assert os.path.dirname(path) == str(tmp_path)
        name = os.path.basename(path)
        assert name.startswith('begin')
        assert name.endswith('end')
        with open(os.path.join(path, 'file'), 'w') as file:
            file.write('text')
    assert os.listdir(tmp_path) == []


def test_collections_abc():
    assert utils.collections_abc is collections.abc


@pytest.mark.parametrize(('shape', 'size'), [((2, 3), 6), ((), 1), ((0, 3), 0), ([np.int64(2)], 2)])
def test_size_of_shape(shape, size):
    result = utils.size_of_shape(shape)
    assert type(result) is int
    assert result == size


@pytest.mark.parametrize('xp', [np, chainerx])
@pytest.mark.parametrize('shape', [(3,), (1, 3), (2, 1), (1, 1), (1,), ()])
def test_sum_to(xp, shape):
    result = utils.sum_to(xp.array(X), shape)
    assert isinstance(result, xp.ndarray)
    assert (result.shape, result.dtype) == (shape, np.float32)
    axes = tuple(i for i in range(2) if ((1, 1, *shape)[-2:])[i] == 1)
    expected = X.sum(axis=axes).reshape(shape)
    np.testing.assert_array_equal(chainer.backend.CpuDevice().send(result), expected)


def test_sum_to_the_same_shape():
    assert utils.sum_to(X, X.shape) is X


def test_sum_to_of_a_variable():
    x = chainer.Variable(X)
    assert utils.sum_to(x, X.shape) is x
    with pytest.raises(TypeError, match=r'Use chainer.functions.sum_to instead'):
        utils.sum_to(x, (3,))


def test_cached_property_of_variables():
    class Model:
        def __init__(self):
            self.x = chainer.Variable(X)

        @cache.cached_property
        def y(self):
            return self.x * 2

    model = Model()
    with chainer.no_backprop_mode():
        assert model.y.creator is None
    assert model.y.creator is not None
    assert model.y is model.y


@pytest.mark.parametrize('shape', [(4,), (2,), (1, 2, 3), (3, 3)])
def test_sum_to_another_shape(shape):
    with pytest.raises(ValueError, match=r'sum_to: shape .* cannot be broadcast to \(2, 3\)'):
        utils.sum_to(X, shape)


@pytest.mark.parametrize('xp', [np, chainerx])
def test_shapes(xp):
    x = xp.zeros((2, 3, 4), 'float32')
    assert array.as_vec(x).shape == (24,)
    assert array.as_mat(x).shape == (2, 12)
    assert array.as_mat(xp.zeros((0, 3, 4))).shape == (0, 12)
    assert array.as_mat(xp.zeros((3,))).shape == (3, 1)
    matrix = x[0]
    assert array.as_mat(matrix) is matrix
    with pytest.raises(TypeError):
        array.as_mat(xp.zeros(()))
    like = array.empty_like(x)
    assert isinstance(like, xp.ndarray)
    assert (like.shape, like.dtype) == (x.shape, x.dtype)


def test_empty_like_keeps_the_device():
    x = chainerx.zeros(2, device='native:1')
    assert array.empty_like(x).device is x.device


def test_format_array_props():
    assert utils._format_array_props([X, None, X[0].astype('i')]) == (
        '(2, 3):float32, None, (3,):int32'
    )
    assert utils._format_array_props([]) == ''


def test_check_arrays_forward_compatible():
    utils._check_arrays_forward_compatible((X, None, X))
    utils._check_arrays_forward_compatible(())
    with pytest.raises(TypeError, match=r'mixed in the forward input \(Name\)'):
        utils._check_arrays_forward_compatible((X, chainerx.array(X)), 'Name')
    with pytest.raises(TypeError, match=r"mixed in the forward input.\nActual: .*, <class 'int'>"):
        utils._check_arrays_forward_compatible((X, 3))


def test_raise_from():
    cause = KeyError('k')
    with pytest.raises(ValueError, match='message') as info:
        utils._raise_from(ValueError, 'message', cause)
    assert info.value.__cause__ is cause


def test_repr_with_named_data():
    class Named:
        pass

    name = f'{__name__}.Named'
    assert utils._repr_with_named_data(Named(), x=1, y='a') == f'<{name} x=1 y=a>'
    assert utils._repr_with_named_data(Named()) == f'<{name}>'


def test_parse_kwargs():
    def function(**kwargs):
        return argument.parse_kwargs(kwargs, ('a', 1), ('b', 2), old='old is gone')

    assert function() == (1, 2)
    assert function(b=3) == (1, 3)
    with pytest.raises(ValueError, match='old is gone'):
        function(old=1)
    with pytest.raises(
        TypeError, match=r"^function\(\) got unexpected keyword argument\(s\) 'c', 'd'$"
    ):
        function(d=1, c=2, a=3)


def test_check_unexpected_kwargs():
    argument.check_unexpected_kwargs({'a': 1}, b='message')
    with pytest.raises(ValueError, match='first'):
        argument.check_unexpected_kwargs({'b': 2, 'a': 1}, a='first', b='second')


def test_assert_kwargs_empty():
    def function(**kwargs):
        argument.assert_kwargs_empty(kwargs)

    function()
    with pytest.raises(
        TypeError, match=r"^function\(\) got unexpected keyword argument\(s\) 'a', 'b'$"
    ):
        function(b=1, a=2)


class Cached:
    calls = 0

    @cache.cached_property
    def value(self):
        """What it is."""
        type(self).calls += 1
        return [chainer.config.enable_backprop]


def test_cached_property():
    x = Cached()
    assert x.value is x.value
    assert Cached.value.__doc__ == 'What it is.'
    with chainer.using_config('enable_backprop', False):
        assert x.value == [False]
        assert x.value is x.value
    assert x.value == [True]
    assert Cached.calls == 2
    assert Cached().value is not x.value
    with pytest.raises(AttributeError, match=r"attribute 'value' of .* is readonly"):
        x.value = 3


def test_final():
    class Base(utils.enable_final()):
        @utils.final
        def f(self):
            return 'f'

        @utils.final(action=DeprecationWarning)
        def g(self):
            return 'g'

    class Derived(Base):
        def h(self):
            return 'h'

    assert Base.__mro__ == (Base, object)
    assert (Derived().f(), Derived().g(), Derived().h()) == ('f', 'g', 'h')
    with pytest.raises(TypeError, match="method 'f' is final"):
        type('Wrong', (Derived,), {'f': 3})
    with pytest.warns(DeprecationWarning, match="Overriding method 'g'"):
        type(Base)('Old', (Derived,), {'g': lambda self: 'new'})


def test_enable_final_with_bases():
    class Mixin:
        pass

    class Base(utils.enable_final(base=(Mixin,), meta_base=(abc.ABCMeta,))):
        @utils.final
        def f(self):
            pass

        @abc.abstractmethod
        def g(self):
            pass

    assert Base.__mro__ == (Base, Mixin, object)
    assert isinstance(Base, abc.ABCMeta)
    with pytest.raises(TypeError, match='abstract'):
        Base()
    with pytest.raises(TypeError, match='final'):
        type(Base)('Wrong', (Base,), {'f': 3})


def test_final_is_for_methods():
    with pytest.raises(AssertionError):
        utils.final(3)


def test_experimental(monkeypatch):
    with pytest.warns(FutureWarning, match=r'^name is experimental. The interface can change'):
        utils.experimental('name')
    monkeypatch.setattr(chainer, 'disable_experimental_feature_warning', True)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        utils.experimental('name')


def test_nondeterministic():
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        utils.nondeterministic('name')
    with (
        chainer.using_config('warn_nondeterministic', True),
        pytest.warns(UserWarning, match='Potentially non-deterministic code .* Source: name'),
    ):
        utils.nondeterministic('name')


@pytest.mark.parametrize('xp', [np, chainerx])
@pytest.mark.parametrize(
    ('given', 'seen', 'returned'),
    [
        ('ee', 'ff', 'ee'),
        ('fe', 'ff', 'ff'),
        ('de', 'df', 'df'),
        ('ie', 'if', 'ie'),
        ('fd', 'fd', 'fd'),
        ('i', 'i', 'i'),
    ],
)
def test_mixed_precision_helper(xp, given, seen, returned):
    dtypes: list = []

    @precision._fp16_mixed_precision_helper
    def forward(self, inputs):
        dtypes.extend(x.dtype.char for x in inputs)
        return (*inputs, None)

    outputs = forward(None, tuple(xp.zeros(2, np.dtype(c)) for c in given))
    assert ''.join(dtypes) == seen
    assert ''.join(y.dtype.char for y in outputs[:-1]) == returned
    assert outputs[-1] is None


def test_oversample():
    image = np.arange(2 * 5 * 6.0).reshape(2, 5, 6)
    crops = imgproc.oversample([image, image + 100], (3, 4))
    assert crops.shape == (20, 2, 3, 4)
    # Upper left, upper right, lower left, lower right, center; then mirrored.
    np.testing.assert_array_equal(crops[:10, 0, 0, 0], [0, 2, 12, 14, 7, 3, 5, 15, 17, 10])
    np.testing.assert_array_equal(crops[10:], crops[:10] + 100)
    np.testing.assert_array_equal(crops[4], image[:, 1:4, 1:5])
    np.testing.assert_array_equal(crops[9], crops[4][:, :, ::-1])
    assert imgproc.oversample(image[None].astype('f'), np.array([2, 3])).dtype == np.float32
    with pytest.raises(ValueError, match='do not fit'):
        imgproc.oversample([image], (6, 6))
