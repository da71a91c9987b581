"""Reports of the gradient checkers about wrong gradients and wrong arguments."""

import chainerx as chx
import numpy as np
import pytest


def leaf(values, dtype='float64'):
    return chx.array(np.array(values), dtype).require_grad()


def plain(values, dtype='float64'):
    return chx.array(np.array(values), dtype)


def test_message_names_input_index_and_both_values():
    x, y = leaf([1.0, 2.0]), leaf([[0.0, 0.0], [0.0, 5.0]])

    def func(xs):  # the derivative by the second argument lacks a factor of two
        return [xs[0] * 3.0, xs[1] * xs[1].as_grad_stopped()]

    with pytest.raises(chx.GradientCheckError) as info:
        chx.check_backward(func, [x, y], [plain([1.0, 1.0]), plain(np.ones((2, 2)))], 1e-3)
    text = str(info.value)
    for part in ('check_backward', 'inputs[1]', '1 of 4', '(1, 1)', 'gives 5,', 'give 10', 'eps'):
        assert part in text, part


def test_missing_gradient():
    x = leaf([1.0])
    gy = plain([1.0])
    with pytest.raises(chx.GradientCheckError, match='no gradient'):
        chx.check_backward(lambda xs: [xs[0].as_grad_stopped()], [x], [gy], 1e-3)
    # None is right where the true gradient is zero.
    chx.check_backward(lambda xs: [xs[0].as_grad_stopped() * 0.0], [x], [gy], 1e-3)


def test_nan_is_never_right():
    x = leaf([1.0])
    with pytest.raises(chx.GradientCheckError, match='nan'):
        chx.check_backward(lambda xs: [xs[0] * float('nan')], [x], [plain([1.0])], 1e-3)


def test_only_required_inputs_are_checked():
    x, constant = leaf([2.0]), plain([3.0])
    chx.check_backward(lambda xs: [xs[0] * xs[1]], [x, constant], [plain([1.0])], 1e-3)
    with pytest.raises(chx.ChainerxError, match='require_grad'):
        chx.check_backward(lambda xs: xs, [constant], [plain([1.0])], 1e-3)


@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64', 'complex64', 'complex128'])
def test_dtypes(dtype):
    """As exact as the dtype: eps is a power of two, so that a square has no error of its own."""
    x, gy = leaf([1.0, -2.0], dtype), plain([1.0, 0.5], dtype)
    eps, tol = (2**-7, 1e-6) if dtype in ('float32', 'complex64') else (2**-10, 1e-12)
    if dtype == 'float16':
        eps, tol = 2**-4, 2**-9
    chx.check_backward(lambda xs: [xs[0] * xs[0]], [x], [gy], eps, atol=0, rtol=tol)

    def almost(xs):
        return [xs[0] * xs[0] + (xs[0] - xs[0].as_grad_stopped()) * (10 * tol)]

    with pytest.raises(chx.GradientCheckError):
        chx.check_backward(almost, [x], [gy], eps, atol=0, rtol=tol)


def test_gradients_by_a_real_and_a_complex_input():
    x, z = leaf([1.0, 2.0]), leaf([1 + 2j, 3 - 1j], 'complex128')
    chx.check_backward(
        lambda xs: [xs[0] * xs[1]], [x, z], [plain([1 - 1j, 2j], 'complex128')], 1e-4
    )


def test_second_derivative_by_grad_output():
    x, gy = leaf([1.0, 2.0]), leaf([0.5, 3.0])
    chx.check_double_backward(lambda xs: [xs[0] * xs[0]], [x], [gy], [plain([1.0, 2.0])], 1e-4)
    assert x.grad is None
    assert gy.grad is None

    def wrong(xs):
        return [xs[0] * xs[0] * xs[0].as_grad_stopped()]

    with pytest.raises(chx.GradientCheckError, match=r'check_double_backward: .* inputs\[0\]'):
        chx.check_double_backward(wrong, [x], [gy], [plain([1.0, 2.0])], 1e-4)


def test_backprop_id():
    x = plain([1.0, 2.0])
    with chx.backprop_scope('check') as bid:
        x.require_grad(bid)
        chx.check_backward(
            lambda xs: [xs[0] * xs[0]], [x], [plain([1.0, 1.0])], 1e-4, backprop_id=bid
        )


@pytest.mark.parametrize(
    ('error', 'text', 'func', 'grad_outputs', 'eps'),
    [
        (TypeError, 'func', 3, [plain([1.0])], 1e-3),
        (TypeError, 'result of func', lambda xs: 3, [plain([1.0])], 1e-3),
        (TypeError, 'grad_outputs', lambda xs: xs, [1.0], 1e-3),
        (chx.GradientError, '1 outputs', lambda xs: xs, [], 1e-3),
        (chx.GradientError, r'\(2,\)', lambda xs: xs, [plain([1.0, 2.0])], 1e-3),
        (ValueError, 'eps', lambda xs: xs, [plain([1.0])], []),
        (ValueError, 'eps', lambda xs: xs, [plain([1.0])], 0.0),
        (ValueError, 'too small', lambda xs: xs, [plain([1.0])], 1e-30),
        (chx.DimensionError, r'eps\[0\]', lambda xs: xs, [plain([1.0])], [plain([1.0, 2.0])]),
        (ZeroDivisionError, 'division', lambda xs: 1 / 0, [plain([1.0])], 1e-3),
    ],
)
def test_wrong_arguments(error, text, func, grad_outputs, eps):
    with pytest.raises(error, match=text):
        chx.check_backward(func, [leaf([1.0])], grad_outputs, eps)


def square(xs):
    return [x * x for x in xs]


def wrong(xs):
    """A gradient that lacks a factor of two."""
    return [x * x.as_grad_stopped() for x in xs]


def double(*shape):
    return chx.array(np.linspace(0.5, 2, int(np.prod(shape))).reshape(shape), 'float64')


def test_check_backward():
    x, gy = double(2, 3).require_grad(), double(2, 3)
    eps = chx.full_like(x, 1e-4)
    assert chx.check_backward(square, [x], [gy], [eps]) is None
    with pytest.raises(chx.GradientCheckError):
        chx.check_backward(wrong, [x], [gy], [eps])
    with pytest.raises(chx.GradientCheckError):
        chx.check_backward(square, [x], [gy], [eps], atol=1e-30, rtol=1e-30)
    assert x.grad is None


def test_check_double_backward():
    x, gy, ggx = double(2, 3).require_grad(), double(2, 3).require_grad(), double(2, 3)
    eps = [chx.full_like(x, 1e-4)] * 2

    def cube(xs):
        return [x * x * x for x in xs]

    def wrong_second(xs):
        return [x * x * x + (x - x.as_grad_stopped()) * x.as_grad_stopped() for x in xs]

    assert chx.check_double_backward(cube, [x], [gy], [ggx], eps) is None
    with pytest.raises(chx.GradientCheckError):
        chx.check_double_backward(wrong_second, [x], [gy], [ggx], eps)
