"""Models of ONNX as links, exported again."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import onnx
import onnx_chainer
import pytest
from onnx_runtime import run

X = np.random.default_rng(0).standard_normal((5, 3)).astype('f')


def trained(source):
    """A link of the file in a model, with other parameters than those of the file."""
    link = L.ONNXFunction(source)
    for param in link.params():
        param.array[...] *= 1.5
    return chainer.Sequential(L.Linear(3, 3), link, F.tanh)


def check(model, *arrays, train=False, **kwargs):
    proto = onnx_chainer.export(model, list(arrays), train=train, **kwargs)
    onnx.checker.check_model(proto, full_check=True)
    with chainer.using_config('train', train):
        expected = model(*map(chainer.Variable, arrays)).array
    np.testing.assert_allclose(run(proto, arrays)[0], expected, rtol=1e-4, atol=1e-5)
    return proto


@pytest.fixture
def path(tmp_path):
    model = chainer.Sequential(L.Linear(3, 4), F.relu, L.BatchNormalization(4), L.Linear(4, 2))
    name = str(tmp_path / 'model.onnx')
    onnx_chainer.export(model, X, name, opset_version=15)
    return name


@pytest.mark.parametrize('opset', [15, 17, 21])
@pytest.mark.parametrize('kind', ['file', 'bytes'])
def test_a_model_in_a_model(path, kind, opset):
    with open(path, 'rb') as f:
        source = path if kind == 'file' else f.read()
    proto = check(trained(source), X, opset_version=opset)
    assert 'param_1_param_0_W' in [t.name for t in proto.graph.initializer]


def test_a_part_of_a_model(path):
    (relu,) = [n.output[0] for n in onnx.load(path).graph.node if n.op_type == 'Relu']
    link = L.ONNXFunction(path, outputs=[relu])
    proto = check(chainer.Sequential(link, L.Linear(4, 2)), X, opset_version=17)
    assert [n.op_type for n in proto.graph.node] == ['Gemm', 'Relu', 'Gemm']
    assert len(proto.graph.initializer) == 4


def test_one_file_twice(path):
    link = L.ONNXFunction(path)
    check(lambda x: link(x) + link(x * 2) - L.ONNXFunction(path)(-x), X)


def test_graphs_inside(tmp_path):
    name = str(tmp_path / 'model.onnx')
    onnx_chainer.export(lambda a: F.cumprod(F.inv(a), 0), np.eye(3, dtype='f'), name)
    a = np.random.default_rng(0).standard_normal((3, 3)).astype('f')
    link = L.ONNXFunction(name)
    check(lambda a: link(a) + link(link(a)), a)


def test_nodes_that_train(tmp_path):
    name = str(tmp_path / 'model.onnx')
    model = chainer.Sequential(L.Linear(3, 4), lambda x: F.dropout(x, 0.9))
    onnx_chainer.export(model, X, name, train=True)
    proto = check(L.ONNXFunction(name), X)
    assert len(proto.graph.node[-1].input) == 1
    proto = onnx_chainer.export(L.ONNXFunction(name), X, train=True)
    assert len(proto.graph.node[-1].input) == 3
