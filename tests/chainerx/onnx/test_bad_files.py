"""Files that are cut off, changed at random, or lie about lengths."""

import random

import chainerx
import numpy as np
import pytest
from chainerx.onnx import load
from onnx import helper
from onnx_models import TensorProto, branches, digits, info, make, node


def error_of(data):
    """Loads a model; the message of its error, of a kind that a file may cause, or None."""
    try:
        assert isinstance(load(data).inputs, list)
    except (chainerx.ChainerxError, ValueError, NotImplementedError) as e:
        return str(e)
    return None


MODELS = {'digits': digits, 'branches': branches}


def varint(n):
    out = b''
    while n >= 128:
        out += bytes([n % 128 + 128])
        n //= 128
    return out + bytes([n])


@pytest.mark.parametrize('name', MODELS)
def test_truncated(name):
    whole = MODELS[name]()
    errors = [e for n in range(len(whole)) if (e := error_of(whole[:n])) is not None]
    assert all(e.startswith('onnx: ') for e in errors)
    # What is cut between two fields of the model may still be one.
    assert len(errors) > len(whole) - 20


@pytest.mark.parametrize('name', MODELS)
def test_changed_bytes(name):
    whole = MODELS[name]()
    rng = random.Random(0)
    errors = []
    for _ in range(5000):
        data = bytearray(whole)
        for _ in range(rng.choice((1, 1, 2, 8))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        errors.append(error_of(bytes(data)))
    assert all(e.startswith('onnx: ') for e in errors if e is not None)
    assert 1000 < 5000 - errors.count(None) < 5000


@pytest.mark.parametrize('length', [2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1])
@pytest.mark.parametrize('field', [1, 2, 7, 8, 25])
def test_hostile_lengths(field, length):
    for wrapped in (False, True):
        data = varint(field << 3 | 2) + varint(length) + b'abc'
        if wrapped:
            data = varint(7 << 3 | 2) + varint(len(data)) + data
        with pytest.raises(ValueError, match=r'onnx: \w+\.[\w()]+ '):
            load(data)


def test_hostile_shapes():
    tensor = b''.join(varint(1 << 3) + varint(2**40) for _ in range(3))
    tensor += varint(2 << 3) + varint(1) + varint(8 << 3 | 2) + b'\x01w'
    graph = varint(5 << 3 | 2) + varint(len(tensor)) + tensor
    model = varint(1 << 3) + varint(8) + varint(7 << 3 | 2) + varint(len(graph)) + graph
    with pytest.raises(ValueError, match='initializer "w" has the impossible shape'):
        load(model)


def test_nested_graphs():
    graph = b''
    for _ in range(1000):
        attribute = varint(6 << 3 | 2) + varint(len(graph)) + graph
        node = varint(5 << 3 | 2) + varint(len(attribute)) + attribute
        graph = varint(1 << 3 | 2) + varint(len(node)) + node
    model = varint(7 << 3 | 2) + varint(len(graph)) + graph
    with pytest.raises(ValueError, match='graphs are nested more than 64 deep'):
        load(model)


def test_numbers_without_an_end():
    with pytest.raises(ValueError, match='a number has more than 10 bytes'):
        load(b'\x08' + b'\xff' * 20)
    with pytest.raises(ValueError, match='the file ends within a number'):
        load(b'\x08\xff')


def test_sequences_within_sequences():
    """Each round would nest one deeper, and their end would need a stack of that depth."""
    sequence = helper.make_tensor_sequence_value_info
    body = helper.make_graph(
        [node('Identity', ['go'], ['on']), node('SequenceEmpty', [], ['e']),
         node('SequenceInsert', ['e', 's'], ['t'], 'insert')],
        'body',
        [info('i', [], TensorProto.INT64), info('go', [], TensorProto.BOOL),
         sequence('s', 1, None)],
        [info('on', [], TensorProto.BOOL), sequence('t', 1, None)],
    )  # fmt: skip
    nodes = [
        node('SequenceEmpty', [], ['s0']),
        node('Loop', ['n', '', 's0'], ['r'], body=body),
        node('SequenceLength', ['r'], ['y']),
    ]
    integer = TensorProto.INT64
    model = load(make(nodes, [info('n', [], integer)], [info('y', [], integer)]))
    with pytest.raises(TypeError, match=r'"insert".*input 1 is a sequence, expected a tensor'):
        model(np.array(2))


@pytest.mark.parametrize('op', ['DepthToSpace', 'SpaceToDepth'])
@pytest.mark.parametrize('size', [-1, 0, 2**32, 2**62])
def test_blocks_whose_square_overflows(op, size):
    nodes = [node(op, ['x'], ['y'], blocksize=size)]
    model = load(make(nodes, [info('x', None)], [info('y', None)]))
    with pytest.raises(ValueError, match='attribute blocksize is'):
        model(np.ones((1, 4, 4, 0), 'f'))


def test_an_operator_without_inputs():
    model = load(make([node('Concat', [], ['y'], 'none', axis=0)], [], [info('y', None)]))
    with pytest.raises(ValueError, match=r'node "none" \(Concat\): input 0 is missing'):
        model()


def test_strings_that_are_not_utf_8():
    nodes = [node('Resize', ['x', '', 's'], ['y'], 'resize', mode=b'\xe9t\xe9')]
    model = make(nodes, [info('x', [3])], [info('y', None)], {'s': np.array([2], 'f')})
    with pytest.raises(ValueError, match=r'node "resize" \(Resize\): .*\ufffdt\ufffd'):
        load(model)(np.ones(3, 'f'))


@pytest.mark.parametrize(
    'leaf',
    [
        node('Sum', ['v'] * 50000, ['w']),
        node('Neg', ['v'], ['w'], 'n' * 200000),
        node('LeakyRelu', ['v'], ['w'], unused=[''] * 50000),
    ],
    ids=['inputs', 'name', 'strings'],
)
def test_nodes_that_functions_copy(leaf):
    own = helper.make_opsetid('own', 1)
    functions = [
        helper.make_function(
            'own', f'F{i}', ['v'], ['w'],
            [node(f'F{i + 1}', ['v'], ['u'], domain='own'),
             node(f'F{i + 1}', ['u'], ['w'], domain='own')],
            [own],
        )
        for i in range(14)
    ]  # fmt: skip
    last = helper.make_function('own', 'F14', ['v'], ['w'], [leaf], [helper.make_opsetid('', 17)])
    model = make(
        [node('F0', ['x'], ['y'], domain='own')], [info('x', [1])], [info('y', [1])],
        opsets=[own], functions=[*functions, last],
    )  # fmt: skip
    with pytest.raises(ValueError, match='functions of the model have more than 268435456 bytes'):
        load(model)
