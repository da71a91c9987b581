"""Runs in which nothing is differentiated: steps after a convolution are part of it, what depends
on parameters alone is computed once. The same numbers come out as with an input that requires a
gradient, for which steps run one by one.
"""

import chainerx
import numpy as np
import pytest
from chainerx.onnx import load
from onnx_models import TensorProto, info, make, node

STATISTICS = ('scale', 'bias', 'mean', 'var')


@pytest.fixture
def host():
    return chainerx.get_device('native:0')


def normal(rng, *shape, dtype='f'):
    return rng.standard_normal(shape).astype(dtype)


def weights_of(rng, outs, ins, ksize, dtype='f'):
    w = normal(rng, outs, ins, ksize, ksize) / np.sqrt(ins * ksize**2)
    weights = {'w': w.astype(dtype)}
    return weights | {k: rng.uniform(0.5, 1.5, outs).astype(dtype) for k in (*STATISTICS, 'b')}


def convolution(tail, *, opset=17, bias=True, dtype=TensorProto.FLOAT, weights, conv=None, **rest):
    """A convolution, and the nodes of `tail` one after the other, each given (input, output)."""
    nodes = [node('Conv', ['x', 'w', 'b'][: 3 if bias else 2], ['v0'], 'conv', **(conv or {}))]
    for i, make_node in enumerate(tail):
        nodes.append(make_node(f'v{i}', f'v{i + 1}'))
    arrays = [info(n, [None] * 4, dtype) for n in ('x', 'z')]
    outputs = rest.pop('outputs', [f'v{len(tail)}'])
    return make(nodes, arrays, [info(n, None, dtype) for n in outputs], weights, opset, **rest)


def normalization(x, y):
    return node('BatchNormalization', [x, *STATISTICS], [y], 'normalization', epsilon=1e-3)


def addition(x, y):
    return node('Add', ['z', x], [y], 'addition')


def relu(x, y):
    return node('Relu', [x], [y], 'relu')


def clip(x, y):
    return node('Clip', [x, 'low', 'high'], [y], 'clip')


def old_clip(x, y):
    return node('Clip', [x], [y], 'clip', min=-0.25, max=0.5)


def kernels(run):
    """The kernels that a run calls, without algorithms."""
    with chainerx.profile() as profile:
        run()
    return [name for row in profile.rows for name in [row.name.partition('[')[0]] * row.calls]


def both(model, *xs):
    """Results of a fused run, and of one whose input requires a gradient."""
    fused = model(*xs)
    first, *others = xs
    plain = model(first.as_grad_stopped().require_grad(), *others)
    pairs = [v if isinstance(v, tuple) else (v,) for v in (fused, plain)]
    return [[chainerx.to_numpy(v) for v in vs] for vs in pairs]


def check(model, *xs, tolerance=2e-6):
    for y, expected in zip(*both(model, *xs), strict=True):
        assert y.dtype == expected.dtype
        scale = np.sqrt(np.mean(np.square(expected, dtype='d'))) + 1e-30
        np.testing.assert_allclose(y, expected, rtol=0, atol=10 * tolerance * scale)


TAILS = {
    'alone': [],
    'relu': [relu],
    'add': [addition],
    'add, relu': [addition, relu],
    'normalization': [normalization],
    'normalization, relu': [normalization, relu],
    'normalization, add, relu': [normalization, addition, relu],
    'clip': [clip],
    'normalization, add, clip': [normalization, addition, clip],
}
# Images, input channels, output channels, length, size of the window, stride, groups: one for each
# algorithm, and pixels as rows and columns of the product.
SHAPES = {
    'pixels as rows': (1, 32, 40, 7, 3, 1, 1),
    'many pixels': (2, 8, 30, 20, 3, 1, 1),
    'deep': (1, 400, 20, 18, 1, 1, 1),
    'stride': (2, 16, 33, 19, 3, 2, 1),
    'small images': (8, 16, 32, 7, 3, 1, 1),
    'shallow': (1, 48, 40, 14, 1, 1, 1),
    'depthwise': (2, 24, 24, 11, 3, 2, 24),
    'depthwise, wide': (1, 12, 12, 21, 3, 1, 12),
    'depthwise, narrow': (2, 12, 24, 7, 3, 1, 12),
    'depthwise, short': (1, 12, 12, 3, 3, 1, 12),
    'depthwise, 5 x 5': (1, 12, 12, 9, 5, 2, 12),
    'groups': (1, 32, 64, 12, 3, 1, 2),
}


@pytest.mark.parametrize('shape', SHAPES)
@pytest.mark.parametrize('tail', TAILS)
def test_steps_are_part_of_a_convolution(tail, shape, device):
    rng = np.random.default_rng(0)
    n, ins, outs, length, ksize, stride, groups = SHAPES[shape]
    weights = weights_of(rng, outs, ins // groups, ksize)
    weights |= {'low': np.float32(-0.25), 'high': np.float32(0.5)}
    conv = {'strides': [stride] * 2, 'pads': [ksize // 2] * 4, 'group': groups}
    model = load(convolution(TAILS[tail], weights=weights, conv=conv), device)
    x = chainerx.array(normal(rng, n, ins, length, length), device=device)
    out = (length - 1) // stride + 1
    z = chainerx.array(normal(rng, n, outs, out, out), device=device)
    check(model, x, z)
    if device.backend.name == 'native':
        called = kernels(lambda: model(x, z))
        assert 'ConvLayer' in called
        assert not {'Conv', 'FixedBatchNorm', 'Add', 'Relu', 'Minimum'} & {*called} - (
            {'Add', 'Minimum'} if 'small images' in shape or 'depthwise' in shape else set()
        )


def test_nan_and_infinity_stay(device):
    weights = {'w': np.ones((4, 1, 1, 1), 'f'), 'b': np.zeros(4, 'f')}
    model = load(convolution([relu], weights=weights), device)
    x = np.array([np.nan, -np.inf, np.inf, -1, 2] * 13, 'f').reshape(1, 1, 5, 13)
    x = chainerx.array(x, device=device)
    fused, plain = both(model, x, x)
    np.testing.assert_array_equal(fused, plain)


@pytest.mark.parametrize('dtype', ['f', 'd', 'e'])
def test_dtypes(dtype, device):
    rng = np.random.default_rng(1)
    weights = weights_of(rng, 6, 3, 3, dtype)
    kind = {'f': TensorProto.FLOAT, 'd': TensorProto.DOUBLE, 'e': TensorProto.FLOAT16}[dtype]
    file = convolution([normalization, addition, relu], weights=weights, dtype=kind)
    model = load(file, device)
    x = chainerx.array(normal(rng, 2, 3, 9, 9, dtype=dtype), device=device)
    z = chainerx.array(normal(rng, 2, 6, 7, 7, dtype=dtype), device=device)
    # Numbers of 16 bits are not folded: rounding would come between other operations.
    check(model, x, z, tolerance={'f': 2e-6, 'd': 1e-14, 'e': 1e-12}[dtype])


@pytest.mark.parametrize('opset', [7, 9, 11, 13, 14, 20])
def test_versions(opset, device):
    rng = np.random.default_rng(2)
    weights = weights_of(rng, 5, 2, 3)
    weights |= {'low': np.float32(-0.25), 'high': np.float32(0.5)}
    tail = [normalization, addition, old_clip if opset < 11 else clip]
    model = load(convolution(tail, weights=weights, opset=opset), device)
    x = chainerx.array(normal(rng, 2, 2, 9, 9), device=device)
    z = chainerx.array(normal(rng, 2, 5, 7, 7), device=device)
    check(model, x, z)


@pytest.mark.parametrize('shape', [(5, 1, 1), (1, 5, 7, 1), (2, 1, 1, 7, 7), ()])
def test_addends_that_broadcast(shape, device):
    rng = np.random.default_rng(3)
    file = make(
        [node('Conv', ['x', 'w', 'b'], ['c']), node('Add', ['c', 'z'], ['a']), relu('a', 'y')],
        [info('x', [None] * 4), info('z', [None] * len(shape))],
        [info('y', None)],
        {k: v for k, v in weights_of(rng, 5, 2, 3).items() if k in 'wb'},
    )
    x = chainerx.array(normal(rng, 1, 2, 9, 9), device=device)
    z = chainerx.array(normal(rng, *shape), device=device)
    fused, plain = both(load(file, device), x, z)
    assert fused[0].shape == plain[0].shape
    np.testing.assert_allclose(fused[0], plain[0], rtol=1e-5, atol=1e-5)


def test_results_that_are_read_twice(device):
    rng = np.random.default_rng(4)
    weights = weights_of(rng, 4, 2, 3)
    x = chainerx.array(normal(rng, 1, 2, 6, 6), device=device)
    z = chainerx.array(normal(rng, 1, 4, 4, 4), device=device)
    as_output = convolution([normalization, relu], weights=weights, outputs=['v0', 'v1', 'v2'])
    check(load(as_output, device), x, z)
    twice = convolution([lambda a, b: node('Add', [a, a], [b]), relu], weights=weights)
    check(load(twice, device), x, z)
    nodes = [
        node('Conv', ['x', 'w'], ['c']),
        node('Relu', ['c'], ['r']),
        node('Sub', ['r', 'c'], ['y']),
    ]
    check(load(make(nodes, [info('x', [None] * 4)], [info('y', None)], weights), device), x)


def test_results_that_a_branch_reads(device):
    then = make_branch('then', 'Relu')
    other = make_branch('other', 'Neg')
    nodes = [
        node('Conv', ['x', 'w'], ['c']),
        node('If', ['flag'], ['y'], then_branch=then, else_branch=other),
    ]
    weights = {'w': np.ones((1, 1, 1, 1), 'f')}
    inputs = [info('x', [None] * 4), info('flag', [], TensorProto.BOOL)]
    model = load(make(nodes, inputs, [info('y', None)], weights), device)
    x = chainerx.array(np.array([[[[-1.0, 2.0]]]], 'f'), device=device)
    for flag, expected in ((True, [0, 2]), (False, [1, -2])):
        y = model(x, chainerx.array(flag, device=device))
        np.testing.assert_array_equal(chainerx.to_numpy(y).ravel(), expected)


def make_branch(name, op):
    from onnx import helper

    return helper.make_graph([node(op, ['c'], ['b'])], name, [], [info('b', None)])


def test_two_convolutions_are_added(device):
    rng = np.random.default_rng(5)
    weights = {k: normal(rng, 4, 3, 1, 1) for k in ('w1', 'w2')}
    nodes = [
        node('Conv', ['x', 'w1'], ['a']),
        node('Conv', ['x', 'w2'], ['b']),
        node('Add', ['a', 'b'], ['c']),
        node('Relu', ['c'], ['y']),
    ]
    model = load(make(nodes, [info('x', [None] * 4)], [info('y', None)], weights), device)
    check(model, chainerx.array(normal(rng, 2, 3, 5, 5), device=device))


def test_convolutions_share_weights(device):
    rng = np.random.default_rng(6)
    weights = weights_of(rng, 3, 3, 3)
    nodes = [
        node('Conv', ['x', 'w'], ['a'], pads=[1] * 4),
        node('BatchNormalization', ['a', *STATISTICS], ['n']),
        node('Conv', ['n', 'w'], ['y'], pads=[1] * 4),
    ]
    model = load(make(nodes, [info('x', [None] * 4)], [info('y', None)], weights), device)
    x = chainerx.array(normal(rng, 2, 3, 5, 5), device=device)
    check(model, x)
    model.set_parameter('w', model.parameters['w'] * 2)
    check(model, x)


# A single sequence has a product of its own; 300 units are more than one panel is deep.
@pytest.mark.parametrize(('batch', 'units', 'dtype'), [(4, 32, 'f'), (1, 45, 'd'), (1, 300, 'f')])
@pytest.mark.parametrize('op', ['LSTM', 'GRU', 'RNN'])
def test_recurrent_layers_keep_their_weights(op, batch, units, dtype, host):
    rng = np.random.default_rng(15)
    rows = {'LSTM': 4, 'GRU': 3, 'RNN': 1}[op] * units
    shapes = {'w': (2, rows, 8), 'r': (2, rows, units), 'b': (2, 2 * rows)}
    weights = {k: (normal(rng, *s) / units**0.5).astype(dtype) for k, s in shapes.items()}
    options = {'linear_before_reset': 1} if op == 'GRU' else {}
    direction = {'hidden_size': units, 'direction': 'bidirectional'}
    kind = {'f': TensorProto.FLOAT, 'd': TensorProto.DOUBLE}[dtype]
    nodes = [node(op, ['x', 'w', 'r', 'b'], ['y'], **direction, **options)]
    arrays = [info('x', [None] * 3, kind)], [info('y', None, kind)]
    model = load(make(nodes, *arrays, weights), host)
    x = chainerx.array(normal(rng, 20, batch, 8, dtype=dtype), device=host)
    tolerance = 2e-6 if dtype == 'f' else 1e-14
    check(model, x, tolerance=tolerance)
    called = kernels(lambda: model(x))
    assert 'Recurrence' in called
    concatenations = called.count('Concatenate')
    model.set_parameter('r', model.parameters['r'] * 0.5)
    check(model, x, tolerance=tolerance)
    assert kernels(lambda: model(x)).count('Concatenate') == concatenations
    if op == 'LSTM' and batch > 1:  # others are a composition of steps
        plain = x.as_grad_stopped().require_grad()
        assert kernels(lambda: model(plain)).count('Concatenate') > concatenations


def test_normalization_in_training_is_not_folded(device):
    rng = np.random.default_rng(7)
    nodes = [
        node('Conv', ['x', 'w'], ['c']),
        node(
            'BatchNormalization', ['c', *STATISTICS], ['y', 'new_mean', 'new_var'], training_mode=1
        ),
    ]
    outputs = [info(n, None) for n in ('y', 'new_mean', 'new_var')]
    file = make(nodes, [info('x', [None] * 4)], outputs, weights_of(rng, 4, 2, 3))
    x = chainerx.array(normal(rng, 3, 2, 6, 6), device=device)
    model = load(file, device)
    check(model, x)
    mean = chainerx.to_numpy(model(x)[0]).mean((0, 2, 3))
    np.testing.assert_allclose(mean, chainerx.to_numpy(model.parameters['bias']), rtol=1e-4)


def test_overflowing_normalization_is_not_folded(device):
    weights = {'w': np.full((1, 1, 1, 1), 1e20, 'f'), 'b': np.zeros(1, 'f')}
    weights |= {'scale': 1e20, 'bias': 0, 'mean': 0, 'var': 1}
    weights |= {k: np.full(1, weights[k], 'f') for k in STATISTICS}
    model = load(convolution([normalization], weights=weights), device)
    x = chainerx.array(np.full((1, 1, 2, 2), 1e-20, 'f'), device=device)
    y = chainerx.to_numpy(model(x, x))
    np.testing.assert_allclose(y, np.full((1, 1, 2, 2), 1e20 / np.sqrt(1.001)), rtol=1e-5)


def layer(device, rng):
    file = convolution([normalization, relu], weights=weights_of(rng, 4, 2, 3))
    x = chainerx.array(normal(rng, 2, 2, 6, 6), device=device)
    return load(file, device), x


def change_by_replacing(model):
    model.set_parameter('w', -model.parameters['w'])


def change_by_writing(model):
    model.parameters['scale'][...] = 3


def change_by_numpy(model):
    np.asarray(model.parameters['b'])[...] = 5


def change_by_dlpack(model):
    np.from_dlpack(model.parameters['w'])[...] *= 2


CHANGES = [change_by_replacing, change_by_writing, change_by_numpy, change_by_dlpack]


@pytest.mark.parametrize('change', CHANGES)
def test_parameters_change_between_runs(change, device):
    if change in CHANGES[2:] and device.backend.name != 'native':
        pytest.skip("NumPy can't write to the memory of this device")
    model, x = layer(device, np.random.default_rng(8))
    before = chainerx.to_numpy(model(x, x))
    change(model)
    check(model, x, x)
    assert not np.allclose(before, chainerx.to_numpy(model(x, x)))


def test_memory_that_others_write_to(host):
    model, x = layer(host, np.random.default_rng(9))
    memory = chainerx.to_numpy(model.parameters['w'])
    model.set_parameter('w', chainerx.asarray(memory, device=host))
    view = np.asarray(model.parameters['b'])
    for _ in range(3):
        check(model, x, x)
        before = chainerx.to_numpy(model(x, x))
        memory *= -1.5
        view += 1
        assert not np.allclose(before, chainerx.to_numpy(model(x, x)))


def test_gradients_after_a_fused_run(device):
    rng = np.random.default_rng(10)
    model, x = layer(device, rng)
    model(x, x)
    arrays = [x.require_grad(), *(p.require_grad() for p in model.parameters.values())]
    model(x, x).sum().backward()
    assert all(a.grad is not None for a in arrays)
    other, _ = layer(device, np.random.default_rng(10))
    y = x.as_grad_stopped().require_grad()
    others = [y, *(p.require_grad() for p in other.parameters.values())]
    other(y, y).sum().backward()
    for a, b in zip(arrays, others, strict=True):
        np.testing.assert_array_equal(chainerx.to_numpy(a.grad), chainerx.to_numpy(b.grad))


def test_no_backprop_mode_is_fused(host):
    model, x = layer(host, np.random.default_rng(11))
    x.require_grad()
    with chainerx.no_backprop_mode():
        assert 'FixedBatchNorm' not in kernels(lambda: model(x, x))
    assert 'FixedBatchNorm' in kernels(lambda: model(x, x))


def test_models_move(device, host):
    model, x = layer(host, np.random.default_rng(12))
    before = chainerx.to_numpy(model(x, x))
    model.to_device(device)
    x = x.to_device(device)
    np.testing.assert_allclose(chainerx.to_numpy(model(x, x)), before, rtol=1e-4, atol=1e-5)
    check(model, x, x)


def test_models_without_parameters_move():
    from onnx import numpy_helper

    value = numpy_helper.from_array(np.full((1, 1, 1, 1), 2, 'f'))
    nodes = [node('Constant', [], ['w'], value=value), node('Conv', ['x', 'w'], ['y'])]
    model = load(make(nodes, [info('x', [None] * 4)], [info('y', None)]), 'native:0')
    for name in ('native:0', 'native:1'):
        model.to_device(name)
        y = model(chainerx.ones((1, 1, 2, 2), 'f', name))
        assert y.device.name == name
        np.testing.assert_array_equal(chainerx.to_numpy(y), np.full((1, 1, 2, 2), 2))


def test_what_depends_on_parameters_alone_is_computed_once(host):
    weights = {'w': np.arange(6, dtype='f').reshape(2, 3)}
    nodes = [
        node('Transpose', ['w'], ['t'], perm=[1, 0]),
        node('Exp', ['t'], ['e']),
        node('MatMul', ['x', 'e'], ['y']),
    ]
    outputs = [info('y', None), info('e', None)]
    model = load(make(nodes, [info('x', [None, 3])], outputs, weights), host)
    x = chainerx.ones((4, 3), 'f', host)
    y, e = model(x)
    assert 'Exp' not in kernels(lambda: model(x))
    e[...] = 0  # a result is the caller's
    for again, expected in zip(model(x), (y, np.exp(weights['w'].T)), strict=True):
        np.testing.assert_allclose(chainerx.to_numpy(again), expected, rtol=1e-5)
    model.parameters['w'][...] = 0
    np.testing.assert_array_equal(chainerx.to_numpy(model(x)[1]), np.ones((3, 2), 'f'))


def test_large_results_are_computed_in_each_run(host):
    weights = {'w': np.ones(1, 'f')}
    nodes = [node('Expand', ['w', 'shape'], ['e']), node('Add', ['x', 'e'], ['y'])]
    weights['shape'] = np.array([1 << 19], 'i8')
    model = load(make(nodes, [info('x', [1])], [info('y', None)], weights), host)
    x = chainerx.ones(1, 'f', host)
    model(x)
    assert float(model(x).sum()) == 1 << 20


def test_defaults_of_inputs_may_be_given(device):
    rng = np.random.default_rng(13)
    weights = weights_of(rng, 2, 2, 1)
    nodes = [node('Conv', ['x', 'w'], ['y'])]
    inputs = [info('x', [None] * 4), info('w', [2, 2, 1, 1])]
    model = load(make(nodes, inputs, [info('y', None)], {'w': weights['w']}), device)
    x = chainerx.array(normal(rng, 1, 2, 3, 3), device=device)
    first = chainerx.to_numpy(model(x))
    double = chainerx.array(2 * weights['w'], device=device)
    np.testing.assert_allclose(chainerx.to_numpy(model(x, double)), 2 * first, rtol=1e-5)
    np.testing.assert_array_equal(chainerx.to_numpy(model(x)), first)


def test_errors_name_the_node(device):
    model, _ = layer(device, np.random.default_rng(14))
    x = chainerx.ones((1, 3, 6, 6), 'f', device)
    with pytest.raises(ValueError, match=r'onnx: node "conv" \(Conv\): conv: x.shape\[1\] is 3'):
        model(x, x)
    model = load(
        convolution([addition], weights=weights_of(np.random.default_rng(14), 4, 2, 3)), device
    )
    x = chainerx.ones((1, 2, 6, 6), 'f', device)
    with pytest.raises(ValueError, match=r'onnx: node "addition" \(Add\): add'):
        model(x, x)
