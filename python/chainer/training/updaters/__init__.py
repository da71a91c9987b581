"""What one iteration of a training does."""

# ruff: noqa: F401
from chainer.training.updaters.multiprocess_parallel_updater import MultiprocessParallelUpdater
from chainer.training.updaters.parallel_updater import ParallelUpdater
from chainer.training.updaters.standard_updater import StandardUpdater
