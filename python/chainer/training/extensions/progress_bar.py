"""The progress of a training, while it runs."""

from __future__ import annotations

import typing as tp

from chainer.training import extension
from chainer.training.extensions import util

if tp.TYPE_CHECKING:
    from chainer.training.trainer import Trainer


class ProgressBar(extension.Extension):
    """Shows how far the training is: bars in a terminal, and elsewhere a line now and then.

    Args:
        training_length (tuple): A number and its unit, such as ``(20, 'epoch')``; default: that of
            the stop trigger. Where that does not tell, there is no bar of the whole.
        update_interval (int): How many iterations apart it shows something new.
        bar_length (int): Characters of a bar.
        out: The stream; default: the standard output.

    Raises:
        ValueError: If ``update_interval`` is not positive, or the unit is none.
    """

    def __init__(
        self,
        training_length: tuple[float, str] | None = None,
        update_interval: int = 100,
        bar_length: int = 50,
        out: tp.TextIO | None = None,
    ) -> None:
        if update_interval < 1:
            raise ValueError(
                f'ProgressBar: update_interval must be positive, not {update_interval}'
            )
        if training_length is not None and training_length[1] not in ('epoch', 'iteration'):
            raise ValueError(
                "ProgressBar: the unit of training_length must be 'epoch' or 'iteration', not "
                f'{training_length[1]!r}'
            )
        self._training_length = training_length
        self._update_interval = update_interval
        self._bar_length = bar_length
        self._out = out
        self._pbar: _TrainingBar | None = None

    def __call__(self, trainer: Trainer) -> None:
        """Shows something new each ``update_interval`` iterations.

        Args:
            trainer (Trainer): The caller.
        """
        pbar = self._pbar
        if pbar is None:
            length = self._training_length
            if length is None:
                length = getattr(trainer.stop_trigger, 'get_training_length', lambda: None)()
            pbar = self._pbar = _TrainingBar(trainer, length, self._bar_length, self._out)
            pbar.take()
        if trainer.updater.iteration % self._update_interval == 0:
            pbar.update()

    def finalize(self) -> None:
        """Takes the bars away."""
        if self._pbar is not None:
            self._pbar.close()
            self._pbar = None


class _TrainingBar(util.ProgressBar):
    """The lines of a training."""

    def __init__(
        self,
        trainer: Trainer,
        length: tuple[float, str] | None,
        bar_length: int,
        out: tp.TextIO | None,
    ) -> None:
        super().__init__(out)
        self._trainer = trainer
        self._length = length
        self._bar_length = bar_length

    def take(self) -> tuple[float, float, float | None]:
        """Iterations per second, seconds that are left, and which part of all is done."""
        updater: tp.Any = self._trainer.updater
        iteration, epoch = updater.iteration, updater.epoch_detail
        speed, epoch_speed = self.update_speed(iteration, epoch)
        if self._length is None:
            return speed, float('nan'), None
        length, unit = self._length
        done, rate = (iteration, speed) if unit == 'iteration' else (epoch, epoch_speed)
        left = max(length - done, 0)
        return speed, left / rate if rate else float('nan'), min(done / length, 1.0)

    def get_lines(self) -> list[str]:
        updater: tp.Any = self._trainer.updater
        speed, seconds, done = self.take()
        lines = [] if done is None else [util.bar('     total', done, self._bar_length)]
        lines.append(util.bar('this epoch', updater.epoch_detail % 1, self._bar_length))
        of = '' if self._length is None else f' / {self._length[0]} {self._length[1]}s'
        lines.append(f'{updater.iteration:10} iter, {updater.epoch} epoch{of}')
        lines.append(util.speed_line(speed, seconds))
        return lines

    def get_text(self) -> str:
        updater: tp.Any = self._trainer.updater
        speed, seconds, done = self.take()
        text = f'epoch {updater.epoch_detail:.2f}, iteration {updater.iteration}'
        if done is not None:
            text += f' ({done:.1%}, {util.duration(seconds)} to go)'
        return f'{text}, {speed:.5g} iters/sec'
