"""Training: the loop, the updaters, and the extensions that run between iterations."""

from chainer.training import (
    extension,
    extensions,
    trainer,
    trigger,
    triggers,
    updater,
    updaters,
    util,
)
from chainer.training._trigger import IntervalTrigger, get_trigger
from chainer.training._updater import Updater
from chainer.training.extension import (
    PRIORITY_EDITOR,
    PRIORITY_READER,
    PRIORITY_WRITER,
    Extension,
    make_extension,
)
from chainer.training.trainer import Trainer
from chainer.training.updaters import ParallelUpdater, StandardUpdater

__all__ = [
    'PRIORITY_EDITOR',
    'PRIORITY_READER',
    'PRIORITY_WRITER',
    'Extension',
    'IntervalTrigger',
    'ParallelUpdater',
    'StandardUpdater',
    'Trainer',
    'Updater',
    'extension',
    'extensions',
    'get_trigger',
    'make_extension',
    'trainer',
    'trigger',
    'triggers',
    'updater',
    'updaters',
    'util',
]
