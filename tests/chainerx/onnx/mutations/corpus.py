"""The models that are mutated: own ones, exported networks, one per operator and its forms."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import onnx_chainer
from onnx import AttributeProto, helper
from onnx_models import branches, digits, info, make, node, suite
from test_classical import CASES as CLASSICAL
from test_classical import model as classical_model
from test_fused import CASES as FUSED
from test_fused import model_of

F32 = 'f'


class Images(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.c1 = L.Convolution2D(2, 4, 3, pad=1)
            self.bn = L.BatchNormalization(4)
            self.c2 = L.Convolution2D(4, 4, 3, groups=2)
            self.l = L.Linear(16, 3)

    def forward(self, x):
        h = F.max_pooling_2d(F.leaky_relu(self.bn(self.c1(x))), 2)
        h = F.resize_images(F.relu6(self.c2(F.dropout(h))), (2, 2))
        return F.softmax(self.l(h))


class Words(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(7, 4)
            self.rnn = L.NStepBiLSTM(1, 4, 3, 0)
            self.norm = L.LayerNormalization(6)

    def forward(self, *sentences):
        _, _, ys = self.rnn(None, None, [self.embed(s) for s in sentences])
        h = self.norm(F.concat(ys, axis=0))
        return F.matmul(F.softmax(F.matmul(h, h, transb=True)), h)


def functions():
    """Functions that call others, with attributes that they hand on; a Scan within one."""
    own, standard = helper.make_opsetid('own', 1), helper.make_opsetid('', 17)

    def refer(made, name, kind, to):
        made.attribute.add(name=name, ref_attr_name=to, type=kind)
        return made

    body = helper.make_graph(
        [node('Add', ['s', 'e'], ['t']), node('Tanh', ['t'], ['o'])], 'body',
        [info('s', [3]), info('e', [3])], [info('t', [3]), info('o', [3])],
    )  # fmt: skip
    leaky = refer(node('LeakyRelu', ['v'], ['w']), 'alpha', AttributeProto.FLOAT, 'slope')
    inner = refer(node('Leaky', ['v'], ['u'], domain='own'), 'slope', AttributeProto.FLOAT, 'a')
    scan = node('Scan', ['z', 'u'], ['last', 'w'], body=body, num_scan_inputs=1)
    made = [
        helper.make_function('own', 'Leaky', ['v'], ['w'], [leaky], [standard], ['slope']),
        helper.make_function('own', 'Sums', ['v', 'z'], ['w', 'last'], [inner, scan],
                             [standard, own], ['a']),
    ]  # fmt: skip
    nodes = [
        node('Sums', ['x', 'zero'], ['h', 'end'], 'first', domain='own', a=0.5),
        node('Sums', ['h', 'end'], ['y', ''], 'second', domain='own'),
    ]
    return make(
        nodes, [info('x', [None, 3])], [info('y', [None, 3])], {'zero': np.zeros(3, F32)},
        opsets=[own], functions=made,
    )  # fmt: skip


def exported():
    x = np.linspace(-1, 1, 2 * 2 * 6 * 6, dtype=F32).reshape(2, 2, 6, 6)
    words = [np.array(w, 'i') for w in ([1, 2, 3], [4, 0])]
    for model, inputs in ((Images(), [x]), (Words(), words)):
        for opset in (11, 17, 28):
            proto = onnx_chainer.export(model, inputs, opset_version=opset)
            yield f'{type(model).__name__}-{opset}', proto, inputs
    shape = ('batch', 2, 6, 6)
    proto = onnx_chainer.export(Images(), x, train=True, input_shapes=shape)
    yield 'Images-train', proto, [x]


def models():
    """Triples of name, bytes and inputs, in the same order each time."""
    np.random.seed(0)
    x = np.ones((2, 2, 3), F32)
    own = [
        ('digits', digits(), [x]),
        ('functions', functions(), [np.ones((4, 3), F32)]),
        ('branches', branches(), [np.ones(2, F32), np.array(True), np.array(2)]),
        *((name, proto.SerializeToString(), inputs) for name, proto, inputs in exported()),
    ]
    smallest: dict = {}
    for case in suite().values():
        if case.model is None or not case.data_sets:
            continue
        data = case.model.SerializeToString()
        if not all(isinstance(x, np.ndarray | np.generic) for x in case.data_sets[0][0]):
            continue
        for n in case.model.graph.node:
            known = smallest.setdefault((n.domain, n.op_type), case)
            if len(data) < len(known.model.SerializeToString()):
                smallest[n.domain, n.op_type] = case
    cases = {case.name: case for _, case in sorted(smallest.items())}
    ops = [(n, c.model.SerializeToString(), list(c.data_sets[0][0])) for n, c in cases.items()]
    for name in FUSED:
        data, values = model_of(name)
        ops.append((name, data, [*values.values()]))
    ops += [(op, classical_model(op, x, attributes), [x]) for op, x, attributes in CLASSICAL]
    return own, ops
