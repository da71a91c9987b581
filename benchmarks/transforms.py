"""Function transforms, against torch.func; vmap against a loop, gradients against backward."""

import chainerx
from chainerx import func
from harness import float32, main, torch


def mlp(relu):
    """The loss of a network of two layers."""

    def loss(w1, w2, x, t):
        y = relu(x @ w1) @ w2
        return ((y - t) ** 2).sum()

    return loss


def gradients(bench):
    """value_and_grad, against torch.func and against recording and backward() by hand."""
    for width, rows in ((10, 4), (256, 64)):
        ours, peers = zip(
            *[
                float32(*shape, seed=i)[:2]
                for i, shape in enumerate(((width, width), (width, 3), (rows, width), (rows, 3)))
            ],
            strict=True,
        )
        loss = mlp(chainerx.relu)
        theirs = mlp(torch.relu)
        leaves = [w.as_grad_stopped().require_grad() for w in ours[:2]]

        def backward(loss=loss, leaves=leaves, ours=ours):
            for w in leaves:
                w.cleargrad()
            loss(*leaves, *ours[2:]).backward()

        name = f'MLP {width}, {rows} rows'
        bench.row(
            f'value_and_grad, {name}',
            {'chainerx': 'f(*a)', 'torch': 'f(*a)'},
            {
                'chainerx': {'f': func.value_and_grad(loss, (0, 1)), 'a': ours},
                'torch': {
                    'f': torch.func.grad_and_value(theirs, (0, 1)),
                    'a': peers,
                },
            },
        )
        bench.row(
            f'value_and_grad against backward(), {name}',
            {'chainerx': 'f(*a)', 'backward': 'b()'},
            {
                'chainerx': {'f': func.value_and_grad(loss, (0, 1)), 'a': ours},
                'backward': {'b': backward},
            },
            against='backward',
        )
        vector = (ours[0] * 0.1, ours[1] * 0.1)
        peer_vector = (peers[0] * 0.1, peers[1] * 0.1)

        def hvp(w1, w2, v, x, t, loss=loss):
            return func.hvp(lambda a, b: loss(a, b, x, t), (w1, w2), v)

        def hvp_torch(w1, w2, v, x, t, loss=theirs):
            def gradient(a, b):
                return torch.func.grad(loss, (0, 1))(a, b, x, t)

            return torch.func.jvp(gradient, (w1, w2), v)[1]

        bench.row(
            f'hvp, {name}',
            {'chainerx': 'f(*a)', 'torch': 'f(*a)'},
            {
                'chainerx': {'f': hvp, 'a': (*ours[:2], vector, *ours[2:])},
                'torch': {'f': hvp_torch, 'a': (*peers[:2], peer_vector, *peers[2:])},
            },
        )


def batches(bench):
    """vmap, against torch.func and against a loop over the examples."""
    x, peer, _ = float32(64, 20)
    w, peer_w, _ = float32(20, 20, seed=1)

    def f(x, w):
        return (chainerx.tanh(x @ w) * x).sum()

    def f_torch(x, w):
        return (torch.tanh(x @ w) * x).sum()

    def per_example(f):
        return lambda xs, w: [f(xs[i], w) for i in range(64)]

    for name, ours, theirs in (
        ('vmap', f, f_torch),
        ('vmap of grad', func.grad(f, 1), torch.func.grad(f_torch, 1)),
    ):
        ours_mapped = func.vmap(ours, (0, None))
        bench.row(
            f'{name}, 64 examples of 20',
            {'chainerx': 'f(x, w)', 'torch': 'f(x, w)'},
            {
                'chainerx': {'f': ours_mapped, 'x': x, 'w': w},
                'torch': {'f': torch.func.vmap(theirs, (0, None)), 'x': peer, 'w': peer_w},
            },
        )
        bench.row(
            f'{name} against a loop, 64 examples of 20',
            {'chainerx': 'f(x, w)', 'loop': 'f(x, w)'},
            {
                'chainerx': {'f': ours_mapped, 'x': x, 'w': w},
                'loop': {'f': per_example(ours), 'x': x, 'w': w},
            },
            against='loop',
        )
    v, peer_v, _ = float32(30)
    m, peer_m, _ = float32(30, 30, seed=2)
    for name, ours, theirs in (
        ('jacrev', func.jacrev, torch.func.jacrev),
        ('jacfwd', func.jacfwd, torch.func.jacfwd),
    ):
        bench.row(
            f'{name}, 30 by 30',
            {'chainerx': 'f(v)', 'torch': 'f(v)'},
            {
                'chainerx': {'f': ours(lambda v: chainerx.tanh(m @ v)), 'v': v},
                'torch': {'f': theirs(lambda v: torch.tanh(peer_m @ v)), 'v': peer_v},
            },
        )
    bench.row(
        'hessian, 30 by 30',
        {'chainerx': 'f(v)', 'torch': 'f(v)'},
        {
            'chainerx': {'f': func.hessian(lambda v: chainerx.tanh(m @ v).sum()), 'v': v},
            'torch': {'f': torch.func.hessian(lambda v: torch.tanh(peer_m @ v).sum()), 'v': peer_v},
        },
    )


def rows(bench):
    gradients(bench)
    batches(bench)


if __name__ == '__main__':
    main(rows, 'transforms', rounds=30)
