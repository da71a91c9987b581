"""Poolings: forward and backward, against PyTorch."""

import chainerx
import torch
from harness import float32, main

IMAGES = [(64, 20, 24, 24), (64, 50, 8, 8), (32, 64, 56, 56), (32, 64, 112, 112)]
POOLINGS = {  # name -> (chainerx, torch), and the inputs
    'max 2x2': ('f.max_pool(x, 2)', 'f.max_pool2d(x, 2)', IMAGES),
    'max 3x3 s2 p1': ('f.max_pool(x, 3, 2, 1)', 'f.max_pool2d(x, 3, 2, 1)', IMAGES[2:]),
    'max 3x3 s1 p1': ('f.max_pool(x, 3, 1, 1)', 'f.max_pool2d(x, 3, 1, 1)', IMAGES[2:3]),
    'average 2x2': ('f.average_pool(x, 2)', 'f.avg_pool2d(x, 2)', IMAGES),
    'average 3x3 s1 p1': (
        "f.average_pool(x, 3, 1, 1, 'zero')",
        'f.avg_pool2d(x, 3, 1, 1)',
        IMAGES[2:],
    ),
    'global average': (
        'f.global_average_pool(x)',
        'f.adaptive_avg_pool2d(x, 1)',
        [(32, 512, 7, 7), *IMAGES[2:]],
    ),
    'global max': ('f.global_max_pool(x)', 'f.adaptive_max_pool2d(x, 1)', [(32, 512, 7, 7)]),
}


def rows(bench):
    """Common windows on images of the size of LeNet's, ResNet's, and twice as large."""
    for name, (ours, theirs, shapes) in POOLINGS.items():
        for shape in shapes:
            x, x_torch, _ = float32(*shape)
            x.require_grad()
            x_torch.requires_grad_()
            f_torch = torch.nn.functional
            y = eval(ours, {'f': chainerx, 'x': x})
            gy, gy_torch, _ = float32(*y.shape, seed=1)
            label = f'{name}, {"x".join(map(str, shape))}'
            bench.row(
                f'{label}, forward',
                {'chainerx': ours, 'torch': theirs},
                {'chainerx': {'f': chainerx, 'x': x.as_grad_stopped()},
                 'torch': {'f': f_torch, 'x': x_torch.detach()}},
            )  # fmt: skip
            bench.row(
                label,
                {
                    'chainerx': f'f.grad([{ours}], [x], grad_outputs=[gy])',
                    'torch': f'grad({theirs}, x, gy)',
                },
                {
                    'chainerx': {'f': chainerx, 'x': x, 'gy': gy},
                    'torch': {'f': f_torch, 'x': x_torch, 'gy': gy_torch,
                              'grad': torch.autograd.grad},
                },
            )  # fmt: skip


if __name__ == '__main__':
    main(rows, 'pooling', threads=(1, 2), rounds=10, round_seconds=0.02)
