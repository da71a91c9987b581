"""Convolutions of ResNet-50 and MobileNet: forward, gradient of the data, gradient of the weights.

python benchmarks/conv.py --only '3x3*batch 8*'
"""

import math

import chainerx
import numpy as np
from harness import OURS, main, torch

BATCHES = (1, 8, 32)
# Kind: kernel size, stride, then (input channels, output channels, image size).
KINDS = {
    '7x7 s2': (7, 2, [(3, 64, 224)]),
    '3x3': (3, 1, [(64, 64, 56), (128, 128, 28), (256, 256, 14), (512, 512, 7)]),
    '3x3 s2': (3, 2, [(128, 128, 56), (512, 512, 14)]),
    '1x1': (1, 1, [(64, 256, 56), (256, 64, 56), (1024, 256, 14), (2048, 512, 7), (32, 64, 112)]),
    '1x1 s2': (1, 2, [(256, 512, 56)]),
    'depthwise 3x3': (3, 1, [(32, 32, 112), (128, 128, 56), (512, 512, 14)]),
    'depthwise 3x3 s2': (3, 2, [(64, 64, 112)]),
}
MEANS = ('forward', 'data', 'weights')


def prepare(kind, ins, outs, length, batch):
    """Statements and variables of the three rows."""
    k, stride, _ = KINDS[kind]
    pad, groups = k // 2, ins if kind.startswith('depthwise') else 1
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (batch, ins, length, length)).astype('f')
    w = rng.uniform(-1, 1, (outs, ins // groups, k, k)).astype('f')
    out = (length + 2 * pad - k) // stride + 1
    gy = rng.uniform(-1, 1, (batch, outs, out, out)).astype('f')

    ours = {'conv': chainerx.conv, 'grad': chainerx.grad, 's': stride, 'p': pad, 'g': groups}
    cx, cw, cgy = (chainerx.array(v) for v in (x, w, gy))
    by_x, by_w = cx.as_grad_stopped().require_grad(), cw.as_grad_stopped().require_grad()
    # The recorded graph is kept, so the rows measure only the gradient.
    ours |= {'x': cx, 'w': cw, 'gy': [cgy], 'by_x': [by_x], 'by_w': [by_w]}
    ours['y_x'] = [chainerx.conv(by_x, cw, None, stride, pad, False, 1, groups)]
    ours['y_w'] = [chainerx.conv(cx, by_w, None, stride, pad, False, 1, groups)]
    theirs = {
        'conv': torch.nn.functional.conv2d,
        'back': torch.ops.aten.convolution_backward,
        'x': torch.tensor(x),
        'w': torch.tensor(w),
        'gy': torch.tensor(gy),
        's': (stride, stride),
        'p': (pad, pad),
        'g': groups,
    }
    back = 'back(gy, x, w, None, s, p, (1, 1), False, (0, 0), g, ({}, {}, False))[{}]'
    statements = {
        'forward': ('conv(x, w, None, s, p, False, 1, g)', 'conv(x, w, None, s, p, 1, g)'),
        'data': (
            'grad(y_x, by_x, None, True, False, False, gy)[0]',
            back.format(True, False, 0),
        ),
        'weights': (
            'grad(y_w, by_w, None, True, False, False, gy)[0]',
            back.format(False, True, 1),
        ),
    }
    return statements, {OURS: ours, 'torch': theirs}


def check(statements, variables):
    """Checks that both libraries give the same results."""
    ours, theirs = (
        np.asarray(to_numpy(eval(statement, {}, variables[peer])))
        for statement, peer, to_numpy in zip(
            statements, (OURS, 'torch'), (chainerx.to_numpy, lambda y: y.numpy()), strict=True
        )
    )
    np.testing.assert_allclose(ours, theirs, atol=1e-4 * np.abs(theirs).max())


def rows(bench):
    """Convolutions against PyTorch."""
    with torch.no_grad():
        for kind, (_, _, sizes) in KINDS.items():
            for ins, outs, length in sizes:
                for batch in BATCHES:
                    rows_of_size(bench, kind, ins, outs, length, batch)
    for mean in MEANS:
        logs = [math.log(r.ratio) for r in bench.results if r.name.endswith(mean)]
        if logs:
            ratio = math.exp(sum(logs) / len(logs))
            print(f'geometric mean of {len(logs)} rows, {mean}: {ratio:.3f}')


def rows_of_size(bench, kind, ins, outs, length, batch):
    names = {mean: f'{kind}, {ins}-{outs} {length}², batch {batch}, {mean}' for mean in MEANS}
    if not any(bench.wants(name) for name in names.values()):
        return
    statements, variables = prepare(kind, ins, outs, length, batch)
    for mean in MEANS:
        check(statements[mean], variables)
        pair = dict(zip((OURS, 'torch'), statements[mean], strict=True))
        bench.row(names[mean], pair, variables, scope={'torch': torch.no_grad})


if __name__ == '__main__':
    main(rows, 'conv', threads=(1, 2), rounds=7, round_seconds=0.01)
