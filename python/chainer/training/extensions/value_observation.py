"""Extensions that observe a value."""

from __future__ import annotations

import typing as tp

from chainer.training import extension

if tp.TYPE_CHECKING:
    from chainer.training.trainer import Trainer


def observe_value(
    observation_key: str, target_func: tp.Callable[[Trainer], object]
) -> tp.Callable[[Trainer], None]:
    """Makes an extension that writes a value to the observation, by default after each epoch.

    Args:
        observation_key (str): Its name there.
        target_func (callable): Takes the trainer and returns the value.

    Returns:
        callable: The extension.
    """

    @extension.make_extension(trigger=(1, 'epoch'), priority=extension.PRIORITY_WRITER)
    def _observe_value(trainer: Trainer) -> None:
        trainer.observation[observation_key] = target_func(trainer)

    return _observe_value


def observe_lr(
    optimizer_name: str = 'main', observation_key: str = 'lr'
) -> tp.Callable[[Trainer], None]:
    """Makes an extension that observes the learning rate.

    Args:
        optimizer_name (str): Of which optimizer.
        observation_key (str): Its name in the observation.

    Returns:
        callable: The extension.
    """

    def learning_rate(trainer: Trainer) -> tp.Any:
        optimizer: tp.Any = trainer.updater.get_optimizer(optimizer_name)
        # Adam's rate depends on the step. The class is asked, because mocks have every attribute;
        # that of chainermn's optimizers is the one of what they stand for.
        cls = type(getattr(optimizer, 'actual_optimizer', optimizer))
        return optimizer.alpha_t if hasattr(cls, 'alpha_t') else optimizer.lr

    return observe_value(observation_key, learning_rate)
