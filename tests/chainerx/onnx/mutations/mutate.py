"""A mutation of a model, for a seed and a number.

Half are made in the bytes: cut off, flipped, lengths and numbers replaced, parts moved to another
place. The others are made in the messages, so that what results is a model, but a wrong one: a
field has a hostile value, is missing or there twice, a name is that of another value. Some runs get
a hostile number, too: shapes, steps and axes are inputs of many operators.
"""

import random

import numpy as np
import onnx

#: What a length, a dimension, an axis, a version may be in a hostile file.
INTS = (
    *(0, 1, 2, 3, -1, -2, 7, 8, 16, 31, 32, 33, 63, 64, 127, 128, 255, 256, 1000, 65535, 65536),
    *(2**20, 2**31 - 1, 2**31, -(2**31), 2**32 - 1, 2**32, 2**33, 2**40, 2**53, 2**62, -(2**62)),
    *(2**63 - 1, -(2**63), 2**63 - 2, -(2**63) + 1, 3037000500, 4294967296 * 3),
)
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-45, 1e38, -1e38, 1e300, float('inf'), float('nan'))
TEXTS = (b'', b'\0', b'\xff\xfe', 'é'.encode(), b'a' * 1000, b'ai.onnx', b'com.microsoft')


def varint(n):
    n %= 1 << 64
    out = b''
    while n >= 128:
        out += bytes([n % 128 + 128])
        n //= 128
    return out + bytes([n])


def places(data, begin=0, end=None, depth=0):
    """The fields of a message, and of what may be a message within: (begin of the key, begin of the
    value, end, wire type). Fields that can't be read end the list."""
    end = len(data) if end is None else end
    while begin < end:
        start = begin
        key, begin = read_varint(data, begin, end)
        if key is None:
            return
        kind = key & 7
        value = begin
        if kind == 0:
            n, begin = read_varint(data, begin, end)
            if n is None:
                return
        elif kind in (1, 5):
            begin += 8 if kind == 1 else 4
        elif kind == 2:
            n, begin = read_varint(data, begin, end)
            if n is None or n > end - begin:
                return
            inner = begin
            begin += n
            if depth < 12:
                found = list(places(data, inner, begin, depth + 1))
                if found and found[-1][2] == begin:  # else it is text or numbers
                    yield from found
        else:
            return
        if begin > end:
            return
        yield start, value, begin, kind


def read_varint(data, place, end):
    value = 0
    for shift in range(0, 70, 7):
        if place >= end:
            return None, place
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
    return None, place


def cut(rng, data):
    return data[: rng.randrange(len(data))]


def flip_bits(rng, data):
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def replace_bytes(rng, data):
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        out[rng.randrange(len(out))] = rng.randrange(256)
    return bytes(out)


def replace_number(rng, data):
    """A length or a number of the wire format becomes a hostile one, the lengths around it stay."""
    _, value, end, kind = rng.choice(list(places(data)))
    if kind == 2:
        _, end = read_varint(data, value, end)
    return data[:value] + varint(rng.choice(INTS)) + data[end:]


def change_wire_type(rng, data):
    start, *_ = rng.choice(list(places(data)))
    out = bytearray(data)
    out[start] = out[start] & 0xF8 | rng.randrange(8)
    return bytes(out)


def move_part(rng, data):
    """A field is copied to where another one begins, or takes its place."""
    fields = list(places(data))
    (a, _, b, _), (c, _, d, _) = rng.choice(fields), rng.choice(fields)
    return data[:c] + data[a:b] + data[rng.choice((c, d)) :]


def leave_part_out(rng, data):
    start, _, end, _ = rng.choice(list(places(data)))
    return data[:start] + data[end:]


def messages_of(message):
    """All messages within a message, and itself."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for inner in value if field.is_repeated else [value]:
                yield from messages_of(inner)


def set_any(rng, message, field, value):
    """Sets a field, or one element of a repeated one, or appends to it."""
    if not field.is_repeated:
        setattr(message, field.name, value)
        return
    values = getattr(message, field.name)
    if len(values) and rng.random() < 0.7:
        values[rng.randrange(len(values))] = value
    else:
        values.append(value)


def hostile_value(rng, field, names):
    if field.enum_type is not None:
        return rng.choice([*field.enum_type.values_by_number])
    kind = field.cpp_type
    if kind in (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
        return rng.choice(FLOATS)
    if kind == field.CPPTYPE_STRING:
        texts = names if rng.random() < 0.8 else [t.decode(errors='ignore') for t in TEXTS]
        text = rng.choice(texts)
        return text.encode() if field.type == field.TYPE_BYTES else text
    value = rng.choice(INTS)
    bits = 32 if kind in (field.CPPTYPE_INT32, field.CPPTYPE_UINT32) else 64
    if kind in (field.CPPTYPE_UINT32, field.CPPTYPE_UINT64):
        return value % 2**bits
    return (value + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


def names_of(model):
    """All texts of a model."""
    return [
        text
        for message in messages_of(model)
        for field, value in message.ListFields()
        if field.type == field.TYPE_STRING
        for text in (value if field.is_repeated else [value])
    ] or ['x']


def change_field(rng, model):
    """A field of any message has a hostile value, or the name of something else."""
    names = names_of(model)
    for _ in range(rng.choice((1, 1, 2, 3))):
        message = rng.choice(list(messages_of(model)))
        fields = [f for f in message.DESCRIPTOR.fields if f.message_type is None]
        there = [f for f, _ in message.ListFields() if f.message_type is None]
        field = rng.choice(there if there and rng.random() < 0.8 else fields or [None])
        if field is not None:
            set_any(rng, message, field, hostile_value(rng, field, names))


def clear_field(rng, model):
    message = rng.choice(list(messages_of(model)))
    fields = message.ListFields()
    if fields:
        message.ClearField(rng.choice(fields)[0].name)


def repeat_or_exchange(rng, model):
    """Elements of a repeated field are there twice, or exchange their places."""
    lists = [
        value
        for message in messages_of(model)
        for field, value in message.ListFields()
        if field.is_repeated and field.message_type is not None
    ]
    if not lists:
        return
    values = rng.choice(lists)
    i, j = rng.randrange(len(values)), rng.randrange(len(values))
    if rng.random() < 0.5:
        values.add().CopyFrom(values[i])
        return
    first = type(values[i])()
    first.CopyFrom(values[i])
    values[i].CopyFrom(values[j])
    values[j].CopyFrom(first)


def rewire(rng, model):
    """Nodes read or make other values: cycles, among functions too; values made twice."""
    nodes = [m for m in messages_of(model) if m.DESCRIPTOR.name == 'NodeProto']
    values = [name for n in nodes for name in (*n.input, *n.output)] or ['x']
    for _ in range(rng.choice((1, 1, 2, 4))):
        if not nodes:
            return
        node = rng.choice(nodes)
        names = rng.choice([node.input, node.input, node.output])
        if len(names):
            names[rng.randrange(len(names))] = rng.choice(values)
    if model.functions and rng.random() < 0.3:
        function, node = rng.choice(model.functions), rng.choice(nodes)
        node.op_type, node.domain = function.name, function.domain


def change_operator(rng, model):
    """A node is of another operator, with the inputs and attributes that it has."""
    nodes = [m for m in messages_of(model) if m.DESCRIPTOR.name == 'NodeProto']
    if nodes:
        node = rng.choice(nodes)
        node.op_type = rng.choice(OPERATORS)
        if rng.random() < 0.3:
            node.input.append(rng.choice(list(node.input) or ['']))


OPERATORS = sorted({schema.name for schema in onnx.defs.get_all_schemas() if not schema.domain})
IN_BYTES = (cut, flip_bits, flip_bits, replace_bytes, replace_number, change_wire_type, move_part,
            leave_part_out)  # fmt: skip
IN_MESSAGES = (change_field, change_field, change_field, clear_field, repeat_or_exchange, rewire,
               rewire, change_operator)  # fmt: skip


def with_hostile_number(rng, inputs):
    """A copy of the inputs in which a small one has a hostile number, or nothing else."""
    inputs = list(inputs)
    small = [
        i for i, x in enumerate(inputs)
        if isinstance(x, np.ndarray) and 0 < x.size <= 16 and x.dtype.kind in 'iuf'
    ]  # fmt: skip
    if not small:
        return inputs
    i = rng.choice(small)
    x = inputs[i] = inputs[i].copy()
    if x.dtype.kind == 'f':
        most = float(np.finfo(x.dtype).max)
        numbers = [n for n in FLOATS if np.isinf(n) or not abs(n) > most]
    else:
        numbers = [n for n in INTS if np.iinfo(x.dtype).min <= n <= np.iinfo(x.dtype).max]
    if rng.random() < 0.5:
        x[...] = rng.choice(numbers)
    else:
        x.flat[rng.randrange(x.size)] = rng.choice(numbers)
    return inputs


def draw(corpus, seed, number):
    """The name of a mutation, its bytes, and the inputs of the model that it was made of."""
    own, ops = corpus
    rng = random.Random(f'{seed}/{number}')
    name, data, inputs = rng.choice(own if rng.random() < 0.4 else ops)
    # Drawn apart, so that the mutation of a number stays. A loop would take as many turns.
    apart = random.Random(f'{seed}/{number}/inputs')
    if apart.random() < 0.25 and b'Loop' not in data:
        inputs = with_hostile_number(apart, inputs)
    mutation = rng.choice(IN_BYTES if rng.random() < 0.4 else IN_MESSAGES)
    if mutation in IN_BYTES:
        return f'{name}: {mutation.__name__}', mutation(rng, data), inputs
    model = onnx.load_from_string(data)
    mutation(rng, model)
    return f'{name}: {mutation.__name__}', model.SerializeToString(), inputs
