"""`chainer.gradient_check`: correct gradients pass, wrong ones are detected and named."""

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
import numpy as np
import pytest
from chainer import gradient_check, testing
from chainer.gradient_check import NondifferentiableError, numerical_grad
from devices import DEVICES

G1 = np.ones(2, 'f')


@pytest.fixture(autouse=True)
def seed():
    np.random.seed(0)


@pytest.fixture(params=DEVICES)
def device(request):
    return chainer.get_device(request.param)


# numerical_grad


@pytest.mark.parametrize('dtype', ['f2', 'f4', 'f8'])
@pytest.mark.parametrize('detect', [False, True])
def test_numerical_grad(device, dtype, detect):
    a, b = (device.send(np.array(v, dtype)) for v in ([[1.0, 2.0], [3.0, 0.5]], [-1.0, 2.0]))
    before = [chainer.backend.CpuDevice().send(x).copy() for x in (a, b)]
    eps = 1e-1 if dtype == 'f2' else 1e-2
    ga, gb = numerical_grad(
        lambda: (a * a * b, b * 2),
        (a, b),
        (device.send(np.full((2, 2), 3, dtype)), device.send(np.array([5, 7], dtype))),
        eps=eps,
        detect_nondifferentiable=detect,
        diff_rtol=1e-1,
    )
    assert isinstance(ga, device.supported_array_types)
    assert ga.dtype == gb.dtype == np.dtype(dtype)
    assert (ga.shape, gb.shape) == ((2, 2), (2,))
    tolerance = {'f2': 3e-2, 'f4': 1e-4, 'f8': 1e-9}[dtype]
    x, y = before
    testing.assert_allclose(ga, 6 * x * y, atol=tolerance, rtol=tolerance)
    expected = 3 * (x * x).sum(axis=0) + np.array([10, 14])
    testing.assert_allclose(gb, expected, atol=tolerance, rtol=tolerance)
    for x, y in zip((a, b), before, strict=True):  # restored to the bit
        np.testing.assert_array_equal(chainer.backend.CpuDevice().send(x), y)


def test_numerical_grad_divides_by_the_distance_really_moved():
    x = np.array(2.0, 'f2')  # whose neighbours are further than eps away on one side
    (gx,) = numerical_grad(lambda: (x.astype('f8') ** 2,), (x,), (np.array(1.0),))
    assert abs(gx - 4) < 5e-3


@pytest.mark.parametrize(
    'x',
    [
        np.arange(6.0).reshape(2, 3).T[::-1],
        np.broadcast_to(np.arange(3.0), (2, 3)).copy(),
        np.array(3.0),
        np.zeros((0, 3)),
    ],
)
def test_numerical_grad_layouts(x):
    (gx,) = numerical_grad(lambda: (x**2,), (x,), (np.ones(x.shape),))
    np.testing.assert_allclose(gx, 2 * x, atol=1e-9)


def test_numerical_grad_outputs_to_leave_out():
    x = np.array([1.0, 2.0])
    for ys, gys in (((x * x, None), (G1, None)), ((x * x, x), (G1, None))):
        (gx,) = numerical_grad(lambda: (x * x, *ys[1:]), (x,), gys)  # noqa: B023
        np.testing.assert_allclose(gx, [2, 4])
    assert numerical_grad(lambda: (x,), (), (G1,)) == ()
    (gx,) = numerical_grad(lambda: (x * x,), (x,), (2.0,))
    np.testing.assert_allclose(gx, [4, 8])


@pytest.mark.parametrize('detect', [False, True])
def test_numerical_grad_of_outputs_that_are_inputs(detect):
    x = np.array([1.0, 2.0])
    (gx,) = numerical_grad(
        lambda: (x, x[::-1]), (x,), (G1, 2 * G1), detect_nondifferentiable=detect
    )
    np.testing.assert_allclose(gx, [3, 3])


def test_numerical_grad_counts_calls():
    x = np.array([1.0, 2.0])
    calls = []

    def f():
        calls.append(None)
        return (x * x,)

    for kwargs, n in (
        ({}, 4),
        ({'detect_nondifferentiable': True}, 9),
        ({'detect_nondifferentiable': True, 'center_outputs': (x * x,)}, 8),
    ):
        calls.clear()
        numerical_grad(f, (x,), (G1,), **kwargs)
        assert len(calls) == n


@pytest.mark.parametrize(
    ('ys', 'gys', 'kwargs'),
    [
        (lambda x: x * x, (G1,), {}),
        (lambda x: (x, x), (G1,), {}),
        (lambda x: (x,), (G1, G1), {}),
        (lambda x: (x,), (np.ones(3),), {}),
        (lambda x: (x,), (np.ones(1),), {}),
        (lambda x: (x, None), (G1, G1), {}),
        (lambda x: (x,), (G1,), {'eps': 0}),
        (lambda x: (x,), (G1,), {'eps': -1e-3}),
        (lambda x: (x,), (G1,), {'eps': 1e-30}),
    ],
)
def test_numerical_grad_invalid(ys, gys, kwargs):
    x = np.array([1.0, 2.0])
    with pytest.raises(AssertionError):
        numerical_grad(lambda: ys(x), (x,), gys, **kwargs)
    assert x.tolist() == [1, 2]


@pytest.mark.parametrize('detect', [False, True])
def test_numerical_grad_of_python_numbers(detect):
    x = np.array([0.5], 'f')
    for gy in (1, np.ones((), 'f')):
        for f, expected in (
            (lambda: (0,), 0),
            (lambda: (3.5,), 0),
            (lambda: (float(x[0] * 2),), 2),
        ):
            (gx,) = numerical_grad(f, (x,), (gy,), detect_nondifferentiable=detect)
            testing.assert_allclose(gx, [expected])
    with pytest.raises(AssertionError, match=r'output 0 has shape \(\), its gradient \(2,\)'):
        numerical_grad(lambda: (0,), (x,), (G1,), detect_nondifferentiable=detect)


@pytest.mark.parametrize('detect', [False, True])
@pytest.mark.parametrize('value', [np.inf, -np.inf, np.nan])
def test_numerical_grad_at_non_finite_points(device, value, detect):
    x, gy = device.send((np.array([value], 'f'), np.ones(1, 'f')))
    gxs = [
        numerical_grad(f, (x,), (gy,), detect_nondifferentiable=detect)[0]
        for f in (lambda: (x * 2,), lambda: (gy,))
    ]
    testing.assert_allclose(gxs[0], [np.nan])
    testing.assert_allclose(gxs[1], [0])
    testing.assert_allclose(x, [value])


def test_numerical_grad_of_integers():
    for x in (np.array([1, 2]), None):
        with pytest.raises(RuntimeError, match='kind of float'):
            numerical_grad(lambda: (x,), (x,), (G1,))  # noqa: B023


def test_numerical_grad_restores_after_errors():
    x = np.array([1.0, 2.0])

    def f():
        if x[0] != 1:
            raise KeyError
        return (x,)

    with pytest.raises(KeyError):
        numerical_grad(f, (x,), (G1,))
    assert x.tolist() == [1, 2]


@pytest.mark.parametrize('dtype', ['f4', 'f8'])
@pytest.mark.parametrize(
    ('f', 'smooth', 'rough'),
    [
        (np.abs, [0.5, -1], [0, 1e-4, -5e-4]),
        (lambda x: np.maximum(x, 0) ** 2, [0.5, -1, 1.1e-3], [0, 3e-4]),
        (lambda x: (x > 0) * np.float32(1), [0.5, -1], [0, 5e-4]),
        (lambda x: 1 / np.maximum(x, 0), [0.5, -1], [0, 5e-4]),
        (lambda x: np.sqrt(x), [0.5, -1], [0, 5e-4]),
        (lambda x: x + 1e6, [0.5, -1], []),
        (lambda x: 0 * x + np.float32(0.1), [0.5, -1], []),
    ],
)
@pytest.mark.filterwarnings('ignore')
def test_detect_nondifferentiable(f, smooth, rough, dtype):
    def grad(value):
        # A smooth neighbour must not hide the point.
        x = np.array([0.7, value], dtype)
        return numerical_grad(lambda: (f(x),), (x,), (G1,), detect_nondifferentiable=True)

    for value in smooth:
        grad(value)
    for value in rough:
        with pytest.raises(NondifferentiableError) as info:
            grad(value)
        for part in ('non-differentiable point', 'i_in: 0', 'i_out: 0', 'index on x: (1,)', 'eps:'):
            assert part in str(info.value)


def test_detection_makes_it_more_accurate():
    x = np.array([1.0, 2.0])
    errors = []
    for detect in (False, True):
        (gx,) = numerical_grad(
            lambda: (np.exp(x),), (x,), (G1,), eps=1e-2, detect_nondifferentiable=detect
        )
        errors.append(abs(gx - np.exp(x)).max())
    assert errors[1] < errors[0] / 1000


def test_class_of_error():
    assert NondifferentiableError.__module__ == 'chainer.gradient_check'
    assert not issubclass(NondifferentiableError, AssertionError)


# check_backward


class Square(chainer.FunctionNode):
    """x * x, with several wrong gradients."""

    def __init__(self, what='right'):
        self.what = what

    def forward(self, inputs):
        self.retain_inputs((0,))
        return (inputs[0] * inputs[0],)

    def backward(self, indexes, grad_outputs):
        (x,) = self.get_retained_inputs()
        gx = grad_outputs[0] * x * 2
        if self.what == 'one element':
            mask = np.ones(x.shape, x.dtype)
            mask[-1] = 1.01
            gx = gx * x.xp.asarray(mask)
        return {
            'right': lambda: (gx,),
            'one element': lambda: (gx,),
            'factor': lambda: (gx * 1.5,),
            'sign': lambda: (-gx,),
            'nan': lambda: (gx * float('nan'),),
            'none': lambda: (None,),
            'constant': lambda: (chainer.Variable(gx.array),),
            'constant x': lambda: (grad_outputs[0] * x.array * 2,),
            'raises': lambda: 1 // 0,
        }[self.what]()


def square(what):
    return lambda x: Square(what).apply((x,))[0]


X = np.array([1.0, 2.0, -3.0], 'f')
GY = np.array([0.5, -1.0, 2.0], 'f')


def send(device, *arrays):
    sent = tuple(None if a is None else device.send(a) for a in arrays)
    return sent if len(sent) > 1 else sent[0]


def test_right_gradients(device):
    x, gy = send(device, X, GY)
    for dtype in (None, 'f4', np.float64):
        tolerance = {'atol': 1e-5, 'rtol': 1e-4} if dtype == np.float64 else {'atol': 5e-3}
        gradient_check.check_backward(square('right'), x, gy, dtype=dtype, **tolerance)
        gradient_check.check_backward(lambda x: [x * x], [x], [gy], dtype=dtype, **tolerance)
        gradient_check.check_double_backward(square('right'), x, gy, gy, dtype=dtype, **tolerance)


def test_integers_have_no_gradient(device):
    x, gy, i = send(device, X.astype('f8'), GY.astype('f8'), np.array([3, -1, 2]))

    def function(x, i):
        assert i.dtype.kind == 'i'
        return i * x * x if device.xp is chainerx else F.cast(i, x.dtype) * x * x

    ggx = send(device, np.array([0.5, 2.0, -1.0]))
    gradient_check.check_backward(function, (x, i), gy)
    gradient_check.check_double_backward(function, (x, i), gy, (ggx, None))


@pytest.mark.filterwarnings('error')
@pytest.mark.parametrize('value', [np.nan, np.inf])
def test_gradients_at_non_finite_points(device, value):
    """At non-finite points differences are NaN, and the check must not pass silently."""
    x, gy = send(device, np.array([1.0, value, -3.0]), GY.astype('f8'))
    with np.errstate(all='ignore'):
        gradient_check.check_backward(lambda x: F.sin(x) if np.isinf(value) else x * x, x, gy)
        for function in (lambda x: x * 2, lambda x: F.where(F.cast(x, '?'), x * 3, x)):
            with pytest.raises(AssertionError, match=r'numeric nan, backward [-0-9]'):
                gradient_check.check_backward(function, x, gy)


@pytest.mark.parametrize('dtype', [None, np.float64])
@pytest.mark.parametrize('what', ['factor', 'sign', 'nan', 'none', 'one element'])
def test_wrong_gradients(device, what, dtype):
    x, gy = send(device, X, GY)
    with pytest.raises(AssertionError) as info:
        gradient_check.check_backward(square(what), x, gy, dtype=dtype)
    message = str(info.value)
    assert message.startswith(
        'check_backward failed (eps=0.001 atol=1e-05 rtol=0.0001)\ninputs[0]:'
    )
    for part in (
        'grad_outputs[0]:',
        'directions[0]:',
        'gradients (numeric):  ',
        'gradients (backward): ',
        'x: numeric gradient, y: backward gradient',
        'inputs[0]: numeric',
        'DIFFERS',
        'inputs[0][2]: numeric -1',  # 2 * -3 * 2
    ):
        assert part in message, message
    assert ('inputs[0][0]' in message) == (what != 'one element')
    assert ('gave no gradient (None)' in message) == (what == 'none')


def test_the_wrong_input_is_named(device):
    def f(x, w, b):
        return Square('factor').apply((w,))[0] * x + b

    x, gy = send(device, X, GY)
    with pytest.raises(AssertionError) as info:
        gradient_check.check_backward(f, (x, x, x), gy, dtype='d')
    lines = [line for line in str(info.value).splitlines() if ']: numeric ' in line]
    assert [('DIFFERS' in line) for line in lines if not line.startswith(' ')] == [
        False,
        True,
        False,
    ]
    assert all('inputs[1]' in line for line in lines if line.startswith(' '))


@pytest.mark.parametrize('what', ['constant', 'constant x'])
def test_wrong_second_gradients(device, what):
    x, gy = send(device, X, GY)
    gradient_check.check_backward(square(what), x, gy, dtype='d')
    with pytest.raises(AssertionError) as info:
        gradient_check.check_double_backward(square(what), x, gy, gy, dtype='d')
    message = str(info.value)
    assert message.startswith('check_double_backward failed (eps=0.001 atol=0.0001 rtol=0.001)')
    assert 'grad_outputs[0]: numeric' in message
    differs = [line for line in message.splitlines() if 'DIFFERS' in line]
    assert any(line.startswith('inputs[0]') for line in differs)
    assert any(line.startswith('grad_outputs[0]') for line in differs) == (what == 'constant')


def test_missing_first_gradient():
    with pytest.raises(AssertionError, match=r'inputs\[0\] has no first gradient'):
        gradient_check.check_double_backward(square('none'), X, GY, GY)


def test_errors_of_the_function_come_through(device):
    x, gy = send(device, X, GY)
    with pytest.raises(ZeroDivisionError):
        gradient_check.check_backward(square('raises'), x, gy)
    with pytest.raises(ZeroDivisionError):
        gradient_check.check_double_backward(square('raises'), x, gy, gy)


def test_detached_inputs(device):
    x, gy = send(device, X, GY)
    with pytest.raises(AssertionError, match=r'inputs\[1\]: backward gave no gradient'):
        gradient_check.check_backward(lambda a, b: a * b.array, (x, x), gy, dtype='d')
    with pytest.raises(AssertionError, match='gave no gradient'):
        gradient_check.check_backward(lambda a: chainer.Variable(a.array * 2), x, gy)
    # An unused one is correct.
    gradient_check.check_backward(lambda a, b: a * a, (x, x), gy, dtype='d')


def test_losses_and_missing_gradients_of_outputs(device):
    x, gy = send(device, X, GY)
    gradient_check.check_backward(lambda x: F.sum(x * x), x, None, dtype='d')
    gradient_check.check_double_backward(lambda x: F.sum(x * x), x, None, gy, dtype='d')
    with pytest.raises(ValueError, match=r'cannot be omitted.*\n.*\(3,\)'):
        gradient_check.check_backward(square('right'), x, None)

    def two(x):
        return Square('factor').apply((x,))[0], x * 3

    gradient_check.check_backward(two, x, (None, gy), dtype='d')
    gradient_check.check_double_backward(two, x, (None, gy), gy, dtype='d')
    with pytest.raises(AssertionError):
        gradient_check.check_backward(two, x, (gy, None), dtype='d')


def test_outputs_that_are_inputs_or_the_same(device):
    x, gy = send(device, X, GY)
    for f in (lambda x: (x, x), lambda x: (lambda y: (y, y))(x * x), lambda x: (x * x, x)):
        gradient_check.check_backward(f, x, (gy, gy), dtype='d')
        gradient_check.check_double_backward(f, x, (gy, gy), gy, dtype='d')


def test_inputs_without_gradient(device):
    x, gy = send(device, X, GY)
    i = device.send(np.array([1, 2, 3], 'i'))

    def f(a, b, c):
        assert c is None
        return a * a * b.array

    for x_data in ((x, i, None),):
        gradient_check.check_backward(f, x_data, gy, dtype='d')
        for gg in ((gy, None, None), gy):
            gradient_check.check_double_backward(f, x_data, gy, gg, dtype='d')
    # With integers only there is nothing to check, and it passes.
    gradient_check.check_backward(lambda i: chainer.Variable(i.array.astype('f')) * 2, i, gy)


def test_no_grads(device):
    x, gy = send(device, X, GY)
    gradient_check.check_backward(
        lambda a, b: a * b.array, (x, x), gy, no_grads=[False, True], dtype='d'
    )
    for no_grads in ([False, True], [False, True, False]):
        gradient_check.check_double_backward(
            lambda a, b: a * a * b.array, (x, x), gy, gy, no_grads=no_grads, dtype='d'
        )
    with pytest.raises(RuntimeError, match=r'inputs\[1\] has a gradient'):
        gradient_check.check_backward(lambda a, b: a * b, (x, x), gy, no_grads=[False, True])
    with pytest.raises(ValueError, match='Length of no_grads'):
        gradient_check.check_backward(lambda a, b: a * b, (x, x), gy, no_grads=[True])


def test_params(device):
    x, gy, w = send(device, X, GY, np.array([3.0, 4.0, 5.0], 'f'))
    for p in (chainer.Parameter(w), chainer.Variable(w)):
        array = p.array
        p.grad = gy
        for dtype in (None, 'd'):
            # Sums of float32 near 100 have an error of 1e-5, which is divided by 2 * eps.
            eps, atol = (1e-3, 1e-5) if dtype else (1e-2, 5e-3)
            gradient_check.check_backward(
                lambda x: x * p * p,  # noqa: B023
                x,
                gy,
                params=p,
                dtype=dtype,
                eps=eps,
                atol=atol,
            )
            gradient_check.check_double_backward(
                lambda x: x * p * p * x,  # noqa: B023
                x,
                gy,
                gy,
                params=(p,),
                params_grad_grad=gy,
                dtype=dtype,
                eps=eps,
                atol=atol * 10,
            )
        # It is not modified.
        assert p.dtype == np.float32
        testing.assert_allclose(p.array, [3, 4, 5], atol=0, rtol=0)
        testing.assert_allclose(p.grad, GY, atol=0, rtol=0)
        assert device.xp is not np or p.array is array
        with pytest.raises(AssertionError, match=r'params\[0\]: numeric .* DIFFERS'):
            gradient_check.check_backward(
                lambda x: x * Square('factor').apply((p,))[0],  # noqa: B023
                x,
                gy,
                params=p,
                dtype='d',
            )
        testing.assert_allclose(p.array, [3, 4, 5], atol=0, rtol=0)


LINKS = {
    'linear': (lambda: L.Linear(3, 2), (4, 3)),
    'convolution': (lambda: L.Convolution2D(1, 2, 2), (2, 1, 3, 3)),
    'batch statistics': (lambda: L.BatchNormalization(3), (4, 3)),
    'steps': (lambda: L.NStepGRU(1, 3, 2, 0.0), (4, 3)),
    'scale': (lambda: L.Scale(1, (3,)), (4, 3)),
}


@pytest.mark.parametrize('name', LINKS)
def test_arrays_not_named_keep_their_dtype(device, name):
    """Parameters and statistics not passed to the check stay in float32."""
    make, shape = LINKS[name]
    link = make().to_device(device)
    x = device.send(np.random.uniform(-1, 1, shape).astype('f'))

    def forward(x):
        with chainer.using_config('train', False):
            return link(None, [x])[0] if name == 'steps' else link(x)

    gy = device.send(np.random.uniform(-1, 1, forward(x).shape).astype('f'))
    for params in ((), next(link.params())):
        gradient_check.check_backward(forward, x, gy, params, dtype='d', atol=1e-4, rtol=1e-3)
        gradient_check.check_double_backward(
            lambda x: forward(x) ** 2, x, gy, x, params, dtype='d', atol=1e-3, rtol=1e-3
        )
    assert all(p.dtype == np.float32 for p in link.params())
    # Types are checked as usual outside the differences.
    with pytest.raises(chainer.utils.type_check.InvalidType):
        gradient_check.check_backward(lambda x: F.concat([x, x[None]]), x, gy)


def test_params_that_the_first_call_initializes(device):
    x, gy = send(device, np.array([X, GY]), np.array([X, -GY])[:, :2].copy())
    for check in (
        lambda link: gradient_check.check_backward(link, x, gy, (link.W, link.b), dtype='d'),
        lambda link: gradient_check.check_double_backward(
            lambda x: link(x) ** 2, x, gy, x, (link.W, link.b), dtype='d'
        ),
    ):
        link = L.Linear(None, 2).to_device(device)
        check(link)
        assert link.W.shape == (2, 3)


def test_second_gradients_of_outputs_of_another_dtype(device):
    x, gy = send(device, X, GY)
    for dtype in ('f2', 'f4', 'f8'):
        tolerance = {'atol': 0.1, 'eps': 0.125} if dtype == 'f2' else {'atol': 1e-3}

        def f(x, dtype=dtype):
            return F.cast(x, dtype) ** 2

        gradient_check.check_double_backward(f, x, gy.astype(dtype), x, dtype='d', **tolerance)
        with pytest.raises(AssertionError, match='DIFFERS'):
            gradient_check.check_double_backward(
                lambda x: F.cast(Square('constant x').apply((x,))[0], dtype),  # noqa: B023
                x,
                gy.astype(dtype),
                x,
                dtype='d',
                **tolerance,
            )
    # A gradient in another dtype than the output's is cast to it.
    gradient_check.check_double_backward(lambda x: x * x, x, gy.astype('d'), x, dtype='d')


def test_wrong_second_gradients_of_params(device):
    x, gy, w = send(device, X, GY, np.array([3.0, 4.0, 5.0], 'f'))
    p = chainer.Parameter(w)
    with pytest.raises(AssertionError, match=r'params\[0\]: numeric .* DIFFERS'):
        gradient_check.check_double_backward(
            lambda x: x * x * Square('constant x').apply((p,))[0],
            x,
            gy,
            gy,
            params=p,
            params_grad_grad=gy,
            dtype='d',
        )


@pytest.mark.parametrize(
    ('error', 'match', 'args', 'kwargs'),
    [
        (ValueError, 'equally as many', (lambda x: x * x, X, (GY, GY)), {}),
        (ValueError, r'do not match.*\n.*\(3,\):float32\n.*\(2,\)', (lambda x: x * x, X, G1), {}),
        (ValueError, 'do not match', (lambda x: x * x, X, GY.astype('d')), {}),
        (ValueError, 'only float', (lambda x: x * x, X, GY), {'dtype': 'i'}),
        (TypeError, r'x_data\[0\]', (lambda x: x * x, chainer.Variable(X), GY), {}),
        (TypeError, r'x_data\[1\]', (lambda x, y: x * x, (X, 2.0), GY), {}),
        (TypeError, r'params\[0\]', (lambda x: x * x, X, GY), {'params': X}),
        (ValueError, 'not init', (lambda x: x * x, X, GY), {'params': chainer.Parameter()}),
        (TypeError, 'must be a Variable', (lambda x: x.array, X, GY), {}),
        (TypeError, 'must be a Variable', (lambda x: (x * x, None), X, (GY, None)), {}),
        (AssertionError, 'eps', (lambda x: x * x, X, GY), {'eps': 0}),
        (ValueError, 'too small for float32', (lambda x: x * x, X, GY), {'eps': 1e-9}),
    ],
)
def test_invalid(error, match, args, kwargs):
    with pytest.raises(error, match=match):
        gradient_check.check_backward(*args, **kwargs)


def test_invalid_second(device):
    x, gy, g1 = send(device, X, GY, G1)
    for error, ggx in ((ValueError, (gy, gy)), (ValueError, g1)):
        with pytest.raises(error):
            gradient_check.check_double_backward(lambda x: x * x, x, gy, ggx)


def test_shapes(device):
    for shape in ((), (1,), (0, 2), (2, 3, 4)):
        x, gy = send(device, np.full(shape, 2, 'f'), np.ones(shape, 'f'))
        gradient_check.check_backward(lambda x: x * x, x, gy, dtype='d')
        gradient_check.check_double_backward(lambda x: x * x, x, gy, gy, dtype='d')


def test_check_backward_at_a_kink(device):
    for value, smooth in ((0.0, False), (1.0, True)):
        x, gy = send(device, np.array([value, 1.0], 'f'), G1)

        def check(x=x, gy=gy, **kwargs):
            gradient_check.check_backward(abs, x, gy, detect_nondifferentiable=True, **kwargs)
            gradient_check.check_double_backward(
                lambda x: abs(x) * x, x, gy, gy, detect_nondifferentiable=True, **kwargs
            )

        if smooth:
            check(dtype='d')
        else:
            with pytest.raises(NondifferentiableError):
                check(dtype='d')


def test_backprop_is_on_inside():
    with chainer.no_backprop_mode(), pytest.raises(AssertionError):
        gradient_check.check_backward(square('factor'), X, GY)


def test_unit_vectors():
    sample = gradient_check._CheckBackward._sample_unit_vector
    for size in (1, 2, 3, 10, 1000):
        vectors = np.array([sample(size, np) for _ in range(100)])
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1)
        assert np.abs(vectors).min() * np.sqrt(size) >= 0.1
        assert (vectors < 0).any()
        assert (vectors > 0).any()
    assert sample(0, np).shape == (0,)
