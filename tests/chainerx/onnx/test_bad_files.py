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


MOST, LEAST = 2**63 - 1, -(2**63)
IMAGE = np.ones((1, 1, 3, 3), 'f')
KERNEL = np.ones((1, 1, 2, 2), 'f')
COLUMNS = np.ones((1, 4, 4), 'f')
REGION = np.array([[0, 0, 2, 2]], 'f')


def ints(*values):
    return np.array(values, 'q')


@pytest.mark.parametrize(
    ('op', 'inputs', 'attributes', 'message'),
    [
        # A product that is 0 is no divisor.
        ('Col2Im', [COLUMNS, ints(3, 3, 3), ints(*[2**31] * 3)], {}, 'expected columns of'),
        ('Col2Im', [COLUMNS, ints(*[2**31] * 3), ints(1, 1, 4)], {}, 'expected columns of'),
        ('Col2Im', [COLUMNS, ints(MOST, 3), ints(2, 2)], {}, 'the image has shape'),
        ('Col2Im', [COLUMNS, ints(3, LEAST), ints(2, 2)], {}, 'the image has shape'),
        ('ConvTranspose', [IMAGE, KERNEL], {'output_padding': [0, MOST]}, 'output_padding has'),
        ('ConvTranspose', [IMAGE, KERNEL], {'output_padding': [0, -1]}, 'output_padding has'),
        ('ConvTranspose', [IMAGE, KERNEL], {'output_padding': [1]}, 'has 1 elements, expected 2'),
        ('ConvTranspose', [IMAGE, KERNEL], {'output_shape': [4, LEAST]}, 'output_shape has'),
        ('ConvTranspose', [IMAGE, KERNEL], {'output_shape': [4, 0]}, 'output_shape has'),
        # These would take memory until there is none.
        ('RoiAlign', [IMAGE, REGION, ints(0)], {'output_height': MOST}, 'bins of 1 samples'),
        ('RoiAlign', [IMAGE, REGION, ints(0)], {'sampling_ratio': MOST}, '1 bins of'),
        ('RoiAlign', [IMAGE, REGION, ints(0)],
         {'output_width': 2**32, 'sampling_ratio': 2**32}, 'bins of'),
        ('MaxRoiPool', [IMAGE, np.array([[0, 0, 0, 2, 2]], 'f')],
         {'pooled_shape': [2**32, 2**32]}, 'pooled_shape is'),
        ('Resize', [np.ones((1, 9), 'f'), np.ones(0, 'f'), np.ones(0, 'f'), ints(2**62, 1)],
         {'keep_aspect_ratio_policy': 'not_smaller'}, "can't be scaled by 4"),
        *(
            ('MelWeightMatrix', [ints(4)[0], ints(8)[0], ints(100)[0], low, high], {},
             'lower_edge_hertz and upper_edge_hertz are')
            for low, high in np.array([[np.nan, 10], [0, np.inf], [-701, 10], [-np.inf, 1]], 'f')
        ),
        # No integer is as large.
        ('MaxRoiPool', [IMAGE, np.array([[1e30, 0, 0, 2, 2]], 'f')],
         {'pooled_shape': [1, 1]}, 'a region is of image 1.0'),
        ('MaxRoiPool', [IMAGE, np.array([[0, np.nan, 0, 2, 2]], 'f')],
         {'pooled_shape': [1, 1]}, 'a region has the edge nan'),
    ],
)  # fmt: skip
def test_numbers_whose_sums_and_products_overflow(op, inputs, attributes, message):
    names = [f'x{i}' for i in range(len(inputs))]
    types = {'float32': TensorProto.FLOAT, 'int64': TensorProto.INT64}
    infos = [info(name, None, types[x.dtype.name]) for name, x in zip(names, inputs, strict=True)]
    model = load(make([node(op, names, ['y'], **attributes)], infos, [info('y', None)], opset=18))
    with pytest.raises((ValueError, IndexError), match=message):
        model(*inputs)


@pytest.mark.parametrize('edge', [np.nan, np.inf, -np.inf, 1e30, -1e30])
@pytest.mark.parametrize('mode', ['nearest', 'linear', 'cubic'])
def test_regions_without_an_end(edge, mode):
    """Nothing of the input lies there."""
    nodes = [
        node('Resize', ['x', 'r', '', 'n'], ['y'], mode=mode, extrapolation_value=7.0,
             coordinate_transformation_mode='tf_crop_and_resize')
    ]  # fmt: skip
    infos = [info('x', None), info('r', None), info('n', None, TensorProto.INT64)]
    model = load(make(nodes, infos, [info('y', None)]))
    y = model(np.ones((2, 3), 'f'), np.array([0, edge, 1, edge], 'f'), ints(2, 4))
    assert (y == 7).all()


def test_the_largest_steps_and_pads():
    """They end after the first frame, and cut all."""
    nodes = [node('STFT', ['x', 's', '', 'f'], ['y'], onesided=0)]
    integer = TensorProto.INT64
    infos = [info('x', None), info('s', [], integer), info('f', [], integer)]
    model = load(make(nodes, infos, [info('y', None)]))
    x = np.arange(8, dtype='f').reshape(1, 8, 1)
    for step in (MOST, MOST - 4, 2**62, 5):
        assert model(x, np.array(step), np.array(4)).shape == (1, 1, 4, 2)
    nodes = [node('Pad', ['x', 'p'], ['y'])]
    model = load(make(nodes, [info('x', None), info('p', None, integer)], [info('y', None)]))
    for pads in ((LEAST, 0), (0, LEAST), (-3, 0)):
        assert model(np.ones(3, 'f'), ints(*pads)).shape == (0,)


def test_an_operator_without_inputs():
    model = load(make([node('Concat', [], ['y'], 'none', axis=0)], [], [info('y', None)]))
    with pytest.raises(ValueError, match=r'node "none" \(Concat\): input 0 is missing'):
        model()


@pytest.mark.parametrize('inputs', [['x'], ['x', ''], ['x', '', 'b'], ['', 'w'], ['', '']])
def test_a_convolution_without_its_inputs(inputs):
    nodes = [node('Conv', inputs, ['h'], 'conv'), node('Relu', ['h'], ['y'])]
    weights = {'w': KERNEL, 'b': np.ones(1, 'f')}
    model = load(make(nodes, [info('x', None)], [info('y', None)], weights))
    missing = 0 if inputs[0] == '' else 1
    for _ in range(2):
        with pytest.raises(ValueError, match=rf'"conv" \(Conv\): input {missing} is missing'):
            model(IMAGE)


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
