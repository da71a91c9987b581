"""Names that clash, what is left behind, threads, values that the model takes out of Variables."""

import collections
import threading
import warnings

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
import numpy as np
import onnx
import onnx_chainer
import pytest
from onnx_runtime import run

X = np.random.default_rng(0).standard_normal((3, 4)).astype('f')
Pair = collections.namedtuple('Pair', 'a b')
LAYER = L.Linear(4, 4)


class Model(chainer.Chain):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args, **kwargs):
        return self.function(*args, **kwargs)


def exported(function, args, **kwargs):
    proto = onnx_chainer.export(Model(function), args, **kwargs)
    onnx.checker.check_model(proto, full_check=True)
    return proto


def names(values):
    return [v.name for v in values]


@pytest.mark.parametrize(
    ('index', 'place', 'opset'),
    [
        (np.array([0, 2]), lambda i: i, 7),
        (np.array([0, 2]), lambda i: i, 17),
        (np.array([[1, -1]], 'i'), lambda i: (slice(None), i), 11),
        (np.array([1, -1]), lambda i: (i, [0, 3]), 11),
        (np.array([[1], [-1]]), lambda i: (i, None, [0, 3]), 11),
        (np.array([1, 0]), lambda i: (i, 2), 11),
        (np.array(1), lambda i: i, 11),
        (np.array([True, False, True]), lambda i: i, 11),
        (X > 0, lambda i: i, 11),
    ],
)
def test_indices_that_are_inputs(index, place, opset):
    def function(x, i):
        return x[place(i.array)]

    proto = exported(function, (X, index), opset_version=opset)
    other = ~index if index.dtype == bool else 1 - index if opset > 7 else index[::-1].copy()
    np.testing.assert_array_equal(run(proto, [X, np.asarray(other)])[0], X[place(other)])


@pytest.mark.parametrize(
    'function',
    [
        lambda x: F.where(F.cast(x * 2, bool), x, x + 1),
        lambda x: F.where(F.cast(x * 2, bool).array, x, x + 1),
        lambda x: x[F.argmax(x, 0).array],
    ],
)
def test_attributes_that_functions_made(function):
    proto = exported(function, X)
    other = np.where(X > 0, 0, -X)
    np.testing.assert_array_equal(run(proto, [other])[0], function(chainer.Variable(other)).array)


@pytest.mark.parametrize(
    'function',
    [
        lambda x: F.relu(x.array.T),
        lambda x: F.relu(F.exp(x).array[0]),
        lambda x: x * F.exp(x).array[::-1],
    ],
)
def test_parts_of_values_as_constants_warn(function):
    with pytest.warns(UserWarning, match='part of a value that depends on the arguments'):
        exported(function, X)


@pytest.mark.parametrize(
    'function',
    [
        lambda x: F.forget(lambda y: F.relu(F.exp(y)), x) * 2,
        lambda x: F.forget(lambda y: (F.relu(LAYER(y)), y), LAYER(x)),
        lambda x: F.forget(lambda y: F.forget(lambda z: LAYER(z) - y, F.relu(LAYER(y))), x),
        lambda x: F.forget(lambda y: F.floor(y * 3) + x, F.exp(x)),
    ],
)
def test_what_forget_calls_is_written(function):
    proto = exported(function, X)
    expected = function(chainer.Variable(-X))
    expected = expected if isinstance(expected, tuple) else (expected,)
    for y, v in zip(run(proto, [-X]), expected, strict=True):
        np.testing.assert_allclose(y, v.array, rtol=1e-5, atol=1e-6)


def test_what_runs_without_a_graph_is_written():
    def function(x):
        with chainer.no_backprop_mode():
            y = F.relu(LAYER(x))
        z = F.exp(y)
        z.unchain()
        return z + 1

    y = run(exported(function, X), [-X])[0]
    np.testing.assert_allclose(y, function(chainer.Variable(-X)).array, rtol=1e-5)


def test_constants_that_are_reshaped_do_not_warn():
    weight = np.arange(4, dtype='f')

    def function(x):
        return x + F.broadcast_to(weight, (3, 4)) + F.reshape(weight, (1, 4)) + weight[:1]

    with warnings.catch_warnings():
        warnings.simplefilter('error')
        exported(function, X)


@pytest.mark.parametrize(
    'kwargs',
    [
        {'input_names': ['HuberLoss_0_tmp_0']},
        {'output_names': ['HuberLoss_0_tmp_0']},
        {'input_names': ['HuberLoss_0'], 'output_names': ['HuberLoss_0_tmp_1']},
    ],
)
def test_names_of_the_user_that_nodes_would_have(kwargs):
    proto = exported(lambda x: F.relu(F.huber_loss(x, x * 3, 0.5, reduce='no')), X, **kwargs)
    expected = F.relu(F.huber_loss(X, X * 3, 0.5, reduce='no')).array
    np.testing.assert_allclose(run(proto, [X])[0], expected, rtol=1e-5)


def test_persistent_arrays_have_their_names():
    class Scaled(chainer.Chain):
        def __init__(self):
            super().__init__()
            self.add_persistent('scale', np.arange(4, dtype='f'))

        def forward(self, x):
            return x * self.scale

    assert names(onnx_chainer.export(Scaled(), X).graph.initializer) == ['param_scale']


def test_persistent_arrays_that_are_attributes_have_their_names():
    link = L.BatchRenormalization(4)
    proto = onnx_chainer.export(link, X, train=True)
    assert {'param_avg_mean', 'param_avg_var'} <= set(names(proto.graph.initializer))


def test_methods_of_links_have_names():
    link = L.Linear(4, 2)
    proto = onnx_chainer.export(link.forward, X)
    assert names(proto.graph.initializer) == ['param_W', 'param_b']


def test_a_variable_that_is_two_arguments():
    v = chainer.Variable(X)
    proto = exported(lambda a, b: a - b, [v, v])
    np.testing.assert_array_equal(run(proto, [X, 2 * X])[0], -X)


def test_named_tuples_and_nested_outputs():
    proto = exported(lambda pair: {'s': pair.a + pair.b, 'l': [pair.a, pair.b * 2]}, [Pair(X, X)])
    s, a, b = run(proto, [X, 2 * X])
    np.testing.assert_array_equal(s, 3 * X)
    np.testing.assert_array_equal(a, X)
    np.testing.assert_array_equal(b, 4 * X)


def test_an_export_inside_of_a_model():
    def function(x):
        onnx_chainer.export(Model(F.floor), X)
        return F.floor(x) * 2

    np.testing.assert_array_equal(run(exported(function, X), [X])[0], np.floor(X) * 2)
    assert F.floor(chainer.Variable(X)).creator is None


def test_threads():
    model = chainer.Sequential(L.Linear(4, 4), F.relu, F.floor, L.BatchNormalization(4))
    expected = onnx_chainer.export(model, X)
    found = []

    def work():
        found.extend(onnx_chainer.export(model, X) for _ in range(10))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 40
    assert all(proto == expected for proto in found)
    assert F.floor(chainer.Variable(X)).creator is None


def test_nothing_is_left_behind():
    model = chainer.Sequential(L.Linear(4, 4), L.BatchNormalization(4))
    before = {path: param.array.copy() for path, param in model.namedparams()}
    model.cleargrads()
    mean, count = model[1].avg_mean.copy(), model[1].N
    onnx_chainer.export(model, X, train=True)
    np.testing.assert_array_equal(model[1].avg_mean, mean)
    np.testing.assert_array_equal(model[1].N, count)
    for path, param in model.namedparams():
        np.testing.assert_array_equal(param.array, before[path])
        assert param.grad is None
    with pytest.raises(ZeroDivisionError):
        onnx_chainer.export(Model(lambda x: F.relu(x) / (1 // 0)), X)
    assert not chainer.get_function_hooks()
    assert F.floor(chainer.Variable(X)).creator is None


def test_statistics_of_links_that_a_function_calls_stay():
    norm = L.BatchNormalization(4)
    mean, count = norm.avg_mean.copy(), norm.N

    def function(x):
        with chainer.using_config('train', False):
            y = norm(x)
        return y + norm(x)

    proto = onnx_chainer.export(function, X, train=True)
    np.testing.assert_array_equal(norm.avg_mean, mean)
    assert count == norm.N
    with chainer.using_config('train', True):
        expected = function(chainer.Variable(-X)).array
    np.testing.assert_allclose(run(proto, [-X])[0], expected, rtol=1e-4, atol=1e-5)


def test_what_ran_before_is_a_constant():
    link = L.LSTM(4, 3)
    state = link(X)
    proto = exported(lambda x: state * 2 + F.sum(x), X)
    found = run(proto, [-X])[0]
    np.testing.assert_allclose(found, (state * 2 + F.sum(-X).array).array, rtol=1e-4, atol=1e-5)
    for _ in range(2):
        exported(lambda x: link(x), X)


def test_a_deep_model():
    def function(x):
        for _ in range(3000):
            x = F.relu(x)
        return x

    assert len(onnx_chainer.export(Model(function), X).graph.node) == 3000


@pytest.mark.parametrize('dtype', ['i', np.int64])
def test_floor_division_of_integers(dtype):
    a = np.array([-7, -6, 7, 6, 0], dtype)
    b = np.array([2, -3, -2, 3, 5], dtype)
    proto = exported(lambda a, b: a // b, (np.ones(5, dtype), np.ones(5, dtype)))
    np.testing.assert_array_equal(run(proto, [a, b])[0], a // b)


def test_integers_that_operators_lack():
    a = np.array([0, 3, 250], np.uint8)
    np.testing.assert_array_equal(run(exported(lambda a: -a, a), [a])[0], -a)
    i = np.array([2, 0, -1], np.int8)
    w = np.arange(6, dtype='f').reshape(3, 2)
    proto = exported(lambda i: F.embed_id(i, w, ignore_label=-1), i)
    np.testing.assert_array_equal(run(proto, [i])[0], [[4, 5], [0, 1], [0, 0]])


def test_an_empty_array_in_another_shape():
    x = np.zeros((0, 4), 'f')
    proto = exported(lambda x: F.reshape(x, (2, 0)), x)
    assert run(proto, [x])[0].shape == (2, 0)
    with pytest.raises(ValueError, match='allowzero of Reshape, which opset 14 has first'):
        exported(lambda x: F.reshape(x, (2, 0)), x, opset_version=13)


class Twice(chainer.Function):
    def forward(self, inputs):
        return (inputs[0] * 2,)


class ReLU(chainer.FunctionNode):
    def forward(self, inputs):
        return (np.maximum(inputs[0], 0),)


def twice(params):
    assert isinstance(params.func, Twice)
    names = [*params.input_names, *params.input_names]
    return (onnx_chainer.onnx_helper.make_node('Add', names, params.output_names),)


def test_functions_of_the_old_style():
    proto = exported(lambda x: Twice()(x), X, external_converters={'Twice': twice})
    np.testing.assert_array_equal(run(proto, [X])[0], 2 * X)
    with pytest.raises(ValueError, match='Twice has no converter'):
        exported(lambda x: Twice()(x), X)


def test_functions_that_have_a_name_of_chainers_warn():
    with pytest.warns(UserWarning, match=r'ReLU of .* is written as the function of Chainer'):
        proto = exported(lambda x: ReLU().apply((x,))[0], X)
    np.testing.assert_array_equal(run(proto, [X])[0], np.maximum(X, 0))
    replaced = onnx_chainer.replace_func.as_funcnode('MulConstant', [('factor', 'value')])(
        lambda x, factor=3.0: x * factor
    )
    np.testing.assert_array_equal(run(exported(replaced, X), [X])[0], 3 * X)


def test_named_tuples_as_arguments_of_replaced_functions():
    Pair = collections.namedtuple('Pair', 'low high')
    middle = onnx_chainer.replace_func.as_funcnode('Middle')(lambda p: (p.low + p.high) / 2)
    y = middle(Pair(chainer.Variable(X), chainer.Variable(3 * X)))
    np.testing.assert_allclose(y.array, 2 * X)


def test_what_converters_of_the_user_do_wrong():
    def other_name(params):
        return onnx_chainer.onnx_helper.make_node('Relu', params.input_names, ['y'])

    message = r"external_converters\['ReLU'\] made \['y'\], expected \['ReLU_0'\]"
    with pytest.raises(ValueError, match=message):
        exported(F.relu, X, external_converters={'ReLU': other_name})
    with pytest.raises(ZeroDivisionError) as error:
        exported(F.relu, X, external_converters={'ReLU': lambda params: 1 // 0})
    assert error.value.__notes__ == ['export: of ReLU (in link / (Model))']


def written_output(x):
    y = F.relu(x)
    y.array[:, 0] = 0
    return y


def written_input(x):
    x.array[...] *= 2
    return F.exp(x)


def written_view(x):
    y = F.relu(x)
    y.array.reshape(-1)[:2] = 9
    return F.exp(y)


def written_constant(x):
    buffer = np.zeros(4, 'f')
    for i in range(3):
        buffer[...] = i
        x = x + buffer
    return x


def written_index(x):
    index = np.array([0, 1])
    y = x[index]
    index[...] = [1, 2]
    return y + x[index]


@pytest.mark.parametrize(
    ('function', 'make', 'message'),
    [
        (written_output, np.array, 'an output was written to after a function made it'),
        (written_output, chainerx.array, 'an output was written to after a function made it'),
        (written_input, np.array, r'input 0 of Exp \(in link .*\) was written to before'),
        (written_input, chainerx.array, r'input 0 of Exp \(in link .*\) was written to before'),
        (written_view, np.array, 'input 0 of Exp .* was written to before'),
        (written_constant, np.array, 'input 1 of Add .* was written to after the function read'),
        (written_index, np.array, 'attribute slices of GetItem .* was written to after'),
    ],
)
def test_writes_in_place_are_refused(function, make, message):
    x = make(X)
    with pytest.raises(ValueError, match=message):
        onnx_chainer.export(Model(function), x)


class Counted(chainer.FunctionNode):
    def __init__(self, calls):
        self.calls = calls

    def forward(self, inputs):
        self.calls += 1
        return (inputs[0] * 2,)


def test_functions_of_users_that_write_to_attributes():
    calls = np.zeros(1, 'i')

    def convert(params):
        names = [*params.input_names, *params.input_names]
        return onnx_chainer.onnx_helper.make_node('Add', names, params.output_names)

    exported(
        lambda x: Counted(calls).apply((x,))[0] + Counted(calls).apply((x,))[0],
        X,
        external_converters={'Counted': convert},
    )
    assert calls == 2


def test_writes_that_nothing_reads():
    def function(x):
        y = F.relu(x)
        z = F.exp(y)
        y.array[...] = 0
        return z

    exported(function, X)


def test_a_model_without_outputs():
    with pytest.raises(ValueError, match='the model returned no Variables'):
        exported(lambda x: [], X)


@pytest.mark.parametrize(
    ('error', 'kwargs', 'message'),
    [
        (TypeError, {'input_names': 3}, 'input_names is int'),
        (TypeError, {'input_names': [3]}, 'input_names has 3, expected str'),
        (ValueError, {'input_names': ['']}, 'input_names has an empty name'),
        (TypeError, {'output_names': 3}, 'output_names is int'),
        (ValueError, {'output_names': ['']}, 'output_names has an empty name'),
        (ValueError, {'input_names': ['y'], 'output_names': ['y']}, r"\['y'\] are names of inputs"),
        (TypeError, {'input_shapes': 3}, 'input_shapes is int'),
        (TypeError, {'input_shapes': [('b', 1.5)]}, r'input_shapes has 1\.5'),
        (TypeError, {'opset_version': 'x'}, "opset_version is 'x'"),
        (TypeError, {'graph_name': 3}, 'graph_name is 3'),
        (ValueError, {'graph_name': ''}, 'graph_name is empty'),
        (TypeError, {'external_converters': [1]}, 'external_converters is list'),
        (TypeError, {'external_converters': {'ReLU': 3}}, r"external_converters\['ReLU'\] is int"),
        (
            TypeError,
            {'external_converters': {'ReLU': lambda params: None}},
            r"external_converters\['ReLU'\] returned NoneType",
        ),
        (TypeError, {'external_opset_imports': [1]}, 'external_opset_imports is list'),
    ],
)
def test_wrong_kinds(error, kwargs, message):
    with pytest.raises(error, match=message):
        onnx_chainer.export(Model(F.relu), X, **kwargs)


def test_wrong_models_and_values(tmp_path):
    with pytest.raises(TypeError, match='model is int'):
        onnx_chainer.export(3, X)
    with pytest.raises(ValueError, match='args has a Variable or Parameter that is not init'):
        onnx_chainer.export(Model(F.relu), chainer.Parameter())
    with pytest.raises(ValueError, match='returned a Variable that is not initialized'):
        onnx_chainer.export(Model(lambda x: chainer.Parameter()), X)
    with pytest.raises(ValueError, match='output_grad needs parameters; the model is function'):
        onnx_chainer.export_testcase(lambda x: x, X, tmp_path, output_grad=True)
