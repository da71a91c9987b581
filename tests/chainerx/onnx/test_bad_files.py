"""Files that are cut off, changed at random, or lie about lengths."""

import random

import chainerx
import pytest
from chainerx.onnx import load
from onnx_models import branches, digits


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
