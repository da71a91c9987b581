"""`chainerx.onnx.export`: names, writes, values that are asked for; axes are in another file."""

import functools
import subprocess
import sys
import threading

import chainerx as chx
import numpy as np
import onnx as onnx_package
import pytest
from chainerx import exp as imported_early
from chainerx import func, onnx
from chainerx.onnx._writer import NotInOnnxError
from onnx_runtimes import run


def array(*shape, seed=0, dtype='float32'):
    return chx.array(np.random.RandomState(seed).uniform(-1, 1, shape).astype(dtype))


def check(function, *args, **kwargs):
    """Exports; compares results for other numbers, in onnxruntime. Returns the model."""
    proto = onnx.export(function, args, **kwargs)
    fresh = [array(*x.shape, seed=7 + i, dtype=x.dtype.name) for i, x in enumerate(args)]
    actual, by_onnxruntime = run(proto, [chx.to_numpy(x) for x in fresh])
    assert by_onnxruntime
    found = function(*fresh)
    found = found if isinstance(found, tuple) else (found,)
    for y, e in zip(actual, found, strict=True):
        np.testing.assert_allclose(y, chx.to_numpy(e), rtol=2e-6, atol=2e-6)
    return proto


def tensors(proto):
    return [t.name for t in proto.graph.initializer]


def operators(proto):
    return [node.op_type for node in proto.graph.node]


W = array(4, 3, seed=1)


# ---- names --------------------------------------------------------------------------------------


def test_arrays_of_closures_and_globals_are_tensors_with_their_names():
    bias = array(4, seed=2)

    def layer(x):
        return chx.relu(x @ W.T + bias)

    proto = check(layer, array(2, 3))
    assert tensors(proto) == ['W', 'bias']
    assert [i.name for i in proto.graph.input] == ['x']
    assert [o.name for o in proto.graph.output] == ['output']
    assert operators(proto) == ['Transpose', 'MatMul', 'Add', 'Relu']


def test_attributes_partials_and_trees_have_paths():
    class Net:
        def __init__(self):
            self.layers = [{'w': array(3, 3, seed=1)}, {'w': array(3, 3, seed=2)}]

        def __call__(self, x):
            for layer in self.layers:
                x = chx.tanh(x @ layer['w'])
            return x

        def method(self, x):
            return self(x)

    net = Net()
    assert tensors(check(net, array(2, 3))) == ['layers.0.w', 'layers.1.w']
    assert tensors(check(net.method, array(2, 3))) == ['layers.0.w', 'layers.1.w']


def test_arrays_of_partials_and_defaults_have_names():
    partial = functools.partial(lambda w, x: x @ w, array(3, 3))
    assert tensors(check(partial, array(2, 3))) == ['args.0']
    weight, scale = array(3, 3, seed=1), array(3, seed=2)

    def function(x, w=weight, *, s=scale):
        return x @ w * s

    weight, scale = weight * 1, scale * 1
    assert tensors(check(function, array(2, 3))) == ['w', 's']


def test_names_of_the_user_come_first_and_tensors_are_there_once():
    def function(x):
        return x @ W.T @ W + (x @ W.T) @ W

    proto = check(function, array(2, 3), names={'params': {'weight': W}})
    assert tensors(proto) == ['params.weight']


def test_arguments_may_be_parameters():
    def function(params, x):
        return x @ params['w'].T + params['b']

    params = {'w': array(4, 3), 'b': array(4)}
    proto = onnx.export(function, (params, array(2, 3)), parameters='params')
    assert sorted(tensors(proto)) == ['params.b', 'params.w']
    assert [i.name for i in proto.graph.input] == ['x']
    same = onnx.export(function, (params, array(2, 3)), parameters=0)
    assert same.SerializeToString() == proto.SerializeToString()
    x = array(2, 3, seed=5)
    (y,), _ = run(proto, [chx.to_numpy(x)])
    np.testing.assert_allclose(y, chx.to_numpy(function(params, x)), rtol=1e-6)


def test_trees_and_keywords():
    def function(a, pair):
        return {'sum': a + pair[0], 'rest': [pair[1] * 2, pair[1]]}

    args = {'a': array(2), 'pair': (array(2, seed=1), array(3, seed=2))}
    proto = onnx.export(function, args)
    assert [i.name for i in proto.graph.input] == ['a', 'pair.0', 'pair.1']
    assert [o.name for o in proto.graph.output] == ['sum', 'rest.0', 'rest.1']
    arrays = [chx.to_numpy(x) for x in (args['a'], *args['pair'])]
    actual, _ = run(proto, arrays)
    np.testing.assert_array_equal(actual[0], arrays[0] + arrays[1])
    np.testing.assert_array_equal(actual[2], arrays[2])


def test_names_of_inputs_and_outputs():
    proto = onnx.export(
        lambda x: (x, x + 1), array(2), input_names=['in'], output_names=['same', 'more']
    )
    assert proto.graph.input[0].name == 'in'
    assert [o.name for o in proto.graph.output] == ['same', 'more']
    proto = onnx.export(lambda output: output * 2, array(2))
    assert proto.graph.output[0].name == 'output_out'


def test_results_that_depend_on_nothing():
    proto = onnx.export(lambda x: (x * 2, W, chx.zeros(2)), array(2))
    (_, w, zeros), _ = run(proto, [np.zeros(2, 'f')])
    np.testing.assert_array_equal(w, chx.to_numpy(W))
    np.testing.assert_array_equal(zeros, [0, 0])
    assert 'W' in tensors(proto)


def test_an_array_that_changes_is_two_tensors():
    state = chx.array([1, 2], 'float32')

    def function(x):
        y = x * state
        state[...] = 5
        return y + state

    proto = onnx.export(function, chx.ones(2, 'float32'))
    (y,), _ = run(proto, [np.ones(2, 'f')])
    np.testing.assert_array_equal(y, [6, 7])
    assert tensors(proto) == ['state', 'state_1']


def test_what_no_result_needs_is_not_there():
    def function(x):
        chx.linalg.qr(x)  # has no operators
        return x + 1

    assert operators(check(function, array(2, 2))) == ['Add']


# ---- calls --------------------------------------------------------------------------------------


def test_every_way_to_call():
    def function(x):
        y = imported_early(x) + np.exp(x) - 2 / (1 + abs(x))
        y = y.sum(axis=0, keepdims=True) @ x.T
        y = np.concatenate([y, y[:, ::-1]])
        return chx.where(y > 0.5, y, -y).astype('float64') ** 2

    check(function, array(3, 4))


def test_trees_in_and_functions_of_python():
    def function(x):
        y = chx.apply_along_axis(lambda v: v.max(), 1, x)
        return y + chx.stack([r.sum() for r in x]) + (x[0] if len(x) == 3 else 0)[0]

    check(function, array(3, 3))


def test_vmap_and_checkpoint_inside():
    def one(v):
        return chx.tanh(v @ W.T).sum()

    proto = check(lambda x: func.vmap(one)(x) * func.checkpoint(chx.exp)(x).mean(), array(5, 3))
    assert 'W' in tensors(proto)


def test_numbers_of_other_dtypes():
    def function(x, i):
        return (x.astype('float16') + i, i // 2, i > x, chx.take(x, i), x[i, i])

    proto = onnx.export(function, (array(3, 3), chx.array([0, 2, 1])))
    x, i = array(3, 3, seed=3), chx.array([1, 1, 2])
    actual, _ = run(proto, [chx.to_numpy(x), chx.to_numpy(i)])
    for y, e in zip(actual, function(x, i), strict=True):
        assert y.dtype == e.dtype
        np.testing.assert_allclose(y, chx.to_numpy(e), rtol=1e-3)


def test_masks_pick_any_number_of_elements():
    def function(x):
        return chx.sum(x[x > 0]) + chx.exp(x[x < 0]).sum()

    check(function, array(20))
    proto = onnx.export(lambda x: x[x > 5].mean(), array(20))
    (y,), _ = run(proto, [np.zeros(20, 'f')])
    assert np.isnan(y)  # as of no elements
    with pytest.raises(NotInOnnxError, match=r'test_export\.py:\d+ asks for the shape'):
        onnx.export(lambda x: x[x > 0].shape[0] * x, array(20))


def test_parameters_of_loaded_models_are_trained():
    weight, bias = array(4, 3, seed=1), array(4, seed=2)

    def function(x):
        return chx.sigmoid(chx.linear(x, weight, bias)).sum()

    x = array(5, 3)
    model = onnx.load(onnx.export(function, x).SerializeToString())
    assert set(model.parameters) == {'weight', 'bias'}
    for p in (*model.parameters.values(), weight, bias):
        p.require_grad()
    model(x).backward()
    function(x).backward()
    np.testing.assert_allclose(
        chx.to_numpy(model.parameters['weight'].grad), chx.to_numpy(weight.grad), rtol=1e-5
    )


# ---- writes -------------------------------------------------------------------------------------


def test_writes_to_values():
    def function(x):
        y = x * 2
        y += 1
        y[0] += x[1]
        y[:, 1] = 5
        y[y > 4] = 0
        row = y[2]
        row *= 3
        y.T[0] = -1
        z = chx.sqrt(abs(x))
        chx.add(z, 1, out=z)
        z.sort(axis=1)
        chx.copyto(z[0], y[1])
        return y, z, row

    check(function, array(3, 4))


def test_arguments_stay():
    x = array(3)
    before = chx.to_numpy(x).copy()

    def function(x):
        x[1] = 0
        x *= 2
        return x

    onnx.export(function, x)
    np.testing.assert_array_equal(chx.to_numpy(x), before)


def test_views_see_writes_and_bases_too():
    def function(x):
        y = x + 0
        first, turned, same = y[0], y.T, y
        y[0] = 7
        first += 1
        return first, turned * 1, same

    check(function, array(2, 3))


def test_views_of_the_same_elements():
    def function(x):
        y = x + 0
        flat = y.reshape(-1)
        flat += 1
        y.swapaxes(0, 1)[0] = 5
        return y, flat

    check(function, array(2, 3))


def test_views_that_can_not_be_followed():
    def of_diagonal(x):
        y = x + 0
        part = y.diagonal()
        part += 1
        return y

    def of_part(x):
        y = x + 0
        part = y[:, 1:].T[0].reshape(3, 1)
        whole = chx.expand_dims(y.T, 0)
        part += 1
        return whole

    def of_base(x):
        y = x + 0
        part = y.diagonal()
        y += 1
        return part

    for function in (of_diagonal, of_part, of_base):
        with pytest.raises(NotInOnnxError, match=r'test_export\.py:\d+ uses an array that shares'):
            onnx.export(function, array(3, 3))


def test_writes_to_other_arrays():
    def function(x):
        y = chx.zeros(3)
        y[0] = x[0]
        return y

    with pytest.raises(chx.ChainerxError, match='export: setitem would write a value'):
        onnx.export(function, array(3))

    def in_place(x):
        y = chx.zeros(3)
        y += x
        return y

    with pytest.raises(chx.ChainerxError, match=r'export: .* would write a value'):
        onnx.export(in_place, array(3))
    with pytest.raises(chx.ChainerxError, match='export: exp would write a value'):
        onnx.export(lambda x: chx.exp(x, out=chx.zeros(3)), array(3))


def test_running_statistics_stay():
    mean, var = chx.zeros(3, 'float32'), chx.ones(3, 'float32')
    gamma, beta = chx.ones(3, 'float32'), chx.zeros(3, 'float32')
    proto = onnx.export(lambda x: chx.batch_norm(x, gamma, beta, mean, var), array(8, 3))
    np.testing.assert_array_equal(chx.to_numpy(mean), np.zeros(3))
    (y,), _ = run(proto, [chx.to_numpy(array(8, 3, seed=5))])
    np.testing.assert_allclose(y.mean(0), 0, atol=1e-6)


# ---- what is refused ----------------------------------------------------------------------------

REFUSED = {
    'the truth value': lambda x: x if x.sum() > 0 else -x,
    'the number': lambda x: x * float(x[0]),
    'the integer': lambda x: x[int(x[0]) :],
    'the list': lambda x: x * sum(x.tolist()),
    'the result of to_numpy': lambda x: chx.array(chx.to_numpy(x)),
    'the NumPy array': lambda x: chx.array(np.asarray(x)),
    'the result of allclose': lambda x: x * chx.allclose(x, x),
    'what random.normal draws': lambda x: x + chx.random.normal(size=3),
    'what dropout draws': lambda x: chx.dropout(x, 0.5),
    'what grad computes': lambda x: func.grad(lambda y: (y * y).sum())(x),
    'the attribute backward': lambda x: x.sum().backward(),
    'the attribute data_ptr': lambda x: x * x.data_ptr,
}


@pytest.mark.parametrize('what', REFUSED)
def test_values_are_refused_with_the_line(what):
    with pytest.raises(TypeError, match=rf'^export: .*test_export\.py:\d+: {what}'):
        onnx.export(REFUSED[what], array(3))


def test_draws_by_a_key_are_constants():
    check(lambda x: x + chx.random.normal(size=3, key=1).astype('float32'), array(3))


@pytest.mark.parametrize(
    ('function', 'message'),
    [
        (lambda x: chx.linalg.qr(x)[0], r'linalg\.qr \(.*test_export\.py:\d+\) has no operators'),
        (lambda x: chx.pad(x, 1, 'symmetric'), "no mode 'symmetric' of Pad"),
        (lambda x: chx.add(x, x, where=x > 0), 'add .* its argument where'),
        (lambda x: x + 1j, 'no operators for complex'),
        (lambda x: chx.tril(x), None),
    ],
)
def test_routines_without_operators(function, message):
    if message is None:
        with pytest.raises(NotInOnnxError, match=r'tril .* needs Trilu, which opset 14 has first'):
            onnx.export(function, array(3, 3), opset_version=13)
        return
    with pytest.raises(NotInOnnxError, match=message):
        onnx.export(function, array(3, 3))


def test_errors_of_the_function_are_its_own():
    with pytest.raises(chx.DimensionError, match='matmul'):
        onnx.export(lambda x: x @ W, array(2, 3))
    with pytest.raises(ZeroDivisionError):
        onnx.export(lambda x: x * (1 // 0), array(2, 3))
    onnx.export(lambda x: x, array(2))  # and nothing is left behind


@pytest.mark.parametrize(
    ('kwargs', 'error', 'message'),
    [
        ({'function': 3}, TypeError, 'function is int'),
        ({'args': 3.0}, TypeError, r'args has float in it \(x\)'),
        ({'args': (array(2), 'a')}, TypeError, 'args has str'),
        ({'input_names': ['a', 'b']}, ValueError, 'input_names has 2 names, expected 1'),
        ({'input_names': ['']}, ValueError, 'input_names has an empty name'),
        ({'input_names': [3]}, TypeError, 'input_names has 3'),
        ({'output_names': 3}, TypeError, 'output_names is int'),
        ({'output_names': ['x']}, ValueError, 'names of inputs and of outputs'),
        ({'input_shapes': (3,)}, ValueError, r'input_shapes has \(3,\) for x'),
        ({'input_shapes': {'y': (2,)}}, ValueError, "input_shapes has \\['y'\\]"),
        ({'input_shapes': 3}, TypeError, 'input_shapes is int'),
        ({'input_shapes': [(2.0,)]}, TypeError, 'input_shapes has 2.0'),
        ({'input_shapes': [(2,), (2,)]}, ValueError, 'input_shapes has 2 shapes'),
        ({'names': 3}, TypeError, 'names is int'),
        ({'names': {'W': 3}}, TypeError, "names\\['W'\\] is int"),
        ({'parameters': 'y'}, ValueError, "parameters has 'y'"),
        ({'parameters': 1}, ValueError, 'parameters has 1'),
        ({'opset_version': 'x'}, TypeError, "opset_version is 'x'"),
        ({'opset_version': 99}, ValueError, 'opset_version is 99'),
        ({'graph_name': ''}, ValueError, 'graph_name'),
        ({'function': lambda x: None}, TypeError, 'returned NoneType'),
        ({'function': lambda x: (x, 3)}, TypeError, 'leaf of type int'),
        ({'function': lambda x, y: x}, TypeError, 'argument'),
    ],
)
def test_wrong_arguments(kwargs, error, message):
    kwargs = {'function': lambda x: x + 1, 'args': array(2), **kwargs}
    with pytest.raises(error, match=message):
        onnx.export(kwargs.pop('function'), kwargs.pop('args'), **kwargs)


def test_without_the_package_onnx():
    code = (
        'import sys; sys.modules["onnx"] = None\n'
        'import chainerx\n'
        'from chainerx import onnx\n'
        'try: onnx.export(lambda x: x, chainerx.zeros(2))\n'
        'except ImportError as e: print(e)'
    )
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    assert 'pip install onnx' in done.stdout


# ---- models -------------------------------------------------------------------------------------


def test_files(tmp_path):
    path = tmp_path / 'f.onnx'
    proto = onnx.export(lambda x: x @ W.T, array(2, 3), path, save_text=True)
    assert onnx_package.load(str(path)) == proto
    assert 'MatMul' in (tmp_path / 'f.onnx.txt').read_text()
    x = array(2, 3, seed=4)
    np.testing.assert_array_equal(chx.to_numpy(onnx.load(path)(x)), chx.to_numpy(x @ W.T))


def test_same_call_same_model():
    def function(x):
        return chx.softmax(x @ W.T, -1).var(0)

    models = [onnx.export(function, array(2, 3)).SerializeToString() for _ in range(2)]
    assert models[0] == models[1]


def test_numpy_arguments_and_scalars():
    proto = onnx.export(lambda x, n: x * n, (np.ones((2, 2), 'f'), np.float32(3)))
    (y,), _ = run(proto, [np.full((2, 2), 2, 'f'), np.array(4, 'f')])
    np.testing.assert_array_equal(y, np.full((2, 2), 8))


def test_exports_in_threads_and_inside_of_each_other():
    found = {}

    def function(n):
        def inner(x):
            found[n, 'inner'] = onnx.export(lambda y: y - 1, array(2))
            return x * n + W.sum()

        found[n] = onnx.export(inner, array(2))

    threads = [threading.Thread(target=function, args=(n,)) for n in range(1, 5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for n in range(1, 5):
        (y,), _ = run(found[n], [np.ones(2, 'f')])
        np.testing.assert_allclose(y, n + chx.to_numpy(W).sum(), rtol=1e-5)
        assert operators(found[n, 'inner']) == ['Sub']


def test_values_of_an_export_outside():
    kept = []
    onnx.export(lambda x: kept.append(x) or x, array(2))
    with pytest.raises(chx.ChainerxError, match=r'export: .* used outside'):
        kept[0] + 1
    with pytest.raises(TypeError, match='a batch of vmap'):
        func.vmap(lambda v: onnx.export(lambda y: y, v) and v)(array(2, 2))


@pytest.mark.parametrize('opset', [7, 8, 9, 10, 11, 12, 13, 15, 18, 21])
def test_versions_of_operators(opset):
    def function(x):
        y = chx.relu(x @ W.T).reshape(2, 2, 2).sum(axis=1)
        y = chx.concatenate([y, y * 2], 0).transpose()
        return chx.softmax(chx.expand_dims(y, 0).squeeze(0), 1)[1:, :2].max(axis=0)

    proto = check(function, array(2, 3), opset_version=opset) if opset > 8 else None
    proto = proto or onnx.export(function, array(2, 3), opset_version=opset)
    assert proto.opset_import[0].version == opset
