"""Whole training steps of chainer, and the updates of optimizers alone.

A step is forward, softmax cross entropy, backward, update, of a network that is a Chain. The
PyTorch side uses the fastest variant of its optimizer (`foreach`, `fused`, plain), found by a
short trial; for SGD also a functional step. With --announcement it reproduces the table of the
original announcement.
"""

import argparse
import itertools
import sys
import timeit

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
import numpy as np
import torch
import train
from harness import Bench, main, seconds

KINDS = {'chainerx': 'native:0', 'numpy': '@numpy'}

OPTIMIZERS = {  # name -> (chainer, class of torch, its arguments)
    'SGD': (lambda: chainer.optimizers.SGD(0.01), torch.optim.SGD, {'lr': 0.01}),
    'MomentumSGD': (
        lambda: chainer.optimizers.MomentumSGD(0.01),
        torch.optim.SGD,
        {'lr': 0.01, 'momentum': 0.9},
    ),
    'Adam': (lambda: chainer.optimizers.Adam(0.001), torch.optim.Adam, {'lr': 0.001}),
    'AdamW': (
        lambda: chainer.optimizers.AdamW(0.001, weight_decay_rate=0.01),
        torch.optim.AdamW,
        {'lr': 0.001},
    ),
    'RMSprop': (lambda: chainer.optimizers.RMSprop(0.01), torch.optim.RMSprop, {'lr': 0.01}),
}
FUSED = ('SGD', 'MomentumSGD', 'Adam', 'AdamW')  # PyTorch's RMSprop has no fused form


class MLP(chainer.Chain):
    def __init__(self, values):
        super().__init__()
        with self.init_scope():
            for i in range(3):
                w, b = values[2 * i : 2 * i + 2]
                link = L.Linear(w.shape[1], w.shape[0], initialW=w.copy(), initial_bias=b.copy())
                setattr(self, f'l{i}', link)

    def forward(self, x):
        return self.l2(F.relu(self.l1(F.relu(self.l0(x)))))


def chainer_step(sizes, batch_size, kind, make):
    model = MLP(train.parameters(sizes))
    model.to_device(KINDS[kind])
    optimizer = make().setup(model)
    x, t = train.batch(sizes, batch_size)
    x, t = model.device.send((x, t.astype(np.int32)))

    def step():
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    return step


def torch_steps(sizes, batch_size, name):
    _, cls, arguments = OPTIMIZERS[name]
    for way in ('foreach', 'fused', 'plain'):
        layers = []
        for n_in, n_out in itertools.pairwise(sizes):
            layers += [torch.nn.Linear(n_in, n_out), torch.nn.ReLU()]
        model = torch.nn.Sequential(*layers[:-1])
        with torch.no_grad():
            for p, value in zip(model.parameters(), train.parameters(sizes), strict=True):
                p.copy_(torch.tensor(value))
        options = {'foreach': way == 'foreach', 'fused': way == 'fused'}
        optimizer = cls(model.parameters(), **arguments, **options)
        x, t = map(torch.tensor, train.batch(sizes, batch_size))

        def step(model=model, optimizer=optimizer, x=x, t=t):
            loss = torch.nn.functional.cross_entropy(model(x), t)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            return loss

        yield f'{cls.__name__}({way})', step
    if name == 'SGD':
        yield 'functional, _foreach_add_', train.torch_manual_step(sizes, batch_size)


def fastest(ways, n):
    times = {}
    ways = dict(ways)
    for _ in range(5):
        for way, step in ways.items():
            times[way] = min(times.get(way, np.inf), timeit.timeit(step, number=n) / n)
    best = min(times, key=times.get)
    return best, ways[best]


def loss_of(step, n=3):
    loss = [step() for _ in range(n)][-1]
    return float(loss.item() if isinstance(loss, chainer.Variable) else loss.detach())


def steps(bench):
    configurations = [((784, 1000, 1000, 10), 100)]
    if bench.threads == 1:
        configurations = [((16, 16, 16, 10), 1), ((784, 8, 8, 10), 1), *configurations]
    for sizes, batch_size in configurations:
        name = '-'.join(map(str, sizes))
        for optimizer in ('SGD', 'Adam'):
            ways = dict(torch_steps(sizes, batch_size, optimizer))
            reference = loss_of(ways[f'{OPTIMIZERS[optimizer][1].__name__}(plain)'])
            way, theirs = fastest(ways, 100 if batch_size == 1 else 10)
            for kind in KINDS:
                make = OPTIMIZERS[optimizer][0]
                difference = loss_of(chainer_step(sizes, batch_size, kind, make)) - reference
                if abs(difference) > 1e-3 * abs(reference):
                    raise RuntimeError(f'{name}, {optimizer}: losses differ by {difference}')
                ours = chainer_step(sizes, batch_size, kind, make)
                bench.row(
                    f'{name}, batch {batch_size}, {optimizer}, {kind}',
                    {'chainerx': 'step()', 'torch': 'step()'},
                    {'chainerx': {'step': ours}, 'torch': {'step': theirs}},
                    note=f'PyTorch: {way}',
                )


def updates(bench):
    """The update alone, of 200 parameters of 8 to 8000 elements."""
    rng = np.random.default_rng(0)
    arrays = [
        rng.normal(size=int(n)).astype(np.float32) for n in np.exp(rng.uniform(2, 9, size=200))
    ]
    for name, (make, cls, arguments) in OPTIMIZERS.items():
        model = chainer.Link()
        with model.init_scope():
            for i, a in enumerate(arrays):
                setattr(model, f'p{i}', chainer.Parameter(a.copy()))
        model.to_device('native:0')
        for p in model.params():
            p.grad = p.array * 0.01
        optimizer = make().setup(model)
        optimizer.update()
        for way in ('default', 'fused'):
            if way == 'fused' and name not in FUSED:
                continue
            params = [torch.tensor(a, requires_grad=True) for a in arrays]
            for p in params:
                p.grad = p.detach() * 0.01
            theirs = cls(params, **arguments, **({'fused': True} if way == 'fused' else {}))
            theirs.step()
            bench.row(
                f'update of 200 parameters, {name}, torch {way}',
                {'chainerx': 'update()', 'torch': 'step()'},
                {'chainerx': {'update': optimizer.update}, 'torch': {'step': theirs.step}},
            )


def many_parameters(bench):
    """The overhead per parameter of a step with 400 small parameters.

    Gradients are set by a Python loop on both sides.
    """
    n = 400
    a = np.ones(8, np.float32)
    for name in ('SGD', 'Adam'):
        make, cls, arguments = OPTIMIZERS[name]
        for kind, device in KINDS.items():
            model = chainer.Link()
            with model.init_scope():
                for i in range(n):
                    setattr(model, f'p{i}', chainer.Parameter(a.copy()))
            model.to_device(device)
            optimizer = make().setup(model)
            grads = [(p, chainer.Variable(p.device.send(a.copy()))) for p in model.params()]
            params = [torch.tensor(a, requires_grad=True) for _ in range(n)]
            their_grads = [(p, torch.tensor(a)) for p in params]
            theirs = cls(params, **arguments)

            def step(model=model, optimizer=optimizer, grads=grads):
                for p, g in grads:
                    p.grad_var = g
                optimizer.update()
                model.cleargrads()

            def their_step(theirs=theirs, grads=their_grads):
                for p, g in grads:
                    p.grad = g
                theirs.step()
                theirs.zero_grad(set_to_none=True)

            bench.row(
                f'update and cleargrads of {n} parameters, {name}, {kind}',
                {'chainerx': 'step()', 'torch': 'step()'},
                {'chainerx': {'step': step}, 'torch': {'step': their_step}},
            )


def rows(bench):
    """Training steps of Chains, and updates of many parameters."""
    steps(bench)
    if bench.threads == 1:
        updates(bench)
        many_parameters(bench)


def announcement():
    """The four rows of the announcement of ChainerX (2018): forward, backward, SGD update."""
    figures = {'Chainer on NumPy': 14.48, 'Chainer on ChainerX': 7.54}
    figures |= {'ChainerX in Python': 1.88, 'PyTorch': 2.45}
    columns = {}
    for sizes, batch_size in (((16, 16, 16, 10), 1), ((784, 1000, 1000, 10), 100)):
        make = OPTIMIZERS['SGD'][0]
        way, theirs = fastest(torch_steps(sizes, batch_size, 'SGD'), 100 if batch_size == 1 else 10)
        bench = Bench('', 1, 40, 0.004 if batch_size == 1 else 0.02)
        variables = {
            'chainerx': chainer_step(sizes, batch_size, 'numpy', make),
            'Chainer on ChainerX': chainer_step(sizes, batch_size, 'chainerx', make),
            'ChainerX in Python': train.chainerx_step(sizes, batch_size),
            'PyTorch': theirs,
        }
        result = bench.row(
            '-'.join(map(str, sizes)),
            dict.fromkeys(variables, 'step()'),
            {peer: {'step': step} for peer, step in variables.items()},
            against='PyTorch',
            note=way,
        )
        times = {'Chainer on NumPy': result.best['chainerx'], **result.best}
        columns[f'{"-".join(map(str, sizes))}, batch {batch_size}'] = times
    print('\n| | announced, 2018 | ' + ' | '.join(columns) + ' |')
    print('| --- |' + ' --- |' * (len(columns) + 1))
    for row, ms in figures.items():
        cells = [f'{seconds(t[row])} ({t[row] / t["PyTorch"]:.2f})' for t in columns.values()]
        print(f'| {row} | {ms} ms ({ms / figures["PyTorch"]:.2f}) | ' + ' | '.join(cells) + ' |')


if __name__ == '__main__':
    if '--announcement' in sys.argv[1:]:
        argparse.ArgumentParser(description=announcement.__doc__).parse_args(
            [a for a in sys.argv[1:] if a != '--announcement']
        )
        chainerx.set_num_threads(1)
        torch.set_num_threads(1)
        announcement()
    else:
        main(rows, 'chainer_train', threads=(1, 2), rounds=30, round_seconds=0.01)
