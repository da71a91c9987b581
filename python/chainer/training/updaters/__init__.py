"""Updaters, which make one iteration of a training."""

from chainer.training.updaters.multiprocess_parallel_updater import (
    MultiprocessParallelUpdater as MultiprocessParallelUpdater,
)
from chainer.training.updaters.parallel_updater import ParallelUpdater as ParallelUpdater
from chainer.training.updaters.standard_updater import StandardUpdater as StandardUpdater
