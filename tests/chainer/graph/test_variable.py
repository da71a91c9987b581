"""Variables over arrays of all kinds."""

import copy
import inspect

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import Variable
from devices import assert_equal

A = np.arange(6, dtype='f').reshape(2, 3) + 1


# ---- construction, identity, printing ----


def test_array_is_the_very_object(make):
    a = make(A)
    x = Variable(a)
    assert x.array is a
    assert x.data is a
    assert x.raw_array is a
    F.relu(x)
    assert x.array is a
    assert x.array is x.array


def test_output_array_is_made_once(make):
    y = F.relu(Variable(make(A)))
    assert y.array is y.array
    assert type(y.array) is type(make(A))
    # It is a view, not a copy: writes to it are visible.
    y.array[...] = 5
    assert_equal((y * 1).array, np.full_like(A, 5))


def test_a_variable_of_a_numpy_array_does_not_copy():
    a = A.copy()
    x = Variable(a)
    y = x * 1
    a += 1
    assert_equal((x * 1).array, A + 1)
    assert_equal(y.array, A)


def test_attributes(make):
    x = Variable(make(A), name='x')
    assert (x.shape, x.ndim, x.size, x.dtype, len(x)) == ((2, 3), 2, 6, np.float32, 2)
    assert (x.name, x.label, x.requires_grad, x.rank) == ('x', '(2, 3), float32', True, 0)
    assert x.creator is None
    assert x.creator_node is None
    assert x.grad is None
    assert x.grad_var is None
    assert x.layout is None
    assert x.as_layout(None) is x
    assert +x is x
    assert x.summary() == '<variable x>'
    assert x.xp is chainer.backend.get_array_module(x.array)
    assert x.device == chainer.backend.get_device_from_array(x.array)
    assert Variable(make(np.float32(2.5).reshape(()))).item() == 2.5
    assert Variable(make(1.0)).label == 'float64'


def test_printing(make):
    x = Variable(make(A))
    assert repr(x) == 'variable([[1., 2., 3.],\n          [4., 5., 6.]])'
    assert str(x) == 'variable([[1. 2. 3.]\n          [4. 5. 6.]])'
    x.name = 'x'
    assert repr(x) == 'variable x([[1., 2., 3.],\n            [4., 5., 6.]])'
    assert repr(Variable(None)) == 'variable(None)'
    assert repr(Variable(make(A[:0, 0]), name='n')) == 'variable n([])'
    assert repr(Variable(make(A[:, :0]))) == 'variable([], shape=(2, 0))'
    assert str(Variable(make(A[:, :0]))) == 'variable([])'
    assert repr(chainer.Parameter(make(A[:0]), name='p')) == 'variable p([], shape=(0, 3))'
    assert str(Variable(None, name='n')) == 'variable n(None)'
    assert Variable(make(A)).summary().startswith('<variable at 0x')


def test_debug_print():
    assert Variable(A, name='x', grad=A).debug_print() == (
        "<variable x>\n- device: CPU\n- backend: <class 'numpy.ndarray'>\n- shape: (2, 3)\n"
        '- dtype: float32\n- statistics: mean=3.50000000, std=1.70782518\n'
        '- grad: mean=3.50000000, std=1.70782518'
    )
    assert Variable(None, name='x').debug_print() == (
        '<variable x>\n- device: None\n- backend: None\n- shape: None\n- dtype: None\n'
        '- statistics: None\n- grad: None'
    )
    assert 'statistics: empty' in Variable(A[:0]).debug_print()
    assert 'device: native:0' in Variable(chainerx.array(A)).debug_print()


@pytest.mark.parametrize('data', [[1.0], 1.0, 1, 'x', np.float32(1), object(), (A,)])
def test_data_that_is_no_array(data):
    with pytest.raises(TypeError, match='expected numpy'):
        Variable(data)


def test_arguments():
    with pytest.raises(TypeError):
        Variable(A, 'x')
    with pytest.raises(TypeError):
        Variable(A, foo=1)
    with pytest.raises(ValueError, match='using_config'):
        Variable(A, volatile=True)
    with pytest.raises(ValueError, match='layout'):
        Variable(A, layout=1)


def test_connected_array_needs_a_gradient():
    a = chainerx.array(A).require_grad()
    with pytest.raises(ValueError, match='as_grad_stopped'):
        Variable(a, requires_grad=False)
    assert not Variable(a.as_grad_stopped(), requires_grad=False).requires_grad
    x = Variable(a)
    F.sum(x * 2).backward()
    assert_equal(x.grad, np.full_like(A, 2))
    assert_equal(a.grad, np.full_like(A, 2))


def test_the_users_chainerx_array_stays_out_of_the_graph():
    a = chainerx.array(A)
    F.sum(Variable(a) * 2).backward()
    assert not a.is_backprop_required()
    a += 1  # allowed


def test_not_a_number_and_not_comparable(make):
    x = Variable(make(A))
    with pytest.raises(TypeError, match='bool'):
        bool(x)
    for compare in (
        lambda: x == x,
        lambda: x != x,
        lambda: x < x,
        lambda: x <= 1,
        lambda: x > x,
        lambda: x >= None,
    ):
        with pytest.raises(TypeError, match='do not support'):
            compare()
    with pytest.raises(TypeError, match='unhashable'):
        hash(x)
    with pytest.raises(TypeError):
        len(Variable(make(1.0)))
    with pytest.raises(TypeError):
        float(x)


# ---- None ----


def test_none():
    x = Variable(None)
    assert x.array is None
    assert x.grad is None
    assert x.grad_var is None
    assert x.creator is None
    assert x.rank == 0
    assert x.xp is np
    for name in ('shape', 'dtype', 'ndim', 'size', 'label'):
        with pytest.raises(AttributeError):
            getattr(x, name)
    for use in (len, F.relu, lambda v: v + 1, lambda v: v.backward(), lambda v: v.node):
        with pytest.raises(TypeError, match='uninitialized'):
            use(x)
    x.array = A
    assert x.shape == (2, 3)
    x.array = None
    assert x.array is None
    assert repr(x) == 'variable(None)'


# ---- assignment ----


def test_assign_in_a_graph_numpy():
    # The saved data and the node in the graph stay.
    x = Variable(A.copy())
    y = x * x
    node = x.node
    x.array = A * 10
    assert x.node is node
    y.grad = np.ones_like(A)
    y.backward()
    assert_equal(x.grad, 2 * A)
    x.cleargrad()
    F.sum(x * x).backward()
    assert_equal(x.grad, 20 * A)


def test_assign_to_an_output_numpy():
    x = Variable(A.copy())
    h = x * 3
    h.array = A + 100
    assert h.creator is not None
    y = F.sum(h * h)
    y.backward()
    assert_equal(x.grad, 3 * 2 * (A + 100))


def test_assign_other_shape_and_dtype_numpy():
    x = Variable(A)
    x.array = np.zeros((4,), 'd')
    assert (x.shape, x.dtype) == ((4,), np.float64)
    F.sum(x * x).backward()
    assert x.grad.shape == (4,)


@pytest.mark.parametrize('value', [np.array([object()]), np.zeros((1,) * 20, 'f')])
@pytest.mark.parametrize('seen', [True, False])
def test_assign_an_array_of_an_unsupported_dtype(value, seen):
    x = Variable(A.copy())
    y = x * 2
    before = y.array if seen else None
    y_place = y.node
    with pytest.raises(TypeError, match="can't hold"):
        y.array = value
    assert before is None or y.array is before
    assert_equal(y.array, 2 * A)
    assert y.node is y_place
    F.sum(y * y).backward()
    assert_equal(x.grad, 8 * A)
    y.array = A + 1  # later ones count
    assert_equal((y * 2).array, 2 * (A + 1))


def test_assign_chainerx_is_an_error():
    a = chainerx.array(A)
    x = Variable(a)
    for other in (chainerx.array(A), A):
        with pytest.raises(ValueError, match=r'x.array\[...\] = values'):
            x.array = other
    assert x.array is a
    x.array[...] = 7
    assert_equal(a, np.full_like(A, 7))
    y = Variable(A)
    with pytest.raises(ValueError, match="can't be replaced"):
        y.array = chainerx.array(A)
    free = Variable(a, requires_grad=False)
    other = chainerx.array(A)
    free.array = other
    assert free.array is other


@pytest.mark.parametrize('value', [[1.0], 1.0, Variable(A)])
def test_assign_no_array(value):
    x = Variable(A)
    with pytest.raises(TypeError, match='expected numpy'):
        x.array = value
    assert x.array is A


# ---- gradients ----


def test_grad_is_the_very_object(make):
    x = Variable(make(A))
    g = make(A + 1)
    x.grad = g
    assert x.grad is g
    assert x.grad_var.array is g
    assert x.node.grad is g
    gv = Variable(make(A))
    x.grad_var = gv
    assert x.grad_var is gv
    x.cleargrad()
    assert x.grad is None
    assert x.grad_var is None
    assert Variable(make(A), grad=g).grad is g


def test_bad_gradients(make):
    x = Variable(make(A))
    for bad, error in [
        (make(A[0]), ValueError),
        (make(A.astype('d')), TypeError),
        ([1.0], TypeError),
        (1.0, TypeError),
        (A if isinstance(x.array, chainerx.ndarray) else chainerx.array(A), TypeError),
    ]:
        with pytest.raises(error, match='grad'):
            x.grad = bad
        with pytest.raises(error, match='grad'):
            Variable(make(A), grad=bad)
    with pytest.raises(TypeError, match='grad_var'):
        x.grad_var = A
    with pytest.raises(ValueError, match='shape'):
        x.grad_var = Variable(make(A[0]))
    assert x.grad is None


def test_zerograd_addgrad_copydata(make):
    x, y = Variable(make(A)), Variable(make(A * 2))
    with pytest.warns(DeprecationWarning, match=r'Use Variable\.cleargrad') as caught:
        x.zerograd()
    assert caught[0].filename == __file__
    assert_equal(x.grad, np.zeros_like(A))
    x.addgrad(y)  # without gradient: nothing
    y.grad = make(A)
    x.addgrad(y)
    x.addgrad(y)
    assert_equal(x.grad, 2 * A)
    x.cleargrad()
    x.addgrad(y)
    assert_equal(x.grad, A)
    assert x.grad is not y.grad
    a = x.array
    x.copydata(y)
    assert x.array is a
    assert_equal(a, 2 * A)
    with pytest.raises(TypeError, match='no Parameter'):
        Variable(None).copydata(x)
    Variable(None).copydata(Variable(None))


def test_integer_variables(make):
    x = Variable(make(np.arange(3)))
    y = x + x
    assert y.creator is not None
    assert y.requires_grad
    y.grad = make(np.array([1, 2, 3]))
    y.backward()
    assert_equal(x.grad, [2, 4, 6])
    assert x.grad.dtype == np.int64
    assert F.cast(x, 'f').creator is not None


def test_requires_grad_false(make):
    x = Variable(make(A), requires_grad=False)
    y = F.sum(x * x)
    assert y.creator is not None
    assert not y.requires_grad
    y.backward()
    assert x.grad is None
    z = F.sum(x * Variable(make(A)))
    assert z.requires_grad
    z.backward()
    assert x.grad is None


# ---- unusual arrays ----


def test_read_only():
    a = A.copy()
    a.flags.writeable = False
    x = Variable(a)
    y = F.sum(x * x)
    y.backward()
    assert x.array is a
    assert_equal(x.grad, 2 * A)


@pytest.mark.parametrize('how', ['swapped', 'unaligned', 'strided', 'subclass'])
def test_arrays_in_odd_memory(how):
    if how == 'swapped':
        a = A.astype('>f4')
    elif how == 'unaligned':
        a = np.zeros(25, 'u1')[1:].view('f4').reshape(2, 3)
        a[...] = A
    elif how == 'strided':
        a = np.repeat(A[::-1], 2, axis=1)[::-1, ::2]
    else:
        a = A.view(np.matrix)
    x = Variable(a)
    assert x.array is a
    y = F.sum(F.relu(x) + x)
    assert float(y.array) == 2 * A.sum()
    y.backward()
    assert_equal(x.grad, np.full_like(A, 2))


FOREIGN = {
    'object': np.array([1, 'a', None], dtype=object),
    'structured': np.zeros(3, dtype=[('a', 'f4')]),
    'longdouble': np.zeros(3, dtype='g'),
    'text': np.array(['a']),
    'dates': np.array(['2020-01-01'], dtype='M8[D]'),
    '40 dimensions': np.zeros((1,) * 12, 'f'),
    'masked': np.ma.masked_array(A, mask=A > 3),
}


@pytest.mark.parametrize('array', FOREIGN.values(), ids=FOREIGN)
def test_arrays_that_chainerx_cannot_hold(array):
    x = Variable(array)
    assert x.array is array
    assert x.shape == array.shape
    assert x.dtype == array.dtype
    assert x.grad is None
    for use in (F.relu, lambda v: v + v, lambda v: v * 2, F.sum):
        with pytest.raises(TypeError, match='FunctionNode of your own'):
            use(x)
    assert copy.copy(x).array is array

    class Same(chainer.FunctionNode):
        def forward(self, xs):
            return xs

    (y,) = Same().apply((x,))
    assert y.array is array
    assert y.creator is None


# ---- devices ----


def test_to_device():
    a = A.copy()
    x = Variable(a, grad=A + 1)
    x.to_device('native:0')
    assert x.xp is chainerx
    assert_equal(x.array, A)
    assert_equal(x.grad, A + 1)
    x.to_chx()
    x.from_chx()
    assert isinstance(x.array, np.ndarray)
    assert np.shares_memory(x.array, a)
    x.to_chx()
    x.to_cpu()
    assert isinstance(x.array, np.ndarray)
    x.from_chx()
    x.to_device('@numpy')
    y = x * 2
    with pytest.raises(RuntimeError, match=r'chainer.functions.copy'):
        y.to_device('native:0')
    with pytest.raises(ValueError, match='to_chx'):
        _ = x.chx_array
    x.to_chx()
    F.sum(x * x).backward()
    assert x.chx_array.is_backprop_required()


@pytest.mark.parametrize(
    'other', [A.astype('f8'), np.ones((2, 1), A.dtype)], ids=['dtype', 'shape']
)
def test_a_model_that_was_cast_is_moved_without_its_gradients(other):
    x = chainer.Parameter(0, A.shape)
    x.array = other
    assert x.grad.dtype == A.dtype  # the device of the previous array, as in v7
    for move in (lambda: x.to_device('native:0'), lambda: x.to_device('@numpy'), x.to_chx):
        move()
        assert_equal(x.array, other)
        assert x.grad is None


def test_as_variable_and_as_array(make):
    a = make(A)
    x = chainer.as_variable(a)
    assert x.array is a
    assert not x.requires_grad
    assert chainer.as_variable(x) is x
    assert chainer.as_array(x) is a
    assert chainer.as_array(5) == 5
    connected = chainerx.array(A).require_grad()
    assert chainer.as_variable(connected).requires_grad
    with pytest.raises(TypeError):
        chainer.as_variable(5)


def test_rank_of_a_graph_of_chainerx():
    x = chainerx.ones(2).require_grad()
    deep, short = chainerx.exp(chainerx.exp(x)), x * 2
    for y in (deep * x, x * deep, deep * short, short * deep):
        assert Variable(y).rank == 3
        assert F.relu(Variable(y)).rank == 4


def test_rank_is_that_of_the_longest_path(make):
    x = Variable(make(A))
    deep = F.exp(F.exp(x))
    short = x * 2
    for y in (deep * x, x * deep, F.maximum(deep, short), short * deep, F.stack([x, deep, short])):
        assert y.rank == y.creator.rank + 1 == 3


def test_requires_grad_of_one_input_is_enough(make):
    x, constant = Variable(make(A)), Variable(make(A), requires_grad=False)
    for y in (x * constant, constant * x, F.maximum(x, constant), F.maximum(constant, x)):
        assert y.requires_grad
        x.cleargrad()
        F.sum(y).backward()
        assert x.grad is not None
        assert constant.grad is None
    assert not (constant * constant).requires_grad


@pytest.mark.parametrize('shape', [(3, 2), (2, 1), (1, 3), (6,), (2, 3, 1), ()])
def test_grad_of_another_shape(make, shape):
    x = Variable(make(A))
    x.grad = old = make(A)
    with pytest.raises(ValueError, match='shape of data and grad mismatch'):
        x.grad = make(np.ones(shape, 'f'))
    assert x.grad is old
    with pytest.raises(ValueError, match='shape of data and grad mismatch'):
        x.grad_var = Variable(make(np.ones(shape, 'f')))
    assert x.grad is old


def test_a_type_check_does_not_depend_on_earlier_calls():
    # A shape that no other test uses: checks are cached without the byte order.
    for first in ('>f4', '<f4'):
        shape = (7, 1, 3, 1) if first == '>f4' else (7, 1, 3, 2)
        a, b = np.ones(shape, first), np.ones(shape, first).astype('f')
        for x, y in ((a, b), (b, a)):
            np.testing.assert_array_equal((Variable(x) + y).array, 2)


def test_signatures_of_cpp_methods():
    """Methods written in C++ have signatures, for help() and libraries that inspect them."""

    class Twice(chainer.FunctionNode):
        pass

    def parameters(o):
        return list(inspect.signature(o).parameters)

    keywords = ['name', 'grad', 'requires_grad', 'layout']
    assert parameters(Variable) == ['data', *keywords]
    assert parameters(chainer.variable.VariableNode) == ['variable', 'name']
    assert parameters(chainer.FunctionNode) == parameters(Twice) == []
    for cls in (Variable, chainer.Parameter, chainer.variable.VariableNode, chainer.FunctionNode):
        for name in dir(cls):
            method = getattr(cls, name)
            if callable(method) and not name.startswith('_'):
                assert parameters(method)[0] == 'self', f'{cls.__name__}.{name}'
