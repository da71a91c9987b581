"""The path of Chainer v7 of the updaters."""

from chainer.training._updater import Updater as Updater
from chainer.training.updaters import ParallelUpdater as ParallelUpdater
from chainer.training.updaters import StandardUpdater as StandardUpdater
