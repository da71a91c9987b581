"""The path of Chainer v7 of the updaters."""

from chainer.training._updater import Updater  # noqa: F401
from chainer.training.updaters import ParallelUpdater, StandardUpdater  # noqa: F401
