"""A long training with all reporting extensions does not grow in memory."""

import contextlib
import ctypes
import gc
import io
import os
import sys

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
import numpy as np
import pytest
from chainer import training
from chainer.training import extensions
from devices import DEVICES

PAGE = os.sysconf('SC_PAGE_SIZE')


class Nowhere(io.TextIOBase):
    """A terminal that discards its output."""

    def isatty(self):
        return True

    def write(self, text):
        return len(text)


class Small(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(1, 4, 3)
            self.norm = L.BatchNormalization(4)
            self.linear = L.Linear(None, 10)

    def forward(self, x):
        return self.linear(F.max_pooling_2d(F.relu(self.norm(self.conv(x))), 2))


def make(out, n, device):
    rng = np.random.default_rng(0)
    x = rng.normal(0, 1, (64, 1, 8, 8)).astype(np.float32)
    data = chainer.datasets.TupleDataset(x, rng.integers(0, 10, 64).astype(np.int32))
    model = L.Classifier(Small())
    model.to_device(device)
    model.predictor(model.device.send(x[:2]))  # initializes the lazy layer
    optimizer = chainer.optimizers.Adam().setup(model)
    iterator = chainer.iterators.SerialIterator(data, 8)
    updater = training.StandardUpdater(iterator, optimizer, device=device)
    trainer = training.Trainer(updater, (n, 'iteration'), out=str(out))
    for_test = chainer.iterators.SerialIterator(data, 32, repeat=False, shuffle=False)
    trainer.extend(extensions.Evaluator(for_test, model, device=device), trigger=(50, 'iteration'))
    often = (n // 100, 'iteration')
    seldom = (n // 12, 'iteration')
    trainer.extend(extensions.observe_lr())
    trainer.extend(extensions.CosineShift('alpha', max_count=n))
    trainer.extend(extensions.FailOnNonNumber(), trigger=often)
    statistics = {'mean': lambda x: x.mean()}
    trainer.extend(extensions.ParameterStatistics(model, statistics, trigger=often), trigger=often)
    trainer.extend(extensions.MicroAverage('n', 'd', 'nothing'))
    trainer.extend(extensions.ExponentialMovingAverage(model, 0.99), trigger=often)
    trainer.extend(extensions.LogReport(trigger=often))
    trainer.extend(extensions.PrintReport(['main/loss', 'lr'], out=Nowhere()))
    trainer.extend(extensions.ProgressBar(update_interval=10, out=Nowhere()))
    trainer.extend(extensions.CSVReport())
    trainer.extend(extensions.JSONLinesReport())
    trainer.extend(extensions.HTMLReport(), trigger=seldom)
    if _has('tensorboardX'):
        trainer.extend(extensions.TensorBoardReport(histograms=True))
    if _has('matplotlib'):
        trainer.extend(extensions.PlotReport(['main/loss'], trigger=seldom))
        rarely = (n // 2, 'iteration')  # as drawing takes long
        plot = extensions.VariableStatisticsPlot(model, max_sample_size=20, trigger=rarely)
        trainer.extend(plot, trigger=often)
    trainer.extend(extensions.snapshot(n_retains=2), trigger=seldom)
    save = extensions.snapshot_object(model, 'model_{.updater.iteration}', n_retains=2)
    trainer.extend(save, trigger=seldom)
    # These keep the graphs of losses, until one has drawn them and the other unchains them.
    trainer.extend(extensions.DumpGraph('main/loss'))
    trainer.extend(extensions.unchain_variables())
    return trainer


def _has(module):
    try:
        __import__(module)
    except ImportError:
        return False
    return True


def resident():
    with contextlib.suppress(OSError, AttributeError):  # caches of the C library are no leak
        ctypes.CDLL(None).malloc_trim(0)
    with open('/proc/self/statm') as stream:
        return int(stream.read().split()[1]) * PAGE


@pytest.mark.parametrize('device', DEVICES)
def test_memory_stays_flat(tmp_path, request, device):
    full = request.config.getoption('--full', default=False)
    n = 20_000 if full else 1200
    trainer = make(tmp_path, n, device)
    taken = {}

    def take(trainer):
        gc.collect()
        arrays = chainerx.get_memory_info()
        blocks = sys.getallocatedblocks()
        found = len(gc.get_objects()), blocks, arrays['in_use'], resident()
        taken[trainer.updater.iteration] = found

    trainer.extend(take, 'take', (n // 4, 'iteration'), -999)
    trainer.run()
    objects, blocks, in_use, size = (b - a for a, b in zip(taken[n // 2], taken[n], strict=True))
    log = trainer.get_extension('LogReport').log
    assert len(log) == 100
    assert (tmp_path / 'cg.dot').exists()
    assert len(list(tmp_path.glob('model_*'))) == 2
    assert objects < 100
    assert in_use <= 0
    # The number of log entries since then.
    assert blocks < 50 * 2 * len(log[-1]) + 500
    # Pages grow with the log, and Python's allocator keeps the memory of the largest.
    if 'libasan' not in os.environ.get('LD_PRELOAD', ''):  # it caches freed memory
        assert size < 12e6
