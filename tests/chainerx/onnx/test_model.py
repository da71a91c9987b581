"""Models as objects: inputs and their errors, parameters, gradients, control flow, devices."""

import itertools
import re
import subprocess
import sys

import chainerx
import numpy as np
import onnx
import pytest
from chainerx.onnx import load
from onnx import helper
from onnx_models import TensorProto, branches, digits, info, make, node


def reference(model, x):
    p = {name: chainerx.to_numpy(v) for name, v in model.parameters.items()}
    h = np.maximum(x.reshape(len(x), -1) @ p['w1'].T + p['b1'], 0)
    return h @ p['w2'].T


def test_results(device):
    model = load(digits(), device)
    for n in (5, 1):
        x = np.random.default_rng(n).standard_normal((n, 2, 3)).astype('f')
        y = model(x)
        assert y.device is device
        np.testing.assert_allclose(chainerx.to_numpy(y), reference(model, x), rtol=1e-5, atol=1e-6)


def test_description():
    model = load(digits())
    assert model.inputs == [('x', np.dtype('f'), ('batch', 2, 3), True)]
    assert model.outputs == [('y', np.dtype('f'), ('batch', 3), True)]
    assert [*model.parameters] == ['w1', 'b1', 'w2']
    assert repr(model) == f'<chainerx.onnx.Model (x) on {model.device.name}>'


def test_file(tmp_path):
    path = tmp_path / 'model.onnx'
    path.write_bytes(digits())
    x = np.ones((2, 2, 3), 'f')
    expected = chainerx.to_numpy(load(digits())(x))
    np.testing.assert_array_equal(chainerx.to_numpy(load(path)(x)), expected)
    np.testing.assert_array_equal(chainerx.to_numpy(load(str(path))(x=x)), expected)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / 'other.onnx')


def test_gradients():
    model = load(digits())
    x = chainerx.array(np.random.default_rng(1).standard_normal((4, 2, 3)), 'float32')
    arrays = [x.require_grad(), *(p.require_grad() for p in model.parameters.values())]
    model(x).sum().backward()
    gradients = [chainerx.to_numpy(a.grad) for a in arrays]
    eps = 1e-2
    for array, gradient in zip(arrays, gradients, strict=True):
        place = (0,) * array.ndim
        base = chainerx.to_numpy(array)

        def total(shift, array=array, base=base, place=place):
            moved = base.copy()
            moved[place] += shift
            other = load(digits())
            for name, p in model.parameters.items():
                other.set_parameter(
                    name, chainerx.array(moved if p is array else p).as_grad_stopped()
                )
            return float(other(chainerx.array(moved) if array is x else x.as_grad_stopped()).sum())

        numeric = (total(eps) - total(-eps)) / (2 * eps)
        assert gradient[place] == pytest.approx(numeric, rel=1e-2, abs=1e-2)


def test_parameters_are_replaced_and_written_to():
    model = load(digits())
    x = np.ones((2, 2, 3), 'f')
    model.set_parameter('w2', chainerx.zeros((3, 4), 'float32'))
    assert not chainerx.to_numpy(model(x)).any()
    model.parameters['w2'][...] = 1
    np.testing.assert_allclose(chainerx.to_numpy(model(x)), reference(model, x), rtol=1e-5)
    with pytest.raises(chainerx.NotFoundError, match='no parameter "rest"'):
        model.set_parameter('rest', chainerx.zeros(1, 'int64'))
    with pytest.raises(chainerx.DtypeError, match='"w2" has dtype float32, got float64'):
        model.set_parameter('w2', chainerx.zeros((3, 4), 'float64'))
    with pytest.raises(chainerx.DimensionError, match=r'"w2" has shape \(3, 4\), got \(4, 3\)'):
        model.set_parameter('w2', chainerx.zeros((4, 3), 'float32'))
    with pytest.raises(
        chainerx.DeviceError, match='"w2" is on native:1, but the model on native:0'
    ):
        model.set_parameter('w2', chainerx.zeros((3, 4), 'float32', device='native:1'))
    with pytest.raises(TypeError, match='expected an ndarray, got int'):
        model.set_parameter('w2', 1)


def test_to_device():
    model = load(digits())
    x = np.ones((2, 2, 3), 'f')
    expected = chainerx.to_numpy(model(x))
    model.parameters['w1'].require_grad()
    assert model.to_device('native:1') is model
    assert not model.parameters['w1'].is_grad_required()
    assert model.device.name == 'native:1'
    assert {p.device.name for p in model.parameters.values()} == {'native:1'}
    y = model(x)
    assert y.device.name == 'native:1'
    np.testing.assert_array_equal(chainerx.to_numpy(y), expected)
    with pytest.raises(
        chainerx.DeviceError, match='input "x" is on native:0, but the model on nat'
    ):
        model(chainerx.array(x, device='native:0'))


@pytest.mark.parametrize(
    ('args', 'kwargs', 'error', 'message'),
    [
        ((), {}, ValueError, r'input "x" is missing, expected float32 \(batch, 2, 3\)'),
        ((None,), {}, ValueError, 'input "x" is missing'),
        ((1, 2), {}, TypeError, 'has 1 inputs, but was given 2'),
        ((), {'z': 1}, TypeError, 'has no input "z", but x'),
        ((np.ones((1, 2, 3), 'f'),), {'x': 1}, TypeError, 'input "x" was given twice'),
        ((np.ones((1, 2, 3)),), {}, chainerx.DtypeError, 'must be float32 .*, got dtype float64'),
        ((np.ones((1, 2, 4), 'f'),), {}, chainerx.DimensionError, r'got shape \(1, 2, 4\)'),
        ((np.ones((1, 2), 'f'),), {}, chainerx.DimensionError, r'got shape \(1, 2\)'),
        (([],), {}, chainerx.DimensionError, r'got shape \(0,\)'),
    ],
)
def test_wrong_inputs(args, kwargs, error, message):
    with pytest.raises(error, match=message):
        load(digits())(*args, **kwargs)


@pytest.mark.parametrize('flag', [False, True])
@pytest.mark.parametrize('n', [0, 1, 3])
def test_control_flow(flag, n):
    x = np.array([2, 3], 'f')
    a = x + 1 if flag else x + x
    y, steps = load(branches())(x, np.array(flag), np.array(n))
    np.testing.assert_array_equal(chainerx.to_numpy(y), np.concatenate([a, a * x**n]))
    expected = np.reshape([a * x ** (i + 1) for i in range(n)], (n, 2))
    np.testing.assert_array_equal(chainerx.to_numpy(steps), expected)


def test_loops_of_no_steps_have_results_of_the_declared_kind():
    def steps(declared, op):
        body = helper.make_graph(
            [node('Identity', ['go'], ['on']), node('Exp', ['x'], ['s'])],
            'body',
            [info('i', [], TensorProto.INT64), info('go', [], TensorProto.BOOL)],
            [info('on', [], TensorProto.BOOL), declared],
        )
        integer = info('n', [], TensorProto.INT64)
        model = load(
            make(
                [node('Loop', ['n', ''], ['s'], body=body), node(op, ['s'], ['y'])],
                [integer, info('x', [2, 'k'])],
                [info('y', None)],
            )
        )
        return model(np.array(0), np.ones((2, 3), 'f'))

    declared = info('s', [2, 3])
    y = steps(declared, 'Identity')
    assert y.shape == (0, 2, 3)
    assert y.dtype == 'float32'
    assert steps(declared, 'Shape').tolist() == [0, 2, 3]
    assert steps(info('s', [2, 'k']), 'Identity').shape == (0, 2, 0)
    assert steps(info('s', [2, 3], TensorProto.BFLOAT16), 'Identity').dtype == 'bfloat16'
    with pytest.raises(NotImplementedError, match='nothing says'):
        steps(info('s', None), 'Identity')


def test_errors_name_the_node():
    model = make(
        [node('MatMul', ['x', 'w'], ['y'], 'product')],
        [info('x', None)],
        [info('y', None)],
        {'w': np.ones((3, 4), 'f')},
    )
    message = re.escape('onnx: node "product" (MatMul): matmul: ')
    with pytest.raises(chainerx.DimensionError, match=message):
        load(model)(np.ones((2, 5), 'f'))


def test_nodes_in_any_order():
    nodes = [node('Neg', ['a'], ['y']), node('Abs', ['x'], ['a'])]
    y = load(make(nodes, [info('x', [2])], [info('y', [2])]))(np.array([-2, 3], 'f'))
    np.testing.assert_array_equal(chainerx.to_numpy(y), [-2, -3])


def test_an_output_that_is_an_input():
    model = load(
        make([node('Neg', ['x'], ['y'])], [info('x', [1])], [info('x', [1]), info('y', [1])])
    )
    x, y = model(np.ones(1, 'f'))
    assert float(x[0]) == -float(y[0]) == 1


def test_results_do_not_share_memory_with_the_model():
    constant = onnx.numpy_helper.from_array(np.ones(2, 'f'))
    nodes = [
        node('Constant', [], ['c'], value=constant),
        node('Reshape', ['c', 'shape'], ['y1']),
        node('Identity', ['shape'], ['y2']),
        node('Identity', ['w'], ['y3']),
    ]
    outputs = [info(name, None) for name in ('y1', 'y2', 'y3')]
    weights = {'shape': np.array([1, 2]), 'w': np.ones(2, 'f')}
    model = load(make(nodes, [info('x', [1])], outputs, weights))
    x = np.ones(1, 'f')
    for y in model(x):
        y += 1
    results = [chainerx.to_numpy(y).tolist() for y in model(x)]
    assert results == [[[1, 1]], [1, 2], [1, 1]]


# In a process of its own: threads that wait for each other hold Python's lock.
THREADS = """
import threading, numpy as np
from chainerx.onnx import load
model = load({!r})
threads = [threading.Thread(target=model, args=(np.zeros(1, 'f'),)) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
print(float(model(np.zeros(1, 'f'))[0]))
"""


def test_first_runs_of_several_threads():
    names = ['c', *(f'c{i}' for i in range(40))]
    nodes = [node('ConstantOfShape', ['n'], ['c'])]
    nodes += [node('CumSum', [a, 'axis'], [b]) for a, b in itertools.pairwise(names)]
    nodes += [node('ReduceMax', [names[-1]], ['m']), node('Add', ['x', 'm'], ['y'])]
    weights = {'n': np.array([2_000_000]), 'axis': np.array(0)}
    model = make(nodes, [info('x', [1])], [info('y', None)], weights)
    result = subprocess.run(
        [sys.executable, '-c', THREADS.format(model)], capture_output=True, text=True, timeout=60
    )
    assert result.stdout == '0.0\n', result.stderr


@pytest.mark.parametrize(
    ('start', 'end', 'step', 'expected'),
    [(-10, -100, -1, [0]), (-7, -6, -2, [0]), (10, -100, -2, [4, 2, 0]), (-10, 2, 1, [0, 1])],
)
def test_slices_that_begin_outside(start, end, step, expected):
    weights = {'s': np.array([start]), 'e': np.array([end]), 't': np.array([step])}
    weights['a'] = np.array([0])
    nodes = [node('Slice', ['x', 's', 'e', 'a', 't'], ['y'])]
    y = load(make(nodes, [info('x', [5])], [info('y', None)], weights))(np.arange(5, dtype='f'))
    assert chainerx.to_numpy(y).tolist() == expected


@pytest.mark.parametrize('mode', ['nearest', 'linear', 'cubic'])
def test_resize_to_nothing(mode):
    nodes = [node('Resize', ['x', '', 's'], ['y'], mode=mode)]
    scales = {'s': np.array([0.1], 'f')}
    model = load(make(nodes, [info('x', [3])], [info('y', None)], scales, opset=18))
    assert model(np.ones(3, 'f')).shape == (0,)


def test_split_of_nothing():
    model = make([node('Split', ['x'], ['a', 'b'])], [info('x', [0, 2])],
                 [info('a', None), info('b', None)])  # fmt: skip
    assert [y.shape for y in load(model)(np.ones((0, 2), 'f'))] == [(0, 2), (0, 2)]


def test_a_branch_of_too_few_outputs():
    branch = helper.make_graph([node('Identity', ['x'], ['b'])], 'branch', [], [info('b', None)])
    nodes = [node('If', ['c'], ['y', 'z'], 'choice', then_branch=branch, else_branch=branch)]
    inputs = [info('c', [], onnx.TensorProto.BOOL), info('x', [1])]
    model = load(make(nodes, inputs, [info('y', None), info('z', None)]))
    with pytest.raises(ValueError, match=r'"choice".*then_branch has 1 outputs, expected 2'):
        model(np.array(True), np.ones(1, 'f'))


def test_an_input_named_self():
    inputs = [info('self', [1]), info('x', [1])]
    model = load(make([node('Add', ['self', 'x'], ['y'])], inputs, [info('y', [1])]))
    x = np.ones(1, 'f')
    assert float(model(**{'self': x, 'x': x})[0]) == 2


def test_an_input_with_a_default():
    inputs = [info('x', [2]), info('w', [2])]
    model = load(
        make([node('Add', ['x', 'w'], ['y'])], inputs, [info('y', [2])], {'w': np.ones(2, 'f')})
    )
    assert [i.required for i in model.inputs] == [True, False]
    x = np.zeros(2, 'f')
    assert chainerx.to_numpy(model(x)).tolist() == [1, 1]
    assert chainerx.to_numpy(model(x, w=x)).tolist() == [0, 0]
    assert [*model.parameters] == ['w']


def test_other_outputs():
    x = np.random.default_rng(0).standard_normal((5, 2, 3)).astype('f')
    model = load(digits(), outputs=['a'])
    assert model.outputs == [('a', None, None, True)]
    assert [*model.parameters] == ['w1', 'b1']
    p = {name: chainerx.to_numpy(v) for name, v in model.parameters.items()}
    expected = np.maximum(x.reshape(5, 6) @ p['w1'].T + p['b1'], 0)
    np.testing.assert_allclose(chainerx.to_numpy(model(x)), expected, rtol=1e-5, atol=1e-6)
    y, a, flat = load(digits(), outputs=('y', 'a', 'flat'))(x)
    np.testing.assert_array_equal(chainerx.to_numpy(a), chainerx.to_numpy(model(x)))
    np.testing.assert_array_equal(chainerx.to_numpy(flat), x.reshape(5, 6))
    np.testing.assert_array_equal(chainerx.to_numpy(y), chainerx.to_numpy(load(digits())(x)))


def test_other_outputs_of_control_flow():
    """Graphs within need values, too; inputs that nothing needs are gone."""
    model = load(branches(), outputs=['a'])
    assert [i.name for i in model.inputs] == ['x', 'flag']
    assert [*model.parameters] == ['one']
    x = np.array([2, 3], 'f')
    assert chainerx.to_numpy(model(x, np.array(True))).tolist() == [3, 4]
    assert chainerx.to_numpy(model(x, np.array(False))).tolist() == [4, 6]
    assert load(branches(), outputs=['x'])(x).tolist() == [2, 3]


@pytest.mark.parametrize(
    ('outputs', 'error', 'message'),
    [
        (['z'], ValueError, 'outputs has "z", but no node, input or initializer'),
        ([''], ValueError, 'outputs has "", but'),
        (['a', 'a'], ValueError, 'outputs has "a" twice'),
        ([], ValueError, 'outputs is empty'),
        ('a', TypeError, "outputs is the str 'a'"),
        ([1], TypeError, 'outputs has 1, expected a str'),
    ],
)
def test_wrong_outputs(outputs, error, message):
    with pytest.raises(error, match=message):
        load(digits(), outputs=outputs)


def test_inputs_with_defaults_come_last():
    inputs = [info('w', [2]), info('x', [2])]
    nodes = [node('Sub', ['x', 'w'], ['y'])]
    model = load(make(nodes, inputs, [info('y', [2])], {'w': np.ones(2, 'f')}))
    assert [i.name for i in model.inputs] == ['x', 'w']
    assert chainerx.to_numpy(model(np.zeros(2, 'f'))).tolist() == [-1, -1]
    assert chainerx.to_numpy(model(np.zeros(2, 'f'), np.full(2, 2, 'f'))).tolist() == [-2, -2]


def test_all_unknown_operators_are_listed():
    nodes = [
        node('Nothing', ['x'], ['a'], 'first'),
        node('Gelu', ['a'], ['b'], 'second'),
        node('Other', ['b'], ['y'], 'third', domain='own'),
    ]
    model = make(nodes, [info('x', [1])], [info('y', [1])])
    with pytest.raises(NotImplementedError) as e:
        load(model)
    assert 'Nothing of version 17 of ai.onnx: no version of it is supported' in str(e.value)
    assert 'Gelu of version 17 of ai.onnx: it is supported from version 20 to 28' in str(e.value)
    assert '(node "second" (Gelu))' in str(e.value)
    assert 'Other: the model imports no version of the domain own (node "third"' in str(e.value)


@pytest.mark.parametrize(
    ('dtype', 'value', 'error', 'message'),
    [
        (TensorProto.FLOAT, 'abc', chainerx.DtypeError, 'array of float32, got str'),
        (TensorProto.FLOAT, {'x': 1}, chainerx.DtypeError, 'array of float32, got dict'),
        (TensorProto.FLOAT, [1, [2]], TypeError, 'array of float32, got list: .*inhomogeneous'),
        (TensorProto.INT64, [1.5], chainerx.DtypeError, 'array of int64, got float64'),
        (TensorProto.BOOL, [1, 0], chainerx.DtypeError, 'array of bool, got int64'),
        (TensorProto.UINT8, [300, 2], chainerx.DtypeError, 'uint8, from 0 to 255, got 2 to 300'),
        (TensorProto.UINT8, 2**70, chainerx.DtypeError, 'array of uint8, got int'),
    ],
)
def test_values_that_are_no_arrays(dtype, value, error, message):
    """None is changed silently on its way to the dtype of the input."""
    model = load(
        make([node('Identity', ['x'], ['y'])], [info('x', None, dtype)], [info('y', None)])
    )
    with pytest.raises(error, match=f'onnx: input "x" must be an .*{message}'):
        model(value)


def test_values_that_become_arrays():
    for dtype, value in ((TensorProto.FLOAT, [1, 2]), (TensorProto.INT32, [True]),
                         (TensorProto.BFLOAT16, 1.5), (TensorProto.UINT8, [])):  # fmt: skip
        inputs = [info('x', None, dtype)]
        y = load(make([node('Identity', ['x'], ['y'])], inputs, [info('y', None)]))(value)
        assert y.dtype == chainerx.dtype(helper.tensor_dtype_to_np_dtype(dtype).name)
        assert y.tolist() == value


def test_sources_that_are_neither_path_nor_bytes():
    with pytest.raises(TypeError, match='a path or the bytes of a model, got ModelProto'):
        load(onnx.load_from_string(digits()))


def one(op, inputs=('x',), **kwargs):
    return make([node(op, list(inputs), ['y'], 'n')], [info('x', [2])], [info('y', None)], **kwargs)


def change(edit):
    model = onnx.load_from_string(digits())
    edit(model)
    return model.SerializeToString()


@pytest.mark.parametrize(
    ('model', 'error', 'message'),
    [
        (one('Add', ('x', 'z')), ValueError, r'node "n" \(Add\) reads "z", which nothing makes'),
        (one('Add', ('x', 'y')), ValueError, r'node "n" \(Add\) is part of a cycle'),
        (change(lambda m: m.graph.node.add(op_type='Relu', input=['x'], output=['h'])), ValueError,
         'makes "h", which something else makes too'),
        (change(lambda m: m.graph.output.add(name='z')), ValueError, 'output "z".*made by nothing'),
        (change(lambda m: setattr(m, 'ir_version', 99)), ValueError, 'version is 99, expected 3'),
        (change(lambda m: setattr(m.opset_import[0], 'version', 99)), NotImplementedError,
         'version 99 of the operators of ai.onnx, expected 1 to 28'),
        (change(lambda m: m.graph.initializer[0].dims.append(7)), ValueError,
         r'initializer "w1" of shape \(4, 6, 7\) has 96 bytes, expected 672'),
        (change(lambda m: setattr(m.graph.initializer[0], 'data_type', TensorProto.STRING)),
         NotImplementedError, 'initializer "w1" has the element type STRING'),
        (change(lambda m: m.graph.initializer.add().CopyFrom(m.graph.initializer[0])), ValueError,
         'an initializer makes "w1"'),
        (change(lambda m: m.ClearField('graph')), ValueError, 'ModelProto.graph is missing'),
        (b'', ValueError, 'ModelProto.graph is missing'),
        (b'no model at all', ValueError, 'ModelProto'),
    ],
)  # fmt: skip
def test_models_that_contradict_themselves(model, error, message):
    with pytest.raises(error, match=message):
        load(model)


def external(location, **kwargs):
    tensor = onnx.TensorProto(name='w', data_type=1, dims=[2], data_location=1)
    for key, value in {'location': location, **kwargs}.items():
        tensor.external_data.add(key=key, value=str(value))
    model = onnx.load_from_string(one('Add', ('x', 'w'), weights={'w': np.ones(2, 'f')}))
    model.graph.initializer[0].CopyFrom(tensor)
    return model.SerializeToString()


def test_external_data(tmp_path):
    (tmp_path / 'in').mkdir()
    np.arange(4, dtype='f').tofile(tmp_path / 'in' / 'data.bin')
    np.arange(4, dtype='f').tofile(tmp_path / 'secret.bin')
    path = tmp_path / 'in' / 'model.onnx'
    path.write_bytes(external('data.bin', offset=8, length=8))
    assert chainerx.to_numpy(load(path)(np.zeros(2, 'f'))).tolist() == [2, 3]
    (tmp_path / 'in' / 'link.bin').symlink_to(tmp_path / 'secret.bin')
    for location in (
        '../secret.bin',
        str(tmp_path / 'secret.bin'),
        'link.bin',
        'none.bin',
        '',
        '.',
    ):
        path.write_bytes(external(location))
        with pytest.raises(ValueError, match=r'initializer "w" lies in .*expected a file in'):
            load(path)
    for options, message in [
        ({'offset': 12}, '"data.bin" has 16 bytes, expected 8 from byte 12 on'),
        ({'offset': -4}, 'offset is "-4", expected a number'),
        ({'offset': 'x'}, 'offset is "x", expected a number'),
        ({'length': 4}, 'has 4 bytes of external data, expected 8'),
    ]:
        path.write_bytes(external('data.bin', **options))
        with pytest.raises(ValueError, match=message):
            load(path)
    with pytest.raises(ValueError, match='was not read from a file'):
        load(external('data.bin'))


def test_functions_that_call_themselves():
    helper = onnx.helper
    functions = [
        helper.make_function(
            'own', f'F{i}', ['v'], ['w'],
            [node(f'F{min(i + 1, 40)}', ['v'], ['u'], domain='own'),
             node(f'F{min(i + 1, 40)}', ['u'], ['w'], domain='own')],
            [helper.make_opsetid('own', 1)],
        )
        for i in range(41)
    ]  # fmt: skip
    model = make(
        [node('F0', ['x'], ['y'], domain='own')], [info('x', [1])], [info('y', [1])],
        opsets=[helper.make_opsetid('own', 1)], functions=functions,
    )  # fmt: skip
    with pytest.raises(ValueError, match='functions call each other more than 32 deep'):
        load(model)


def test_functions_that_grow():
    helper = onnx.helper
    own = helper.make_opsetid('own', 1)
    functions = [
        helper.make_function(
            'own', f'F{i}', ['v'], ['w'],
            [node(f'F{i + 1}', ['v'], ['u'], domain='own'),
             node(f'F{i + 1}', ['u'], ['w'], domain='own')],
            [own],
        )
        for i in range(24)
    ]  # fmt: skip
    last = helper.make_function(
        'own', 'F24', ['v'], ['w'], [node('Neg', ['v'], ['w'])], [helper.make_opsetid('', 17)]
    )
    model = make(
        [node('F0', ['x'], ['y'], domain='own')], [info('x', [1])], [info('y', [1])],
        opsets=[own], functions=[*functions, last],
    )  # fmt: skip
    with pytest.raises(ValueError, match='the functions of the model have more than 200000 nodes'):
        load(model)


def test_attributes_of_functions():
    helper = onnx.helper
    own = helper.make_opsetid('own', 1)
    relu = node('LeakyRelu', ['v'], ['w'])
    relu.attribute.add(name='alpha', ref_attr_name='slope', type=onnx.AttributeProto.FLOAT)
    function = helper.make_function(
        'own', 'Leaky', ['v'], ['w'], [relu], [helper.make_opsetid('', 17)], attributes=['slope']
    )
    nodes = [
        node('Leaky', ['x'], ['y1'], domain='own', slope=0.5),
        node('Leaky', ['x'], ['y2'], domain='own'),  # the default of LeakyRelu
    ]
    outputs = [info('y1', [2]), info('y2', [2])]
    model = load(make(nodes, [info('x', [2])], outputs, opsets=[own], functions=[function]))
    y1, y2 = model(np.array([-1, 1], 'f'))
    np.testing.assert_allclose(chainerx.to_numpy(y1), [-0.5, 1])
    np.testing.assert_allclose(chainerx.to_numpy(y2), [-0.01, 1])


def test_values_are_freed_after_their_last_use():
    nodes = [node('Neg', [f'v{i}'], [f'v{i + 1}']) for i in range(50)]
    model = load(make(nodes, [info('v0', [None])], [info('v50', [None])]))
    x = chainerx.ones(1 << 18, 'float32')
    model(x)
    chainerx.reset_peak_memory_stats(x.device)
    before = chainerx.memory_stats(x.device)['in_use']
    model(x)
    assert chainerx.memory_stats(x.device)['peak_in_use'] - before < 3 * x.nbytes


def test_the_package_onnx_is_not_needed():
    code = (
        'import sys; sys.modules["onnx"] = None; import chainerx; '
        'assert "chainerx.onnx" not in sys.modules; '
        f'y = chainerx.onnx.load({digits()!r})(chainerx.ones((1, 2, 3), "float32")); print(y.shape)'
    )
    result = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, timeout=60
    )
    assert result.stdout == '(1, 3)\n', result.stderr
