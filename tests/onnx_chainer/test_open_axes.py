"""Models with open axes, run with other lengths than those of the export."""

import dataclasses
import typing as tp

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import onnx
import onnx_chainer
import pytest
from onnx_runtime import run

RNG = np.random.default_rng(0)
SIZES = {'n': 2, 't': 5, 's': 6, 'h': 7, 'w': 9, 'r': 8}


@dataclasses.dataclass
class Case:
    """A model; of each argument the axes, and dtype; the lengths that the outputs must show."""

    name: str
    model: tp.Any
    axes: list
    shown: list
    dtypes: str = 'f'
    since: int = 11

    def __str__(self):
        return self.name


def image(name, model, *shown):
    return Case(name, model, [('n', 4, 'h', 'w')], [list(shown)])


def rows(name, model, *shown):
    return Case(name, model, [('n', 3, 4)], [list(shown)])


class Stateful(chainer.Chain):
    def __init__(self, link):
        super().__init__()
        with self.init_scope():
            self.link = link

    def forward(self, x):
        self.link.reset_state()
        self.link(x)
        return self.link(x)


class Recurrent(chainer.Chain):
    def __init__(self, link, n_states):
        super().__init__()
        self.n_states = n_states
        with self.init_scope():
            self.link = link

    def forward(self, *xs):
        *states, ys = self.link(*[None] * self.n_states, list(xs))
        return (*states, *ys)


class Attention(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.qkv = L.Linear(8, 24)

    def forward(self, x):
        n, t, units = x.shape
        h = F.reshape(self.qkv(F.reshape(x, (n * t, units))), (n, t, 3, 2, units // 2))
        q, k, v = F.separate(F.transpose(h, (2, 0, 3, 1, 4)), axis=0)
        y = F.matmul(F.softmax(F.matmul(q, k, transb=True), axis=3), v)
        return F.reshape(F.transpose(y, (0, 2, 1, 3)), (n, t, units)) + x


def expanded(x):
    weights = F.reshape(F.sigmoid(F.mean(x, axis=(2, 3))), (*x.shape[:2], 1, 1))
    return x * F.broadcast_to(weights, x.shape)


CASES = [
    rows('reshape of examples', lambda x: F.reshape(x, (len(x), -1)), 'n', 12),
    rows('reshape of all', lambda x: F.reshape(x, (len(x), 2, 6)), 'n', 2, 6),
    rows('reshape of the rest', lambda x: F.reshape(x, (-1, 6)), None, 6),
    rows('reshape to rows', lambda x: F.reshape(x, (len(x) * 3, 4)), None, 4),
    rows(
        'reshape to rows and back',
        lambda x: F.reshape(F.relu(F.reshape(x, (len(x) * 3, 4))), (len(x), 3, 4)),
        *('n', 3, 4),
    ),
    rows(
        'reshape of another axis',
        lambda x: F.reshape(F.transpose(x, (1, 0, 2)), (3, len(x), 2, 2)),
        *(3, 'n', 2, 2),
    ),
    rows('flatten', F.flatten, None),
    rows('linear', lambda x: F.linear(x, np.ones((2, 4), 'f'), n_batch_axes=2), 'n', 3, 2),
    rows('getitem of negatives', lambda x: x[[-1, 0]], 2, 3, 4),
    rows('repeat', lambda x: F.repeat(x, 2, 0), None, 3, 4),
    rows('tensordot', lambda x: F.tensordot(x, np.ones((4, 2), 'f'), 1), None, 3, 2),
    rows('diagonal', lambda x: F.diagonal(x, 0, 1, 2), 'n', 3),
    rows('broadcast_to', lambda x: F.broadcast_to(np.arange(4, dtype='f'), x.shape) + x, 'n', 3, 4),
    rows('broadcast', lambda x: F.broadcast(x, np.ones(4, 'f'))[1] + x, 'n', 3, 4),
    rows('a constant', lambda x: x + np.full(x.shape, 2, 'f'), 'n', 3, 4),
    rows('zeros', lambda x: F.concat([x, np.zeros((len(x), 3, 2), 'f')], 2), 'n', 3, 6),
    rows(
        'rotary_embedding', lambda x: F.rotary_embedding(x[:, None], interleaved=True), 'n', 1, 3, 4
    ),
    *(
        Case(f'Stateful {link.__name__}', Stateful(link(4, 4)), [('n', 4)], [['n', 4]])
        for link in (L.LSTM, L.StatefulGRU, L.StatefulMGU)
    ),
    Case('attention', Attention(), [('n', 't', 8)], [['n', 't', 8]]),
    Case(
        'causal attention',
        lambda q, k: F.scaled_dot_product_attention(q, k, k, is_causal=True),
        [('n', 't', 4), ('n', 's', 4)],
        [['n', 't', 4]],
    ),
    Case('positions', F.rotary_embedding, [('n', 't', 4)], [['n', 't', 4]]),
    *(
        Case(
            f'{function.__name__} {kwargs}',
            lambda y, t, f=function, kw=kwargs: f(y, t, **kw),
            [('n', 3), ('n', 3)[: 1 + (function is F.sigmoid_cross_entropy)]],
            [[]],
            'fi',
        )
        for function, kwargs in (
            (F.softmax_cross_entropy, {'normalize': False}),
            (F.sigmoid_cross_entropy, {'normalize': False}),
            (F.hinge, {}),
            (F.accuracy, {}),
        )
    ),
    *(
        Case(
            f'NStep{name}',
            Recurrent(getattr(L, f'NStep{name}')(2, 3, 4, 0.0), n_states),
            [('t', 3), ('s', 3)],
            shown,
        )
        for name, n_states, shown in (
            ('LSTM', 2, []),
            ('BiGRU', 1, []),
            ('RNNTanh', 1, []),
        )
    ),
    Case(
        'connectionist_temporal_classification',
        lambda x, t: F.connectionist_temporal_classification(x, t, 2, reduce='no'),
        [('w', 'n', 3), ('n', 2)],
        [['n']],
        'fi',
    ),
    rows('rrelu', F.rrelu, 'n', 3, 4),
    rows('cumprod', lambda x: F.cumprod(x, 0), 'n', 3, 4),
    *(
        Case(
            name,
            lambda x, r, i, n=name: getattr(F, n)(x, r * 4, i, (2, 3), 0.5),
            [('n', 3, 'h', 'w'), ('r', 4), ('r',)],
            [['r', 3, 2, 3]],
            'ffi',
        )
        for name in ('roi_average_pooling_2d', 'roi_max_align_2d')
    ),
    Case('NStepLSTM of one', Recurrent(L.NStepLSTM(1, 3, 4, 0.0), 2), [('t', 3)], []),
    image('convolution', L.Convolution2D(4, 6, 3, pad=1), 'n', 6, None, None),
    image('max_pooling_2d', lambda x: F.max_pooling_2d(x, 2), 'n', 4, None, None),
    image('max_pooling_2d of steps', lambda x: F.max_pooling_2d(x, 3, 2), 'n', 4, None, None),
    image(
        'max_pooling_2d that covers not',
        lambda x: F.max_pooling_2d(x, 2, cover_all=False),
        *('n', 4, None, None),
    ),
    image('mean of images', lambda x: F.average_pooling_2d(x, x.shape[2:]), 'n', 4, 1, 1),
    image('maximum of images', lambda x: F.max_pooling_2d(x, x.shape[2:]), 'n', 4, 1, 1),
    image(
        'twice as large',
        lambda x: F.resize_images(x, (2 * x.shape[2], 2 * x.shape[3])),
        *('n', 4, None, None),
    ),
    image(
        'as large as before',
        lambda x: F.resize_images(F.max_pooling_2d(x, 2), x.shape[2:]),
        *('n', 4, 'h', 'w'),
    ),
    image('unpooling_2d', lambda x: F.unpooling_2d(x, 2), 'n', 4, None, None),
    image('deconvolution', L.Deconvolution2D(4, 6, 4, 2, 1), 'n', 6, None, None),
    image('group normalization', L.GroupNormalization(2, 4), *('n', 4, 'h', 'w')),
    image('shift', lambda x: F.shift(x, 1), 'n', 4, None, None),
    image(
        'shuffled channels',
        lambda x: F.reshape(F.swapaxes(F.reshape(x, (len(x), 2, 2, *x.shape[2:])), 1, 2), x.shape),
        *('n', 4, 'h', 'w'),
    ),
    image('pixels', lambda x: F.reshape(x, (*x.shape[:2], -1)), 'n', 4, None),
    image('squeeze and excitation', expanded, 'n', 4, 'h', 'w'),
]


def arrays(case, sizes):
    found = []
    for i, axes in enumerate(case.axes):
        shape = [sizes.get(n, n) for n in axes]
        kind = case.dtypes[min(i, len(case.dtypes) - 1)]
        x = RNG.standard_normal(shape) if kind == 'f' else RNG.integers(0, 2, shape)
        found.append(x.astype(kind))
    return found


class Model(chainer.Chain):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


@pytest.mark.parametrize('opset', [11, 13, 17, onnx_chainer.MAXIMUM_OPSET_VERSION])
@pytest.mark.parametrize('case', CASES, ids=str)
def test_other_lengths(case, opset):
    model = case.model if isinstance(case.model, chainer.Link) else Model(case.model)
    proto = onnx_chainer.export(
        model, arrays(case, SIZES), input_shapes=case.axes, opset_version=opset
    )
    onnx.checker.check_model(proto, full_check=True)
    onnx.shape_inference.infer_shapes(proto, check_type=True, strict_mode=True, data_prop=True)
    if case.shown:
        shown = [
            [d.dim_param or (d.dim_value if d.HasField('dim_value') else None) for d in dims]
            for dims in (y.type.tensor_type.shape.dim for y in proto.graph.output)
        ]
        assert shown == case.shown
    for more in (0, 1, 4):
        inputs = arrays(case, {name: n + more for name, n in SIZES.items()})
        with chainer.using_config('train', False):
            expected = model(*map(chainer.Variable, inputs))
        expected = expected if isinstance(expected, tuple) else (expected,)
        for y, v in zip(run(proto, inputs), expected, strict=True):
            assert y.shape == v.shape
            np.testing.assert_allclose(y, v.array, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize('n', [1, 3])
@pytest.mark.parametrize(
    'name',
    ['reshape of examples', 'reshape to rows and back', 'linear', 'broadcast_to', 'zeros'],
)
def test_lengths_that_other_axes_have(name, n):
    # One example, or as many as there are rows.
    model = Model(next(case for case in CASES if case.name == name).model)
    x, more = (RNG.standard_normal((i, 3, 4)).astype('f') for i in (n, n + 2))
    proto = onnx_chainer.export(model, x, input_shapes=('n', 3, 4))
    np.testing.assert_allclose(run(proto, [more])[0], model(more).array, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ('function', 'message'),
    [
        (lambda x: F.pad(x, 1, 'symmetric'), "Pad with mode 'symmetric' cannot have .* axis 2"),
        (
            lambda x: F.convolution_2d(x, np.ones((2, 4, 2, 2), 'f'), stride=2, cover_all=True),
            'Convolution2DFunction with cover_all cannot have an open axis 2 of .*7, 9',
        ),
        (lambda x: F.max_pooling_2d(x, 2, 3), 'MaxPoolingND with cover_all cannot'),
        (
            lambda x: F.upsampling_2d(x, np.zeros(x.shape, 'i'), 2),
            'Upsampling2D cannot have an open axis 2',
        ),
    ],
)
def test_axes_that_cannot_be_open(function, message):
    x = RNG.standard_normal((2, 4, 7, 9)).astype('f')
    with pytest.raises(ValueError, match=message):
        onnx_chainer.export(Model(function), x, input_shapes=(2, 4, 'h', 'w'))


def test_axes_without_names():
    x = np.zeros((2, 3, 4), 'f')
    model = Model(lambda x: F.reshape(x, (len(x) * 3, 4)))
    proto = onnx_chainer.export(model, x, input_shapes=(None, 3, 4))
    (dim, last) = proto.graph.output[0].type.tensor_type.shape.dim
    assert not dim.HasField('dim_value')
    assert not dim.dim_param
    assert last.dim_value == 4
    assert run(proto, [np.zeros((5, 3, 4), 'f')])[0].shape == (15, 4)


def test_functions_of_the_user():
    class Twice(chainer.FunctionNode):
        def forward(self, inputs):
            return (inputs[0] * 2,)

    def convert(params):
        node = onnx_chainer.onnx_helper.make_node
        return (node('Add', params.input_names * 2, params.output_names),)

    x = np.zeros((2, 3, 4), 'f')
    model = Model(lambda x: F.reshape(Twice().apply((x,))[0], (len(x), 12)))
    proto = onnx_chainer.export(
        model, x, input_shapes=('n', 3, 4), external_converters={'Twice': convert}
    )
    assert run(proto, [np.zeros((5, 3, 4), 'f')])[0].shape == (5, 12)
