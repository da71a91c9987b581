"""Updaters and evaluators with custom loops that use v7's attributes."""

import copy

import chainer
import chainer.links as L
import numpy as np
import pytest
from chainer import reporter, training
from chainer.dataset import convert
from chainer.training import extensions

X = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32)
T = (X[:, 0] > 0).astype(np.int32)


class OwnUpdater(training.updaters.StandardUpdater):
    """An updater with several small steps per minibatch."""

    def update_core(self):
        iterator, optimizer = self._iterators['main'], self._optimizers['main']
        x, t = convert._call_converter(self.converter, iterator.next(), self.device)
        for _ in range(2):
            optimizer.update(self.loss_func or optimizer.target, x, t)
        if self.auto_new_epoch and iterator.is_new_epoch:
            optimizer.new_epoch(auto=True)


class OwnEvaluator(extensions.Evaluator):
    """An evaluator that uses half of the data."""

    def evaluate(self):
        iterator, model = copy.copy(self._iterators['main']), self._targets['main']
        summary = reporter.DictSummary()
        for _, batch in zip(range(2), iterator, strict=False):
            observation = {}
            with reporter.report_scope(observation), chainer.no_backprop_mode():
                arrays = convert._call_converter(self.converter, batch, self.device)
                (self.eval_func or model)(*arrays)
            summary.add(observation)
        return summary.compute_mean()


@pytest.mark.parametrize(
    ('device', 'given'), [('@numpy', -1), ('native:0', chainer.get_device('native:0'))]
)
def test_loops_of_the_user(tmp_path, device, given):
    seen = set()

    def converter(batch, device):
        seen.add(device)
        return chainer.dataset.concat_examples(batch, device)

    model = L.Classifier(L.Linear(3, 2, initialW=np.zeros((2, 3), np.float32)))
    optimizer = chainer.optimizers.SGD(0.5).setup(model)
    data = chainer.datasets.TupleDataset(X, T)
    options = {'converter': converter, 'device': device}
    updater = OwnUpdater(chainer.iterators.SerialIterator(data, 4), optimizer, **options)
    trainer = training.Trainer(updater, (4, 'epoch'), out=tmp_path)
    tests = chainer.iterators.SerialIterator(data, 2, repeat=False, shuffle=False)
    trainer.extend(OwnEvaluator(tests, model, **options))
    trainer.extend(extensions.LogReport())
    trainer.run()
    assert seen == {given}  # a converter that is a plain function gets v5's device numbers
    assert optimizer.t == 16
    log = trainer.get_extension('LogReport').log
    assert log[-1]['validation/main/loss'] < log[0]['validation/main/loss'] < np.log(2)
