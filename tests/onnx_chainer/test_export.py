"""What `export` takes, returns, names and refuses."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import onnx
import onnx_chainer
import pytest
from chainerx.onnx import _saved
from onnx_runtime import run


class Net(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(3, 4)
            self.bn = L.BatchNormalization(4)
            self.l2 = L.Linear(4, 2)

    def forward(self, x):
        return self.l2(F.relu(self.bn(self.l1(x))))


class Two(chainer.Chain):
    def forward(self, a, b):
        return {'sum': a + b, 'product': a * b}


X = np.random.default_rng(0).standard_normal((5, 3)).astype('f')


def names(values):
    return [v.name for v in values]


def expected(model, *xs):
    with chainer.using_config('train', False):
        return model(*map(chainer.Variable, xs)).array


@pytest.mark.parametrize('kind', ['numpy', 'native', 'variable', 'list', 'dict'])
def test_arguments(kind):
    model = Net()
    args = {
        'numpy': X,
        'native': chainer.get_device('native:0').send(X),
        'variable': chainer.Variable(X),
        'list': [X],
        'dict': {'x': X},
    }[kind]
    if kind == 'native':
        model.to_device('native:0')
    proto = onnx_chainer.export(model, args)
    onnx.checker.check_model(proto, full_check=True)
    assert names(proto.graph.input) == ['Input_0']
    model.to_device('@numpy')
    np.testing.assert_allclose(run(proto, [X])[0], expected(model, X), rtol=1e-5, atol=1e-6)


def test_names_and_metadata():
    proto = onnx_chainer.export(Net(), X, graph_name='Net')
    assert proto.producer_name == 'Chainer'
    assert proto.graph.name == 'Net'
    assert proto.opset_import[0].version == 17
    assert names(proto.graph.initializer) == [
        'param_l1_W', 'param_l1_b', 'param_bn_gamma', 'param_bn_beta', 'param_bn_avg_mean',
        'param_bn_avg_var', 'param_l2_W', 'param_l2_b',
    ]  # fmt: skip
    assert names(proto.graph.node) == [
        'LinearFunction_0', 'FixedBatchNormalization_0', 'ReLU_0', 'LinearFunction_1',
    ]  # fmt: skip
    assert names(proto.graph.output) == ['LinearFunction_1']


def test_a_parameter_that_is_used_twice_is_there_once():
    class Shared(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.l = L.Linear(3, 3)

        def forward(self, x):
            return self.l(self.l(x))

    proto = onnx_chainer.export(Shared(), X)
    assert names(proto.graph.initializer) == ['param_l_W', 'param_l_b']
    assert len(proto.graph.node) == 2


def test_names_of_inputs_and_outputs():
    proto = onnx_chainer.export(Two(), [X, X], input_names=['a', 'b'], output_names=['s', 'p'])
    assert names(proto.graph.input) == ['a', 'b']
    assert names(proto.graph.output) == ['s', 'p']
    proto, inputs, outputs = onnx_chainer.export(
        Two(), {'b': X, 'a': X}, input_names={'a': 'first', 'b': 'second'},
        output_names={'product': 'p', 'sum': 's'}, return_named_inout=True,
    )  # fmt: skip
    assert list(inputs) == ['second', 'first']
    assert list(outputs) == ['s', 'p']
    np.testing.assert_array_equal(outputs['p'].array, X * X)


def test_open_axes():
    proto = onnx_chainer.export(Net(), X, input_shapes=('batch', 3))
    assert proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param == 'batch'
    more = np.concatenate([X, X])
    model = Net()
    proto = onnx_chainer.export(model, {'x': X}, input_shapes={'x': ('batch', 3)})
    np.testing.assert_allclose(run(proto, [more])[0], expected(model, more), rtol=1e-5, atol=1e-6)


def test_without_parameters():
    proto = onnx_chainer.export(Net(), X, export_params=False)
    assert not proto.graph.initializer
    assert names(proto.graph.input)[1:3] == ['param_l1_W', 'param_l1_b']
    model = chainer.Sequential(L.Linear(3, 4), lambda x: F.pad(x * 2, 1, 'constant'))
    for opset in (7, 17):
        proto = onnx_chainer.export(model, X, export_params=False, opset_version=opset)
        onnx.checker.check_model(proto, full_check=True)
        parameters = [model[0].W.array, model[0].b.array]
        found = run(proto, [X, *parameters])[0]
        np.testing.assert_allclose(found, expected(model, X), rtol=1e-5, atol=1e-6)


def test_in_training():
    class Dropped(chainer.Chain):
        def forward(self, x):
            return F.dropout(x, 0.25)

    assert names(onnx_chainer.export(Dropped(), X).graph.node) == ['Identity_0']
    (node,) = onnx_chainer.export(Dropped(), X, train=True).graph.node
    assert node.op_type == 'Dropout'
    model = Net()
    proto = onnx_chainer.export(model, X, train=True)
    with chainer.using_config('train', True):
        y = model(X).array
    np.testing.assert_allclose(run(proto, [X])[0], y, rtol=1e-4, atol=1e-5)
    assert chainer.config.train


def test_parts_of_a_model_that_train():
    rnn = L.NStepGRU(2, 3, 4, 0.5)

    def function(x):
        with chainer.using_config('train', not chainer.config.train):
            return F.rrelu(rnn(None, [x])[1][0])

    for train in (False, True):
        proto = onnx_chainer.export(function, X, train=train)
        kinds = [n.op_type for n in proto.graph.node]
        assert kinds.count('Dropout') == kinds.count('PRelu') == int(not train)


@pytest.mark.parametrize('output', ['input', 'twice', 'parameter', 'constant'])
def test_outputs_that_no_function_made(output):
    class Model(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.w = chainer.Parameter(np.ones(3, 'f'))

        def forward(self, x):
            y = F.relu(x)
            return {
                'input': (x, y),
                'twice': (y, y),
                'parameter': (self.w, y),
                'constant': (chainer.Variable(np.full(3, 7, 'f')), y),
            }[output]

    proto = onnx_chainer.export(Model(), X)
    onnx.checker.check_model(proto, full_check=True)
    first, second = run(proto, [X])
    wanted = {
        'input': X,
        'twice': np.maximum(X, 0),
        'parameter': np.ones(3),
        'constant': np.full(3, 7),
    }
    np.testing.assert_array_equal(first, wanted[output])
    np.testing.assert_array_equal(second, np.maximum(X, 0))
    assert len(set(names(proto.graph.output))) == 2


def test_a_value_of_another_function_as_attribute():
    class Model(chainer.Chain):
        def forward(self, x, mask):
            return F.where(mask, x, -x)

    mask = X > 0
    proto = onnx_chainer.export(Model(), (X, mask))
    np.testing.assert_array_equal(run(proto, [X, ~mask])[0], -np.abs(X))


def test_files(tmp_path):
    proto = onnx_chainer.export(Net(), X, tmp_path / 'net.onnx', save_text=True)
    assert onnx.load(tmp_path / 'net.onnx') == proto
    assert 'LinearFunction_0' in (tmp_path / 'net.onnx.txt').read_text()


def test_large_files(tmp_path, monkeypatch):
    monkeypatch.setattr(_saved, 'SIZE_LIMIT', 100)
    path = tmp_path / 'net.onnx'
    model = L.Linear(100, 7)
    x = np.ones((2, 100), 'f')
    for _ in range(2):
        proto = onnx_chainer.export(model, x, path)
        onnx.checker.check_model(path, full_check=True)
        np.testing.assert_allclose(run(str(path), [x])[0], expected(model, x), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(run(proto, [x])[0], expected(model, x), rtol=1e-5, atol=1e-5)
        assert model.W.array.nbytes <= (tmp_path / 'net.onnx.data').stat().st_size < 8192
    assert path.stat().st_size < 1024


def test_testing_helpers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    from onnx_chainer.testing import get_test_data_set, input_generator, test_onnxruntime

    x = input_generator.increasing(5, 3)
    path = get_test_data_set.gen_test_data_set(Net(), x, 'net', 11)
    test_onnxruntime.check_model_expect(path, input_names=['Input_0'])
    with pytest.raises(AssertionError, match=r"the inputs are \['Input_0'\]"):
        test_onnxruntime.check_model_expect(path, input_names=['x'])
    assert x.min() == -7
    assert (input_generator.nonzero_increasing(4, dtype=np.int32) == [-2, -1, 1, 2]).all()
    assert input_generator.positive_increasing(3).min() > 0
    assert (input_generator.shaped_range(2, 2) == [[0, 1], [2, 3]]).all()


@pytest.mark.parametrize('wants_gradients', [False, True])
def test_testcase(tmp_path, wants_gradients):
    model = Net()
    for i in range(2):
        onnx_chainer.export_testcase(model, X, tmp_path, output_grad=wants_gradients)
        folder = tmp_path / f'test_data_set_{i}'
        tensor = onnx.TensorProto.FromString((folder / 'input_0.pb').read_bytes())
        assert tensor.name == 'Input_0'
        np.testing.assert_array_equal(onnx.numpy_helper.to_array(tensor), X)
        tensor = onnx.TensorProto.FromString((folder / 'output_0.pb').read_bytes())
        y = onnx.numpy_helper.to_array(tensor)
        np.testing.assert_allclose(
            run(str(tmp_path / 'model.onnx'), [X])[0], y, rtol=1e-5, atol=1e-6
        )
        gradients = sorted(folder.glob('gradient_*.pb'))
        assert len(gradients) == 6 * wants_gradients
    for path in gradients:
        tensor = onnx.TensorProto.FromString(path.read_bytes())
        param = dict(model.namedparams())[tensor.name.removeprefix('param').replace('_', '/')]
        np.testing.assert_array_equal(onnx.numpy_helper.to_array(tensor), param.grad)


def test_converters_of_the_user():
    class Twice(chainer.FunctionNode):
        def forward(self, inputs):
            return (inputs[0] * 2,)

    class Model(chainer.Chain):
        def forward(self, x):
            return Twice().apply((F.relu(x),))[0]

    with pytest.raises(ValueError, match=r'export: Twice has no converter.*external_converters'):
        onnx_chainer.export(Model(), X)

    def convert(params):
        assert isinstance(params.func, Twice)
        assert params.opset_version == 17
        value = params.context.add_const(np.array(2, 'f'), 'two')
        return (
            onnx_chainer.onnx_helper.make_node(
                'Mul', [params.input_names[0], value], params.output_names
            ),
        )

    proto = onnx_chainer.export(Model(), X, external_converters={'Twice': convert})
    np.testing.assert_array_equal(run(proto, [X])[0], np.maximum(X, 0) * 2)

    def custom(params):
        return (
            onnx_chainer.onnx_helper.make_node(
                'Twice', params.input_names, params.output_names, domain='mine'
            ),
        )

    proto = onnx_chainer.export(
        Model(), X, external_converters={'Twice': custom}, external_opset_imports={'mine': 3}
    )
    assert {x.domain: x.version for x in proto.opset_import} == {'': 17, 'mine': 3}


def test_what_cannot_be_said_is_named():
    class Model(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.parts = chainer.ChainList(
                    L.Linear(3, 4), L.DecorrelatedBatchNormalization(4, 2)
                )

        def forward(self, x):
            return self.parts[1](self.parts[0](x))

    onnx_chainer.export(Model(), X)
    message = (
        r'DecorrelatedBatchNormalization has no converter to ONNX \(in link /parts/1 '
        r'\(DecorrelatedBatchNormalization\)\): .* train=False .*external_converters='
    )
    with pytest.raises(ValueError, match=message):
        onnx_chainer.export(Model(), X, train=True)
    model = chainer.Sequential(L.EmbedID(3, 4, ignore_label=-1))
    message = r'opset 9 has first.*\(in link /0 \(EmbedID\), with /0/W'
    with pytest.raises(ValueError, match=message):
        onnx_chainer.export(model, X.astype('i'), opset_version=8)


@pytest.mark.parametrize(
    ('args', 'kwargs', 'message'),
    [
        ('x', {}, 'args is str'),
        ([X, 'x'], {}, 'args has str in it'),
        ([X, X], {'input_names': ['a']}, 'input_names has 1 names, args has 2 arrays'),
        ([X, X], {'input_names': ['a', 'a']}, 'input_names has a name twice'),
        ({'a': X, 'b': X}, {'input_names': {'c': 'x'}}, r"input_names has \['c'\]"),
        ([X, X], {'output_names': ['a']}, 'output_names has 1 names, the model has 2 outputs'),
        ([X, X], {'output_names': ['a', 'a']}, 'output_names has a name twice'),
        ([X, X], {'output_names': {'sum': 'a'}}, r"output_names has \['sum'\]"),
        ([X, X], {'input_shapes': [(5, 3)]}, 'input_shapes has 1 shapes, args has 2 arrays'),
        ([X, X], {'input_shapes': [(5, 3), (5,)]}, r'input_shapes has \(5,\) for .* \(5, 3\)'),
        ([X, X], {'input_shapes': [(5, 3), ('b', 4)]}, r"input_shapes has \('b', 4\)"),
        ([X, X], {'input_shapes': {'a': (5, 3)}}, 'input_shapes is a dict, args is not'),
        ({'a': X, 'b': X}, {'input_shapes': {'c': (5, 3)}}, r"input_shapes has \['c'\]"),
        ([X, X], {'opset_version': 99}, r'opset_version is 99; onnx .* has 1 to'),
        ([X, X], {'opset_version': 0}, 'opset_version is 0'),
    ],
)
def test_wrong_arguments(args, kwargs, message):
    with pytest.raises(ValueError, match=message):
        onnx_chainer.export(Two(), args, **kwargs)


def test_wrong_results():
    class Model(chainer.Chain):
        def forward(self, x):
            return self.result

    model = Model()
    for result, message in ((3, 'returned int'), ([X], 'returned ndarray among its outputs')):
        model.result = result
        with pytest.raises(ValueError, match=message):
            onnx_chainer.export(model, X)


def test_untested_versions_warn():
    with pytest.warns(UserWarning, match='opset_version 6 is not tested'):
        onnx_chainer.export(Two(), [X, X], opset_version=6)


def test_functions_of_python_as_one_node():
    @onnx_chainer.replace_func.as_funcnode('Scaled', rename_attributes=[('factor', 'alpha')])
    def scaled(x, others, factor=2, *, bias=1):
        return x * factor + others[0] * bias, others[1]

    class Model(chainer.Chain):
        def forward(self, x):
            return scaled(x, [x, F.relu(x)], 3)

    seen = []

    def convert(params):
        seen.append((params.func.alpha, params.func.bias, len(params.input_names)))
        return (
            onnx_chainer.onnx_helper.make_node('Scaled', params.input_names, params.output_names),
        )

    proto = onnx_chainer.export(Model(), X, external_converters={'Scaled': convert})
    assert seen == [(3, 1, 3)]
    assert [n.op_type for n in proto.graph.node] == ['Relu', 'Scaled']
    x = chainer.Variable(X)
    y, z = scaled(x, [x, x])
    F.sum(y + z).backward()
    np.testing.assert_allclose(x.grad, np.full_like(X, 4))

    def same(x):
        return x

    fake = onnx_chainer.replace_func.fake_as_funcnode(same, 'Same')
    with pytest.warns(FutureWarning, match='Same: fake_as_funcnode is experimental'):
        fake(x)
    with pytest.raises(ValueError, match='Same: no argument is a Variable'):
        onnx_chainer.replace_func.as_funcnode('Same')(same)(3)


def test_graph_builder():
    onnx_chainer.onnx_helper.set_func_name('Relu_0')
    builder = onnx_chainer.onnx_helper.GraphBuilder()
    y = builder.op('Relu', ['x'])
    a, b = builder.op('Split', [y], num_outputs=2, axis=1)
    builder.op_output_named('Add', [a, b], ['z'])
    nodes = builder.nodes(output_names=['out'])
    assert [list(n.output) for n in nodes] == [[y], [a, b], ['out']]
    with pytest.raises(ValueError, match='Add has 1 outputs, output_names has 2'):
        builder.nodes(output_names=['a', 'b'])


def test_other_dtypes():
    for dtype in (np.float64, np.float16):
        model = Two()
        proto = onnx_chainer.export(model, [X.astype(dtype)] * 2)
        for y in run(proto, [X.astype(dtype)] * 2):
            assert y.dtype == dtype


def test_parameters_without_values_are_refused():
    param = chainer.Parameter()
    with pytest.raises(ValueError, match='no name in this context'):
        onnx_chainer.convert_parameter(param, onnx_chainer.context.Context(chainer.Chain()))
    net = Net()
    context = onnx_chainer.context.Context(net)
    tensor = onnx_chainer.convert_parameter(net.l1.W, context)
    assert tensor.name == 'param_l1_W'
    assert context.get_link(net.l1.W) is net.l1
