"""`chainerx.onnx.export` with axes of any length: run with several."""

import math

import chainerx as chx
import numpy as np
import pytest
from chainerx import func, onnx
from chainerx.onnx._writer import NotInOnnxError
from onnx_runtimes import run

W = chx.array(np.random.RandomState(0).uniform(-1, 1, (4, 4)).astype('f'))


def draw(*shape):
    return chx.array(np.random.RandomState(sum(shape) + 1).uniform(-1, 1, shape).astype('f'))


def check(function, *shapes, lengths=({'n': 2, 't': 3}, {'n': 5, 't': 4}, {'n': 1, 't': 1})):
    """Exports for the first lengths, in which str are axes, and compares for the others."""

    def args(values):
        return [draw(*[values.get(k, k) for k in shape]) for shape in shapes]

    proto = onnx.export(function, args(lengths[0]), input_shapes=shapes)
    for values in lengths[1:]:
        xs = args(values)
        actual, _ = run(proto, [chx.to_numpy(x) for x in xs])
        found = function(*xs)
        for y, e in zip(actual, found if isinstance(found, tuple) else (found,), strict=True):
            assert y.shape == e.shape
            np.testing.assert_allclose(y, chx.to_numpy(e), rtol=2e-6, atol=2e-6)
    return proto


def shapes_of(values):
    return [
        [d.dim_param or d.dim_value or None for d in v.type.tensor_type.shape.dim] for v in values
    ]


FUNCTIONS = {
    'product': lambda x: x @ W,
    'reshape': lambda x: x.reshape(x.shape[0], 2, -1).sum(axis=2),
    'reshape both': lambda x: (
        x.reshape((-1,)).reshape(x.shape) + x.reshape(len(x.shape) * 2, -1).sum()
    ),
    'reshape twice': lambda x: x.reshape(x.shape[0] * 2, 2).reshape(x.shape),
    'mean by hand': lambda x: x.sum(axis=0) / x.shape[0],
    'mean by a factor': lambda x: x.sum(axis=0) * (1 / x.shape[0]),
    'variance': lambda x: x.var(axis=0) + chx.std(x, 0, ddof=-1),
    'sample variance': lambda x: (chx.square(x - x.mean(0)).sum(0) + 1) / (x.shape[0] + 1),
    'size': lambda x: x / x.size,
    'zeros': lambda x: x + chx.zeros((x.shape[0], 1), 'float32'),
    'full': lambda x: chx.concatenate([x, chx.full((x.shape[0], 2), 3.0, 'float32')], 1),
    'arange': lambda x: x + chx.arange(x.shape[0], dtype='float32')[:, None],
    'arange of ints': lambda x: chx.take(x, chx.arange(x.shape[0])[::1], 0),
    'broadcast': lambda x: chx.broadcast_to(x[:1], x.shape) + chx.ones_like(x),
    'broadcast to': lambda x: chx.broadcast_to(W[0], (x.shape[0], 4)) * x,
    'slices': lambda x: (
        x[: x.shape[0] // 2 + 1],
        x[x.shape[0] - 1 :],
        x[-1],
        x[::-1],
        x[x.shape[0] - 1, 1:],
    ),
    'writes': lambda x: x.at[0].set(7.0).at[:, 1].add(1.0),
    'diagonal': lambda x: chx.tril(x) + chx.triu(x, 1),
    'sorted': lambda x: (chx.sort(x, 0), chx.argsort(x, axis=0), chx.argmax(x, 0)),
    'cumulated': lambda x: chx.cumsum(x, 0) + chx.flip(x, 0),
    'rolled': lambda x: chx.roll(x, 1, 0),
    'repeated': lambda x: chx.repeat(x, 2, 0) + chx.tile(x, (2, 1)),
    'softmax': lambda x: chx.softmax(x, 0) + chx.log_softmax(x, 1),
    'layer norm': lambda x: chx.layer_norm(x, W[0], W[1]),
    'batch norm': lambda x: chx.batch_norm(x, W[0], W[1], None, None),
    'attention': lambda x: chx.scaled_dot_product_attention(x, x, x, is_causal=True),
    'rotation': lambda x: chx.rotary_embedding(x),
    'vmap': lambda x: func.vmap(lambda v: chx.tanh(W @ v))(x),
    'stack': lambda x: chx.stack([x, x * 2], 1).transpose(1, 0, 2),
    'split': lambda x: tuple(chx.split(x, 2, 1)),
    'pad': lambda x: chx.pad(x, ((1, 0), (0, 2))),
    'einsum': lambda x: chx.einsum('ij,kj->ik', x, x),
    'outer': lambda x: chx.tensordot(x, x, ((1,), (1,))) + chx.outer(x[:, 0], x[:, 1]),
    'like': lambda x: x * chx.full_like(x, 2.0) + chx.zeros_like(x),
    'expanded': lambda x: x[:, None, :] * x[None],
    'where': lambda x: chx.where(x > 0, x, chx.zeros((x.shape[0], 1), 'float32')),
    'mask': lambda x: x[x[:, 0] > 0].sum(0),
    'remainder': lambda x: x * (x.shape[0] % 2) - x.shape[0] * 2 + (3 - x.shape[0]),
}


@pytest.mark.parametrize('name', FUNCTIONS)
def test_rows_of_any_number(name):
    check(FUNCTIONS[name], ('n', 4))


TWO = {
    'join': lambda x: x.reshape(x.shape[0] * x.shape[1], 4) @ W,
    'back': lambda x: (x.reshape(-1, 4) @ W).reshape(*x.shape[:2], 4),
    'heads': lambda x: x.reshape(*x.shape[:2], 2, 2).swapaxes(1, 2).reshape(-1, x.shape[1], 2),
    'states': lambda x: chx.concatenate([chx.zeros((x.shape[0], 1, 4), 'float32'), x], 1),
    'mean': lambda x: x.sum((0, 1)) / (x.shape[0] * x.shape[1]),
    'attention': lambda x: chx.scaled_dot_product_attention(x, x, x, is_causal=True),
    'positions': lambda x: x + chx.arange(x.shape[1], dtype='float32')[:, None],
    'linear': lambda x: chx.linear(x, W, None, 2),
    'convolution': lambda x: chx.conv(x.swapaxes(1, 2), W[:, :, None], pad=1),
    'pooled': lambda x: (
        chx.max_pool(x.swapaxes(1, 2), 3, 1, 1) + chx.global_average_pool(x.swapaxes(1, 2))
    ),
    'group norm': lambda x: chx.group_norm(x.swapaxes(1, 2), 2, W[0], W[1]),
}


@pytest.mark.parametrize('name', TWO)
def test_two_open_axes(name):
    check(TWO[name], ('n', 't', 4))


def test_axes_of_several_inputs():
    proto = check(lambda x, y: (x @ y.T, y.sum(0)), ('n', 4), ('t', 4))
    assert shapes_of(proto.graph.input) == [['n', 4], ['t', 4]]
    assert shapes_of(proto.graph.output) == [['n', 't'], [4]]
    check(lambda x, y: x + y, ('n', 4), ('n', 4))


def test_axes_without_a_name():
    proto = onnx.export(lambda x: x * 2, draw(2, 3), input_shapes=(None, 3))
    assert shapes_of(proto.graph.input) == shapes_of(proto.graph.output) == [[None, 3]]
    (y,), _ = run(proto, [np.ones((5, 3), 'f')])
    assert y.shape == (5, 3)


def test_loops_over_steps():
    """The number of steps is fixed, that of examples is not."""

    def rnn(x):
        h = chx.zeros((x.shape[0], 4), 'float32')
        for t in range(3):
            h = chx.tanh(x[:, t] @ W + h)
        return h

    check(rnn, ('n', 3, 4))
    with pytest.raises(NotInOnnxError, match=r'or loops over it|for one length only'):
        onnx.export(
            lambda x: sum(chx.tanh(x[:, t]) for t in range(x.shape[1])),
            draw(2, 3, 4),
            input_shapes=('n', 't', 4),
        )
    with pytest.raises(NotInOnnxError, match=r'or loops over it|for one length only'):
        onnx.export(lambda x: chx.stack([row * 2 for row in x]), draw(2, 3), input_shapes=('n', 3))


@pytest.mark.parametrize(
    ('function', 'message'),
    [
        (lambda x: x * math.sqrt(x.shape[0]), r'multiply \(.*test_export_axes\.py:\d+\) hangs on'),
        (lambda x: x * len(x), r'multiply \(.*\) hangs on the length'),
        (lambda x: chx.exp(x) if x.shape[0] < 3 else chx.sin(x), 'branches by the length'),
        (lambda x: x + chx.eye(x.shape[0], 3, dtype='float32'), r'add .* has an array of shape'),
        (lambda x: chx.where(chx.arange(x.shape[0])[:, None] < 1, x, 0), 'where .* has an array'),
        (lambda x: x.reshape(2, 3) + 1, r'fails for other lengths .*reshape'),
        (lambda x: (x, x)[: x.shape[0]], None),
        (lambda x: (x,) * x.shape[0], 'has 2 results, with another length'),
    ],
)
def test_what_a_graph_can_not_follow(function, message):
    if message is None:
        onnx.export(function, draw(2, 3), input_shapes=('n', 3))
        return
    with pytest.raises(NotInOnnxError, match=message):
        onnx.export(function, draw(2, 3), input_shapes=('n', 3))


def test_lengths_that_do_not_fit():
    with pytest.raises(ValueError, match="'n' for axes of lengths 2 and 3"):
        onnx.export(lambda x: x, draw(2, 3), input_shapes=('n', 'n'))
    with pytest.raises(ValueError, match='has length 0'):
        onnx.export(lambda x: x, draw(0, 3), input_shapes=('n', 3))


def test_results_that_follow_lengths():
    proto = onnx.export(
        lambda x: (x.sum(0), chx.arange(x.shape[0])), draw(2, 3), input_shapes=('n', 3)
    )
    (_, y), _ = run(proto, [np.ones((6, 3), 'f')])
    np.testing.assert_array_equal(y, np.arange(6))
