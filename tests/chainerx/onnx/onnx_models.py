"""Small models for tests, made with the package onnx, and those of its own suite."""

import functools
import pathlib
import warnings

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.backend.test.loader import load_model_tests

__all__ = ['TensorProto', 'branches', 'digits', 'info', 'light', 'make', 'node', 'suite']

node = helper.make_node


def info(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def make(nodes, inputs, outputs, weights=None, opset=17, **kwargs):
    """The bytes of a model; `weights` are arrays by name."""
    initializers = [
        onnx.numpy_helper.from_array(np.asarray(a), n) for n, a in (weights or {}).items()
    ]
    graph = helper.make_graph(nodes, 'graph', inputs, outputs, initializers)
    opsets = [helper.make_opsetid('', opset), *kwargs.pop('opsets', [])]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10, **kwargs)
    return model.SerializeToString()


def digits():
    """A perceptron of two layers whose reshaping depends on the input."""
    rng = np.random.default_rng(0)
    weights = {
        'w1': rng.standard_normal((4, 6)).astype('f'),
        'b1': rng.standard_normal(4).astype('f'),
        'w2': rng.standard_normal((3, 4)).astype('f'),
        'rest': np.array([-1], 'i8'),
    }
    nodes = [
        node('Shape', ['x'], ['shape'], 'shape'),
        node('Constant', [], ['zero'], value_ints=[0]),
        node('Gather', ['shape', 'zero'], ['batch'], 'batch'),
        node('Concat', ['batch', 'rest'], ['flat_shape'], axis=0),
        node('Reshape', ['x', 'flat_shape'], ['flat'], 'flatten'),
        node('Gemm', ['flat', 'w1', 'b1'], ['h'], 'layer1', transB=1),
        node('Relu', ['h'], ['a'], 'relu'),
        node('Gemm', ['a', 'w2'], ['y'], 'layer2', transB=1),
    ]
    return make(nodes, [info('x', ['batch', 2, 3])], [info('y', ['batch', 3])], weights)


def branches():
    """If, Loop, a sequence, and a function."""
    then = helper.make_graph([node('Add', ['x', 'one'], ['t'])], 'then', [], [info('t', [2])])
    other = helper.make_graph(
        [node('Twice', ['x'], ['e'], domain='own')], 'else', [], [info('e', [2])]
    )
    body = helper.make_graph(
        [
            node('Identity', ['go'], ['go_on']),
            node('Mul', ['c', 'x'], ['d']),
            node('Identity', ['d'], ['s']),
        ],
        'body',
        [info('i', [], TensorProto.INT64), info('go', [], TensorProto.BOOL), info('c', [2])],
        [info('go_on', [], TensorProto.BOOL), info('d', [2]), info('s', [2])],
    )
    nodes = [
        node('If', ['flag'], ['a'], 'choice', then_branch=then, else_branch=other),
        node('Loop', ['n', '', 'a'], ['b', 'steps'], 'loop', body=body),
        node('SequenceConstruct', ['a', 'b'], ['list']),
        node('ConcatFromSequence', ['list'], ['y'], axis=0),
    ]
    twice = helper.make_function(
        'own',
        'Twice',
        ['v'],
        ['w'],
        [node('Add', ['v', 'v'], ['w'])],
        [helper.make_opsetid('', 17)],
    )
    return make(
        nodes,
        [info('x', [2]), info('flag', [], TensorProto.BOOL), info('n', [], TensorProto.INT64)],
        [info('y', [4]), info('steps', [None, 2])],
        {'one': np.float32(1)},
        opsets=[helper.make_opsetid('own', 1)],
        functions=[twice],
    )


@functools.cache
def suite():
    """All cases by name. The reference of some computes on purpose what NumPy warns about."""
    kinds = ('node', 'simple', 'pytorch-operator', 'pytorch-converted')
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        return {c.name: c for kind in kinds for c in load_model_tests(kind=kind)}


@functools.cache
def light():
    """The cases of real networks that come with the package, and the files of their models.

    The weights of these are constants, so that the files are small. The output lies beside.
    """
    root = pathlib.Path(onnx.__file__).parents[1]
    cases = {c.name: (c, root / c.url) for c in load_model_tests(kind='real')}
    return {name: case for name, case in cases.items() if case[1].is_file()}
