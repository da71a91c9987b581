"""Normalizations: forward and backward, against PyTorch; about 10^5 and 10^7 elements."""

import chainerx
import torch
from harness import float32, main

BATCH = [(32, 64, 56, 56), (32, 512, 7, 7), (32, 64, 8, 8), (100, 1000), (10000, 1000)]
LAYER = [(100, 1000), (10000, 1000), (8, 128, 256)]
GROUP = [(32, 64, 56, 56), (8, 64, 16, 16)]


def axes_of(shape):
    return (0, *range(2, len(shape)))


def channels_last(x, x_torch):
    """The same images, with channels innermost in memory."""
    return (
        chainerx.array(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2),
        x_torch.contiguous(memory_format=torch.channels_last),
    )


def row(bench, label, shape, n_params, ours, theirs, arrange=None):
    """Forward, and forward with backward, of statements in x, w, b, m, v."""
    x, x_torch, _ = float32(*shape)
    gy, gy_torch, _ = float32(*shape, seed=1)
    if arrange is not None:
        x, x_torch = arrange(x, x_torch)
        gy, gy_torch = arrange(gy, gy_torch)
    names, params = 'wbmv', [float32(n_params, seed=2 + k) for k in range(4)]
    variables = {
        'chainerx': {'f': chainerx, 'x': x, 'gy': gy, 'axis': axes_of(shape)},
        'torch': {'f': torch.nn.functional, 'x': x_torch, 'gy': gy_torch,
                  'grad': torch.autograd.grad},
    }  # fmt: skip
    for name, (p, p_torch, _) in zip(names, params, strict=True):
        variables['chainerx'][name], variables['torch'][name] = p, p_torch
    bench.row(
        f'{label}, forward',
        {'chainerx': ours, 'torch': theirs},
        {peer: dict(values) for peer, values in variables.items()},
        scope={'torch': torch.no_grad},
    )
    for name in 'xwb':
        variables['chainerx'][name].require_grad()
        variables['torch'][name].requires_grad_()
    bench.row(
        label,
        {
            'chainerx': f'f.grad([{ours}], [x, w, b], grad_outputs=[gy])',
            'torch': f'grad({theirs}, (x, w, b), gy)',
        },
        variables,
    )


def text(shape):
    return 'x'.join(map(str, shape))


def rows(bench):
    """Normalization by channel, row and group, also of channels-last images."""
    ours, theirs = 'f.batch_norm(x, w, b, m, v, axis=axis)', 'f.batch_norm(x, m, v, w, b, True)'
    for shape in BATCH:
        row(bench, f'batch_norm, {text(shape)}', shape, shape[1], ours, theirs)
    shape = BATCH[0]
    label = f'batch_norm, {text(shape)}, channels inside'
    row(bench, label, shape, shape[1], ours, theirs, channels_last)
    for shape in LAYER:
        theirs = f'f.layer_norm(x, ({shape[-1]},), w, b)'
        ours = 'f.layer_norm(x, w, b)'
        row(bench, f'layer_norm, {text(shape)}', shape, shape[-1], ours, theirs)
    for shape in GROUP:
        ours, theirs = 'f.group_norm(x, 8, w, b)', 'f.group_norm(x, 8, w, b)'
        row(bench, f'group_norm, {text(shape)}', shape, shape[1], ours, theirs)


if __name__ == '__main__':
    main(rows, 'normalization', threads=(1, 2), rounds=10, round_seconds=0.02)
