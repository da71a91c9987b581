"""Trainers without training."""

from __future__ import annotations

import importlib
import typing as tp
import unittest.mock

if tp.TYPE_CHECKING:
    from chainer._typing import TriggerLike


def get_error() -> Exception | None:
    """Why the helpers are not available: never."""
    return None


def is_available() -> bool:
    """Whether the helpers are available: always."""
    return True


def check_available() -> None:
    """Does nothing, because only the standard library is needed."""


def get_trainer_with_mock_updater(
    stop_trigger: TriggerLike = (10, 'iteration'),
    iter_per_epoch: int = 10,
    extensions: tp.Any = None,
) -> tp.Any:
    """A trainer whose updater counts, and updates nothing.

    Args:
        stop_trigger (tuple or trigger): When the trainer stops.
        iter_per_epoch (float): Iterations of an epoch.
        extensions (list): Extensions of the trainer.
    Returns:
        chainer.training.Trainer: Its ``updater`` is a mock with ``iteration``, ``epoch``,
        ``epoch_detail``, ``previous_epoch_detail`` and ``is_new_epoch``.
    """
    training = importlib.import_module('chainer.training')  # not before it is needed: it is large
    updater = unittest.mock.Mock()
    updater.get_all_optimizers.return_value = {}
    updater.iteration = 0
    updater.epoch = 0
    updater.epoch_detail = 0
    updater.is_new_epoch = True
    updater.previous_epoch_detail = None

    def update():
        updater.iteration += 1
        updater.previous_epoch_detail = updater.epoch_detail
        updater.epoch_detail = updater.iteration / iter_per_epoch
        updater.is_new_epoch = updater.iteration // iter_per_epoch > updater.epoch
        updater.epoch = updater.iteration // iter_per_epoch

    updater.update = update
    return training.Trainer(updater, stop_trigger, extensions=extensions)
