"""Expressions print and evaluate as in Python; errors are complete."""

from __future__ import annotations

import pickle
import threading

import chainerx
import numpy as np
import pytest
from chainer.utils import type_check as T

X = np.zeros((2, 3), 'f')
Y = np.zeros((4,), 'i')


@pytest.fixture
def types():
    return T.get_types((X, Y), 'in_types', False)


# Built from in_types (x and y): the printed expression, and its value.
EXPRESSIONS = [
    (lambda x, y: x.ndim, 'in_types[0].ndim', 2),
    (lambda x, y: x.shape[-1], 'in_types[0].shape[-1]', 3),
    (lambda x, y: x.shape[1:], 'in_types[0].shape[1:]', (3,)),
    (lambda x, y: x.shape[0:2:2], 'in_types[0].shape[0:2:2]', (2,)),
    (lambda x, y: x.shape[:], 'in_types[0].shape[:]', (2, 3)),
    (lambda x, y: x.shape[: y.ndim], 'in_types[0].shape[:in_types[1].ndim]', (2,)),
    (lambda x, y: x.shape[y.ndim], 'in_types[0].shape[in_types[1].ndim]', 3),
    (lambda x, y: x.dtype.kind.upper(), 'in_types[0].dtype.kind.upper()', 'F'),
    (lambda x, y: x.shape.count(3), 'in_types[0].shape.count(3)', 1),
    (lambda x, y: x.size, 'in_types[0].size', 6),
    (lambda x, y: x.ndim + 1, 'in_types[0].ndim + 1', 3),
    (lambda x, y: 1 - x.ndim - 1, '1 - in_types[0].ndim - 1', -2),
    (lambda x, y: 1 - (x.ndim - 1), '1 - (in_types[0].ndim - 1)', 0),
    (lambda x, y: x.ndim * 2 + 1, 'in_types[0].ndim * 2 + 1', 5),
    (lambda x, y: x.ndim * (2 + 1 * y.ndim), 'in_types[0].ndim * (2 + 1 * in_types[1].ndim)', 6),
    (lambda x, y: x.ndim * (y.ndim % 2), 'in_types[0].ndim * (in_types[1].ndim % 2)', 2),
    (lambda x, y: 9 // x.ndim, '9 // in_types[0].ndim', 4),
    (lambda x, y: 9 / x.ndim, '9 / in_types[0].ndim', 4.5),
    (lambda x, y: 9 % x.ndim, '9 % in_types[0].ndim', 1),
    (lambda x, y: (x.ndim << 1) + 1, '(in_types[0].ndim << 1) + 1', 5),
    (lambda x, y: 9 >> x.ndim, '9 >> in_types[0].ndim', 2),
    (lambda x, y: 9 << x.ndim, '9 << in_types[0].ndim', 36),
    (lambda x, y: x.ndim & (y.ndim | 3), 'in_types[0].ndim & (in_types[1].ndim | 3)', 2),
    (lambda x, y: (5 | x.ndim) ^ (6 & x.ndim), '(5 | in_types[0].ndim) ^ 6 & in_types[0].ndim', 5),
    (lambda x, y: 3 ^ x.ndim, '3 ^ in_types[0].ndim', 1),
    (lambda x, y: -(x.ndim + 1), '-(in_types[0].ndim + 1)', -3),
    (lambda x, y: +x.ndim - ~y.ndim, '+in_types[0].ndim - ~in_types[1].ndim', 4),
    (lambda x, y: -(x.ndim**2), '-in_types[0].ndim ** 2', -4),
    (lambda x, y: (-x.ndim) ** 2, '(-in_types[0].ndim) ** 2', 4),
    (lambda x, y: (x.ndim**2) ** 3, '(in_types[0].ndim ** 2) ** 3', 64),
    (lambda x, y: x.ndim ** (2**y.ndim), 'in_types[0].ndim ** 2 ** in_types[1].ndim', 4),
    (lambda x, y: np.int64(5) + x.ndim, '5 + in_types[0].ndim', 7),
    (lambda x, y: x.ndim == 2, 'in_types[0].ndim == 2', True),
    (lambda x, y: x.shape < (1,), 'in_types[0].shape < (1,)', False),
    (lambda x, y: T.prod(x.shape[1:]), 'prod(in_types[0].shape[1:])', 3),
    (lambda x, y: T.prod((2, x.ndim)), 'prod((2, in_types[0].ndim))', 4),
    (lambda x, y: T.prod([]), 'prod([])', 1),
    (lambda x, y: T.make_variable((5, 6), 'name')[0], 'name[0]', 5),
    (lambda x, y: T.Constant('a'), "'a'", 'a'),
]


@pytest.mark.parametrize(
    ('build', 'text', 'value'), EXPRESSIONS, ids=[text for _, text, _ in EXPRESSIONS]
)
def test_expressions(types, build, text, value):
    expression = build(*types)
    assert isinstance(expression, T.Expr)
    assert str(expression) == text
    assert T.eval(expression) == value


COMPARISONS = [
    (lambda x, y: x.ndim == 3, 'in_types[0].ndim == 3', '2 != 3'),
    (lambda x, y: x.ndim != 2, 'in_types[0].ndim != 2', '2 == 2'),
    (lambda x, y: x.ndim < y.ndim, 'in_types[0].ndim < in_types[1].ndim', '2 >= 1'),
    (lambda x, y: x.ndim <= 1, 'in_types[0].ndim <= 1', '2 > 1'),
    (lambda x, y: x.ndim > 2, 'in_types[0].ndim > 2', '2 <= 2'),
    (lambda x, y: x.ndim >= 3, 'in_types[0].ndim >= 3', '2 < 3'),
    (lambda x, y: x.ndim == 3, 'in_types[0].ndim == 3', '2 != 3'),
    (lambda x, y: 3 < x.ndim, 'in_types[0].ndim > 3', '2 <= 3'),  # noqa: SIM300
    (lambda x, y: np.int32(3) == x.ndim, 'in_types[0].ndim == 3', '2 != 3'),
    (lambda x, y: x.shape == y.shape, 'in_types[0].shape == in_types[1].shape', '(2, 3) != (4,)'),
    (lambda x, y: x.dtype.kind == 'i', 'in_types[0].dtype.kind == i', 'f != i'),
    (
        lambda x, y: x.dtype == np.float64,
        "in_types[0].dtype == <class 'numpy.float64'>",
        "float32 != <class 'numpy.float64'>",
    ),
    (lambda x, y: x.dtype == np.dtype('d'), 'in_types[0].dtype == float64', 'float32 != float64'),
]


@pytest.mark.parametrize(('build', 'expect', 'actual'), COMPARISONS)
def test_expect(types, build, expect, actual):
    with pytest.raises(T.InvalidType) as info:
        T.expect(types[0].ndim == 2, build(*types))
    assert str(info.value) == f'Expect: {expect}\nActual: {actual}'
    assert (info.value.expect, info.value.actual) == (expect, actual)


def test_expect_of_true_conditions(types):
    assert T.expect(types.size() == 2, types[0].dtype == 'f', types[0].dtype == np.float32) is None
    assert T.expect() is None
    with pytest.raises(T.InvalidType, match=r'Expect: in_types.size == 3\nActual: 2 != 3'):
        T.expect(types.size() == 3)


def test_expect_of_non_comparisons(types):
    with pytest.raises(TypeError, match=r'expected a comparison, got in_types\[0\].dtype'):
        T.expect(types[0].dtype)
    T.expect(True)
    with pytest.raises(T.InvalidType, match='does not hold'):
        T.expect(False)


def test_errors_of_python_pass(types):
    with pytest.raises(AttributeError):
        T.expect(types[0].no_such_name == 3)
    with pytest.raises(IndexError):
        T.expect(types[0].shape[5] == 3)


def test_expressions_are_no_booleans(types):
    for expression in (types[0].ndim, types[0].ndim == 2):
        with pytest.raises(RuntimeError, match='cannot be evaluated as bool'):
            bool(expression)
    with pytest.raises(TypeError):
        hash(types[0])
    assert not hasattr(types[0], '__len__')
    assert not hasattr(types[0], '__array__')


def test_abstract_classes():
    assert T.Expr(3).priority == 3
    with pytest.raises(NotImplementedError):
        T.Expr(3).eval()
    with pytest.raises(NotImplementedError):
        T.Testable().expect()


def test_own_operators(types):
    x, y = types
    assert str(T.BinaryOperator(3, x.ndim, 1, '@', None)) == 'in_types[0].ndim @ 1'
    assert T.UnaryOperator(6, x.ndim, '!', lambda v: not v).eval() is False
    with pytest.raises(T.InvalidType, match=r'Actual: 2 !~ 1'):
        T.BoolBinaryOperator(x.ndim, y.ndim, '~', '!~', lambda a, b: False).expect()


@pytest.mark.parametrize('xp', [np, chainerx])
def test_get_types(xp):
    types = T.get_types((xp.zeros((2, 3), 'float32'),), 'name', False)
    assert isinstance(types, T.TypeInfoTuple)
    assert types.name == 'name'
    info = types[0].eval()
    assert (info.shape, info.dtype, info.ndim, info.size) == ((2, 3), np.float32, 2, 6)
    types = T.get_types((X,), 'name', False, shapes=((9, 8),))
    assert types[0].shape.eval() == (9, 8)


def test_get_types_of_none():
    types = T.get_types((X, None), 'name', True)
    assert types[1].dtype.eval() is None
    with pytest.raises(T.InvalidType, match=r'isinstance\(name\[1\], ndarray\)'):
        T.get_types((X, None), 'name', False)
    with pytest.raises(T.InvalidType, match=r"Actual: type\(name\[0\]\) == <class 'int'>"):
        T.get_types((3,), 'name', True)
    with pytest.raises(AssertionError):
        T.get_types([X], 'name', False)


def test_get_light_types():
    types = T.get_light_types((X, Y))
    assert isinstance(types, T.LightTypeInfoTuple)
    assert types[0] is X
    assert types.size() == 2
    types = T.get_light_types((X, Y), shapes=((1,), (2, 2)))
    assert [(t.shape, t.dtype) for t in types] == [((1,), X.dtype), ((2, 2), Y.dtype)]


def test_argname():
    types = T.get_types((X, Y), 'in_types', False)
    T._argname(types, ('x', 'y'))
    assert str(types[0].ndim + types[1].shape[0]) == 'x.ndim + y.shape[0]'
    with pytest.raises(T.InvalidType, match='Invalid number of arguments') as info:
        T._argname(types, ('x',))
    assert info.value.expect == '1 argument(s)'
    assert info.value.actual == '2 argument(s)'


def test_light_mode():
    types = T.get_light_types((X, Y))
    assert not T.in_light_mode()
    with T.light_mode as entered:
        assert entered is None
        assert T.in_light_mode()
        T._argname(types, ('x', 'y'))
        T.expect(types[0].ndim == 2, types.size() == 2)
        assert T.eval(3) == 3
        assert T.prod((2, 3)) == 6
        assert T.prod(()) == 1
        assert T.make_variable(3, 'name') == 3
        T.expect_broadcast_shapes((2, 3), (3,))
        with pytest.raises(T.InvalidType, match=r'^Expect: \nActual: $'):
            T.expect(types[0].ndim == 2, types.size() == 5)
        with pytest.raises(T.InvalidType):
            T._argname(types, ('x',))
    assert not T.in_light_mode()


def test_light_mode_is_of_the_thread():
    seen: list = []
    with T.light_mode:
        thread = threading.Thread(target=lambda: seen.append(T.in_light_mode()))
        thread.start()
        thread.join()
    assert seen == [False]


def test_light_mode_ends_with_an_error():
    with pytest.raises(T.InvalidType), T.light_mode:
        T.expect(False)
    assert not T.in_light_mode()


class Function:
    label = 'Name'


def test_function_check_context(types):
    message = '\nInvalid operation is performed in: Name (Forward)\n\n'
    with T.get_function_check_context(Function()):
        with pytest.raises(T.InvalidType) as info:
            T.expect(types[0].ndim == 3)
        assert str(info.value) == f'{message}Expect: in_types[0].ndim == 3\nActual: 2 != 3'
        with pytest.raises(T.InvalidType, match='Name'):
            T._argname(types, ('x',))
        with pytest.raises(T.InvalidType, match='Name'):
            T.expect_broadcast_shapes(types[0].shape, types[1].shape)
    with pytest.raises(T.InvalidType) as info:
        T.expect(types[0].ndim == 3)
    assert not str(info.value).startswith('\n')


def test_function_check_context_ends_with_an_error(types):
    with pytest.raises(T.InvalidType), T.get_function_check_context(Function()):
        T.expect(types[0].ndim == 3)
    assert T._thread_local.current_function is None


def test_link_in_the_message(types):
    error = T.InvalidType('a', 'b')
    error.link = '/l1 (Linear) of MLP'
    assert str(error) == '\nIn link: /l1 (Linear) of MLP\n\nExpect: a\nActual: b'
    with T.get_function_check_context(Function()), pytest.raises(T.InvalidType) as info:
        T.expect(types[0].ndim == 3)
    info.value.link = '/l1 (Linear) of MLP'
    assert str(info.value) == (
        '\nInvalid operation is performed in: Name (Forward)\nIn link: /l1 (Linear) of MLP\n\n'
        'Expect: in_types[0].ndim == 3\nActual: 2 != 3'
    )


def test_invalid_type():
    error = T.InvalidType('a', 'b')
    assert str(error) == 'Expect: a\nActual: b'
    assert vars(error) == {'expect': 'a', 'actual': 'b'}
    error = T.InvalidType('a', 'b', 'message')
    assert str(error) == 'message'
    error.link = 'l1'
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.expect, copy.actual) == (str(error), 'a', 'b')


def test_same_types():
    x = chainerx.zeros(2)
    assert T.same_types()
    assert T.same_types(X, Y)
    assert T.same_types(x, x)
    assert not T.same_types(X, x)
    assert not T.same_types(X, 3)
    assert not T.same_types(X, None)


@pytest.mark.parametrize(
    'shapes',
    [(), ((2, 3),), ((2, 3), (3,)), ((2, 1), (1, 3), (1,)), ((0, 1), (1, 3)), ((), (2,))],
)
def test_broadcast_shapes(shapes):
    T.expect_broadcast_shapes(*(T.make_variable(s, 'name') for s in shapes))


@pytest.mark.parametrize('shapes', [((2, 3), (2,)), ((2,), (1, 3)), ((0,), (2,))])
def test_shapes_that_cannot_be_broadcast(shapes):
    with pytest.raises(T.InvalidType) as info:
        T.expect_broadcast_shapes(
            T.make_variable(shapes[0], 'lhs.shape'), T.make_variable(shapes[1], 'rhs.shape')
        )
    assert str(info.value) == (
        'cannot broadcast inputs of the following shapes:\n'
        f'lhs.shape = {shapes[0]}\nrhs.shape = {shapes[1]}'
    )


@pytest.mark.parametrize(
    ('value', 'text'),
    [
        (3, '3'),
        ('s', "'s'"),
        (None, 'None'),
        (np.array([1.0]), 'array([1.])'),
        ((1, np.array([1])), '(1, array([1]))'),
        ((1,), '(1,)'),
        ([1, [2]], '[1, [2]]'),
        ({'k': T.Variable(1, 'name')}, "{'k': name}"),
        (np.dtype('f'), "dtype('float32')"),
    ],
)
def test_repr(value, text):
    assert T._repr(value) == text
