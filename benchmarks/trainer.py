"""The overhead of a Trainer per iteration, with LogReport, ProgressBar and Evaluator on.

The peer is the bare loop: the same iterator, converter and optimizer in a for statement. Both run
whole epochs. The ratio depends on the size of the step; the note gives the additional microseconds
per iteration, which ``trainer_us`` in budgets.toml limits.
"""

import io
import sys
import tempfile
import tomllib

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import training
from chainer.training import extensions
from harness import BUDGETS, main

N, BATCH = 4000, 4


class Net(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(16, 16)
            self.l2 = L.Linear(16, 10)

    def forward(self, x):
        return self.l2(F.relu(self.l1(x)))


def make(device):
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, (N, 16)).astype(np.float32)
    t = rng.integers(0, 10, N).astype(np.int32)
    data = chainer.datasets.TupleDataset(x, t)
    model = L.Classifier(Net()).to_device(device)
    optimizer = chainer.optimizers.SGD(0.01).setup(model)
    iterator = chainer.iterators.SerialIterator(data, BATCH)
    return data, model, optimizer, iterator


def bare(device):
    _, model, optimizer, iterator = make(device)

    def epoch():
        for _ in range(N // BATCH):
            arrays = chainer.dataset.concat_examples(iterator.next(), model.device)
            optimizer.update(model, *arrays)

    return epoch


def with_trainer(device, folder):
    data, model, optimizer, iterator = make(device)
    updater = training.StandardUpdater(iterator, optimizer, device=model.device)
    stop = training.triggers.ManualScheduleTrigger([], 'epoch')
    trainer = training.Trainer(updater, stop, out=folder)
    # Only the overhead of an Evaluator is measured, not the evaluation itself.
    few = chainer.iterators.SerialIterator(data[:BATCH], BATCH, repeat=False, shuffle=False)
    trainer.extend(extensions.Evaluator(few, model, device=device))
    trainer.extend(extensions.LogReport())
    trainer.extend(extensions.PrintReport(['epoch', 'main/loss'], out=io.StringIO()))
    trainer.extend(extensions.ProgressBar((1000, 'epoch'), out=io.StringIO()))
    goal = [0]

    def stop_at_goal(trainer):
        return trainer.updater.epoch >= goal[0]

    trainer.stop_trigger = stop_at_goal

    def epoch():
        goal[0] += 1
        trainer._done = False  # a trainer runs only once; here once per epoch
        trainer.run()

    return epoch


def rows(bench):
    """The overhead of a Trainer over the bare loop."""
    for device in ('@numpy', 'native:0'):
        with tempfile.TemporaryDirectory() as folder:
            peers = {'chainerx': with_trainer(device, folder), 'bare loop': bare(device)}
            bench.row(
                f'iteration of a Trainer, {device}',
                dict.fromkeys(peers, 'run()'),
                {peer: {'run': run} for peer, run in peers.items()},
                against='bare loop',
                per=N // BATCH,
            )
            if not bench.results:
                continue
            best = bench.results[-1].best
            more = (best['chainerx'] - best['bare loop']) * 1e6
            bench.results[-1].note = f'{more:.1f} µs more'
            print(f'{device}: {more:.1f} µs more per iteration')
            with open(BUDGETS, 'rb') as file:
                limit = tomllib.load(file)['limits']['trainer_us']
            if more > limit:
                print(f'more than {limit} µs', file=sys.stderr)


if __name__ == '__main__':
    main(rows, 'trainer', rounds=12)
