"""Runs that are captured: the same bits as runs of the operators, whatever changes in between."""

import itertools
import pathlib
import threading
import warnings

import chainerx
import numpy as np
import pytest
from chainerx.onnx import load
from onnx import helper, numpy_helper
from onnx_models import TensorProto, branches, digits, info, light, make, node

#: Runs of one kind of inputs until one of them is a replay: two as they are, then those of a
#: capture, which may record once more as caches fill.
RUNS = 8
NETS = sorted((pathlib.Path(__file__).parent / 'torch_nets').glob('*.npz'))


@pytest.fixture(autouse=True)
def no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        yield


@pytest.fixture
def host():
    return chainerx.get_device('native:0')


def listed(outputs):
    return list(outputs) if isinstance(outputs, tuple) else [outputs]


def bits(outputs):
    arrays = [chainerx.to_numpy(y) for y in listed(outputs)]
    return [(y.dtype, y.shape, y.tobytes()) for y in arrays]


def replays(model):
    return sum(v.replays for v in model.captures())


def check(model, *xs, runs=RUNS):
    """Runs of the model, of which the last is a replay."""
    first = bits(model(*xs))
    for _ in range(runs - 1):
        before = replays(model)
        assert bits(model(*xs)) == first
    assert replays(model) == before + 1, model.captures()


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype('f')


def perceptron(device, **kwargs):
    return load(digits(), device, **kwargs), chainerx.array(random(5, 2, 3), device=device)


@pytest.mark.parametrize('exporter', ['script', 'dynamo'])
@pytest.mark.parametrize('file', NETS, ids=lambda f: f.stem)
def test_networks(file, exporter, device):
    with np.load(file) as data:
        arrays = dict(data)
    model = load(arrays[exporter].tobytes(), device)
    for batch in 'aba':
        xs = [
            chainerx.array(v, device=device)
            for k, v in arrays.items()
            if k.startswith(f'{batch}/x')
        ]
        first = bits(model(*xs))
        for _ in range(RUNS - 1):
            assert bits(model(*xs)) == first
    if file.stem == 'Detector':  # how many boxes remain is a value
        assert replays(model) == 0
        assert ['value' in v.reason for v in model.captures()] == [True]
    elif device.backend.name == 'native':
        assert len(model.captures()) == 2
        assert replays(model) >= 12


@pytest.mark.parametrize('name', ['test_shufflenet', 'test_squeezenet'])
def test_real_networks(name, host):
    if name not in light():
        pytest.skip('the package onnx comes without it')
    model = load(light()[name][1], host)
    (x,) = (i for i in model.inputs if i.required)
    check(model, chainerx.array(random(*x.shape), device=host))


def test_shapes_alternate_and_few_are_kept(host):
    model = load(digits(), host)
    plain = load(digits(), host, captures=0)
    xs = [chainerx.array(random(n, 2, 3, seed=n), device=host) for n in range(1, 8)]
    for _ in range(RUNS):
        for x in xs[:4]:
            assert bits(model(x)) == bits(plain(x))
    assert len(model.captures()) == 4
    assert replays(model) >= 12
    for _ in range(RUNS):
        for x in xs[4:]:
            assert bits(model(x)) == bits(plain(x))
    assert len(model.captures()) == 4
    assert plain.captures() == []
    with pytest.raises(ValueError, match=r'captures is -1, expected at least 0'):
        load(digits(), host, captures=-1)


def test_arguments_are_other_arrays(host):
    model, x = perceptron(host)
    plain = load(digits(), host, captures=0)
    check(model, x)
    before = replays(model)
    for seed in range(1, 5):
        x = chainerx.array(random(5, 2, 3, seed=seed), device=host)
        assert bits(model(x)) == bits(plain(x))
    array = random(5, 2, 3, seed=9)
    assert bits(model(array)) == bits(plain(array))  # memory of NumPy
    assert replays(model) == before + 5
    strided = chainerx.array(random(3, 2, 5), device=host).transpose(2, 1, 0)
    for _ in range(RUNS):
        assert bits(model(strided)) == bits(plain(strided))
    assert len(model.captures()) == 2


def replace(model):
    model.set_parameter('w1', -model.parameters['w1'])


def write(model):
    model.parameters['w2'][...] = 3


def write_by_numpy(model):
    np.asarray(model.parameters['b1'])[...] += 1


def require(model):
    for p in model.parameters.values():
        p.require_grad()


@pytest.mark.parametrize('change', [replace, write, write_by_numpy, require])
def test_parameters_change(change, host):
    model, x = perceptron(host)
    plain = load(digits(), host, captures=0)
    for _ in range(3):
        check(model, x)
        change(model)
        change(plain)
        assert bits(model(x)) == bits(plain(x))
        if change is require:
            break


def test_memory_that_others_write_to(host):
    model, x = perceptron(host)
    memory = random(3, 4)
    model.set_parameter('w2', chainerx.asarray(memory, device=host))
    check(model, x)
    for _ in range(3):
        memory *= -1.5
        before = replays(model)
        y = chainerx.to_numpy(model(x))
        assert replays(model) == before + 1
        plain = load(digits(), host, captures=0)
        plain.set_parameter('w2', chainerx.array(memory, device=host))
        np.testing.assert_array_equal(y, chainerx.to_numpy(plain(x)))


def test_gradients_are_asked_for(host):
    model, x = perceptron(host)
    check(model, x)
    expected = bits(model(x))
    before = replays(model)
    leaf = x.as_grad_stopped(copy=True).require_grad()
    for _ in range(2):
        y = model(leaf)
        assert bits(y) == expected
        y.sum().backward()
    assert leaf.grad is not None
    assert replays(model) == before
    require(model)
    model(x).sum().backward()
    assert all(p.grad is not None for p in model.parameters.values())
    with chainerx.no_backprop_mode():
        check(model, x)
        assert not model(x).is_backprop_required()
    grads = [bits(p.grad) for p in model.parameters.values()]
    assert grads == [bits(p.grad) for p in model.parameters.values()]


def test_results_are_the_callers(host):
    model, x = perceptron(host)
    check(model, x)
    y, other = model(x), model(x)
    expected = bits(y)
    y[...] = 0
    assert bits(other) == expected
    assert bits(model(x)) == expected


def test_an_input_is_a_parameter(host):
    nodes = [node('Mul', ['x', 'w'], ['y'])]
    file = make(nodes, [info('x', [3])], [info('y', [3])], {'w': np.arange(3, dtype='f')})
    model = load(file, host)
    w = model.parameters['w']
    for x in [w, chainerx.ones(3, 'f', host), w[:]] * RUNS:
        np.testing.assert_array_equal(chainerx.to_numpy(model(x)), chainerx.to_numpy(x * w))
    assert replays(model) > 0


def test_two_inputs_share_memory(host):
    nodes = [node('Sub', ['a', 'b'], ['y'])]
    model = load(make(nodes, [info(n, [4]) for n in 'ab'], [info('y', [4])]), host)
    x = chainerx.arange(8, dtype='f', device=host)
    for a, b in [(x[:4], x[4:]), (x[:4], x[:4]), (x[:4], x[2:6])] * RUNS:
        assert bits(model(a, b)) == bits(a - b)


def test_outputs_that_are_inputs_or_constants(host):
    nodes = [
        node('Identity', ['x'], ['same']),
        node('Shape', ['x'], ['shape']),
        node('ConstantOfShape', ['shape'], ['zeros']),
        node('Exp', ['w'], ['e']),
        node('Add', ['x', 'e'], ['y']),
        node('Transpose', ['y'], ['t']),
    ]
    outputs = [
        info(n, None, TensorProto.INT64 if n == 'shape' else TensorProto.FLOAT)
        for n in ('same', 'shape', 'zeros', 'e', 'y', 't')
    ]
    model = load(make(nodes, [info('x', [2, None])], outputs, {'w': np.float32(1)}), host)
    for n in (3, 4):
        x = chainerx.array(random(2, n), device=host)
        check(model, x)
        results = model(x)
        expected = bits(results)
        for y in results[1:4]:
            y[...] = 7
        assert bits(model(x)) == expected
        assert chainerx.to_numpy(results[0]).tobytes() == chainerx.to_numpy(x).tobytes()


def test_threads(host):
    model, _ = perceptron(host)
    plain = load(digits(), host, captures=0)
    xs = [chainerx.array(random(n, 2, 3, seed=i), device=host) for i in range(4) for n in (1, 5)]
    expected = [bits(plain(x)) for x in xs]
    errors = []

    def run(first):
        try:
            for i in range(100):
                k = (first + i) % len(xs)
                assert bits(model(xs[k])) == expected[k]
                if i == 50 and first == 0:
                    model.set_parameter('b1', model.parameters['b1'].copy())
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert errors == []
    assert replays(model) > 0


def test_random_numbers_go_on(host):
    nodes = [
        node('RandomNormalLike', ['x'], ['r']),
        node('Constant', [], ['yes'], value=numpy_helper.from_array(np.array(True))),
        node('Dropout', ['x', '', 'yes'], ['d']),
        node('Add', ['r', 'd'], ['y']),
    ]
    file = make(nodes, [info('x', [None])], [info('y', None)])
    x = chainerx.ones(50, 'f', host)
    runs = []
    for captures in (4, 0):
        model = load(file, host, captures=captures)
        chainerx.random.seed(3)
        runs.append([bits(model(x)) for _ in range(RUNS)])
        assert (replays(model) > 0) == (captures > 0)
        chainerx.random.seed(3)
        assert bits(model(x)) == runs[-1][0]
    assert runs[0] == runs[1]
    assert len({str(r) for r in runs[0]}) == RUNS


def test_values_that_steps_look_at(host):
    """A branch that hangs on an input is not replayed, and the model runs as it is."""
    model = load(branches(), host)
    x = chainerx.array(random(2), device=host)
    for flag, n in [(True, 3), (False, 2), (True, 1)] * RUNS:
        y, steps = model(x, flag, np.int64(n))
        a = chainerx.to_numpy(x) + (1 if flag else chainerx.to_numpy(x))
        assert steps.shape == (n, 2)
        np.testing.assert_array_equal(chainerx.to_numpy(y)[:2], a)
    assert replays(model) == 0
    (variant,) = model.captures()
    assert 'value' in variant.reason


def test_shapes_may_hang_on_values(host):
    nodes = [node('NonZero', ['x'], ['i']), node('Cast', ['i'], ['y'], to=TensorProto.FLOAT)]
    model = load(make(nodes, [info('x', [4])], [info('y', None)]), host)
    for k in list(range(5)) * RUNS:
        x = chainerx.array(np.arange(4) < k, 'f', device=host)
        np.testing.assert_array_equal(chainerx.to_numpy(model(x)), np.arange(k)[None])


def test_a_shape_that_is_an_input(host):
    nodes = [node('Reshape', ['x', 'shape'], ['y'])]
    inputs = [info('x', [6]), info('shape', [2], TensorProto.INT64)]
    model = load(make(nodes, inputs, [info('y', None)]), host)
    x = chainerx.arange(6, dtype='f', device=host)
    for shape in [(2, 3), (3, 2), (1, 6)] * RUNS:
        assert model(x, np.array(shape)).shape == shape


def test_defaults_of_inputs(host):
    nodes = [node('Reshape', ['x', 'shape'], ['r']), node('Mul', ['r', 'w'], ['y'])]
    inputs = [info('x', [6]), info('shape', [2], TensorProto.INT64), info('w', [])]
    weights = {'shape': np.array([2, 3]), 'w': np.float32(2)}
    model = load(make(nodes, inputs, [info('y', None)], weights), host)
    x = chainerx.arange(6, dtype='f', device=host)
    expected = np.arange(6, dtype='f')
    for _ in range(RUNS):
        np.testing.assert_array_equal(chainerx.to_numpy(model(x)), 2 * expected.reshape(2, 3))
        y = model(x, shape=np.array([3, 2]), w=np.float32(5))
        np.testing.assert_array_equal(chainerx.to_numpy(y), 5 * expected.reshape(3, 2))


def test_outputs_that_are_sequences(host):
    nodes = [node('SequenceConstruct', ['x', 'x'], ['y'])]
    output = helper.make_tensor_sequence_value_info('y', TensorProto.FLOAT, None)
    model = load(make(nodes, [info('x', [2])], [output]), host)
    x = chainerx.ones(2, 'f', host)
    for _ in range(RUNS):
        assert [bits(v) for v in model(x)] == [bits(x), bits(x)]
    assert replays(model) == 0


def test_errors_name_the_node(host):
    nodes = [node('Neg', ['x'], ['n']), node('Gather', ['n', 'i'], ['y'], 'look-up')]
    inputs = [info('x', [3]), info('i', [1], TensorProto.INT64)]
    model = load(make(nodes, inputs, [info('y', None)]), host)
    x = chainerx.arange(3, dtype='f', device=host)
    check(model, x, chainerx.array([2], device=host))
    with pytest.raises(IndexError, match='index 5 is out of range'):
        model(x, chainerx.array([5], device=host)).to_device('native:0')
    index = chainerx.array([1], device=host)
    assert float(model(x, index)) == -1
    with pytest.raises(chainerx.DtypeError, match='input "x"'):
        model(x.astype('d'), index)


def test_those_who_watch_see_the_operators(host):
    """An outer capture records them, and a profile sees the kernels of a replay."""
    weights = {'w': random(3, 3)}
    nodes = [node('MatMul', ['x', 'w'], ['h']), node('Relu', ['h'], ['y'])]
    model = load(make(nodes, [info('x', [2, 3])], [info('y', None)], weights), host)
    x = chainerx.array(random(2, 3), device=host)
    check(model, x)
    before = replays(model)
    expected = chainerx.to_numpy(model(x) + 1)
    step = chainerx.capture(lambda v: model(v) + 1)
    for _ in range(5):
        np.testing.assert_array_equal(chainerx.to_numpy(step(x)), expected)
    assert replays(model) == before + 2  # the first call of the step records nothing
    with chainerx.profile() as profile:
        model(x)
    assert [row.name.partition('[')[0] for row in profile.rows] == ['Matmul', 'Relu']


def test_models_move(host):
    model, x = perceptron(host)
    check(model, x)
    expected = bits(model(x))
    model.to_device('native:1')
    y = x.to_device('native:1')
    check(model, y)
    assert bits(model(y)) == expected
    with chainerx.using_device('native:1'):
        model.to_device(host)
        check(model, x)


def test_temporaries_share_memory(host):
    names = ['x', *'abcdef']
    nodes = [node('Exp', [a], [b]) for a, b in itertools.pairwise(names)]
    model = load(make(nodes, [info('x', [1000])], [info('f', None)]), host)
    check(model, chainerx.array(-np.abs(random(1000)), device=host))
    (variant,) = model.captures()
    assert variant.kernels == 6
    assert 0 < variant.nbytes <= 2 * 4096
    assert variant.arguments == 'float32[1000]'
