"""Recurrent layers of ONNX, without and with gradients: one operation against a node per step.

A clip of 1e6 changes no result, but makes the layer a composition of steps. Needs the package onnx.
"""

import chainerx
import chainerx.onnx
import numpy as np
import onnx
from harness import OURS, main
from onnx import helper

GATES = {'LSTM': 4, 'GRU': 3}
# Steps, batch, features, units.
SIZES = [(8, 1, 128, 128), (64, 1, 56, 112), (20, 1, 512, 512), (50, 16, 128, 256)]


def layer(kind, features, units, **attributes):
    if kind == 'GRU':
        attributes['linear_before_reset'] = 1
    rng = np.random.default_rng(0)
    gates = GATES[kind] * units
    shapes = {'w': (1, gates, features), 'r': (1, gates, units), 'b': (1, 2 * gates)}
    weights = [
        onnx.numpy_helper.from_array(rng.uniform(-0.1, 0.1, s).astype('f'), k)
        for k, s in shapes.items()
    ]
    x, y = (helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, None) for n in 'xy')
    node = helper.make_node(kind, ['x', 'w', 'r', 'b'], ['y'], hidden_size=units, **attributes)
    graph = helper.make_graph([node], 'layer', [x], [y], weights)
    opsets = [helper.make_opsetid('', 17)]
    proto = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    return chainerx.onnx.load(proto.SerializeToString())


def rows(bench):
    for kind in GATES:
        for steps, batch, features, units in SIZES:
            x = chainerx.array(np.random.default_rng(1).normal(size=(steps, batch, features)), 'f')
            for grad in (False, True):
                variables = {}
                for peer, clip in ((OURS, {}), ('steps', {'clip': 1e6})):
                    model = layer(kind, features, units, **clip)
                    for p in model.parameters.values() if grad else ():
                        p.require_grad()
                    variables[peer] = {'model': model, 'x': x}
                one, other = (v['model'](x) for v in variables.values())
                assert chainerx.allclose(one, other, atol=1e-5)
                statement = 'model(x).sum().backward()' if grad else 'model(x)'
                name = f'{kind} {(steps, batch, features, units)}{" gradients" * grad}'
                bench.row(name, dict.fromkeys(variables, statement), variables, against='steps')


if __name__ == '__main__':
    main(rows, 'onnx_recurrent')
