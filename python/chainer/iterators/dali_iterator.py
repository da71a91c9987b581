"""An iterator over a pipeline of NVIDIA DALI."""

from __future__ import annotations

import contextlib
import importlib.util
import typing as tp

from chainer.dataset import Iterator

if tp.TYPE_CHECKING:
    from chainer._typing import Example
    from chainer.serializer import AbstractSerializer


class DaliIterator(Iterator):
    """Gives the minibatches of a pipeline of NVIDIA DALI, which is a package for GPUs of its own.

    The minibatches are lists of the pipeline's outputs, which a converter makes arrays of.

    Args:
        pipeline: Has ``build``, ``run``, ``epoch_size`` and ``batch_size`` (in new versions
            ``max_batch_size``), as those of ``nvidia.dali.pipeline.Pipeline``.
        repeat (bool): Whether it goes on after an epoch.

    Attributes:
        epoch (int): The number of epochs that have ended.
        is_new_epoch (bool): Whether the last minibatch ended one.
        current_position (int): How many examples of this epoch were given.

    Raises:
        ImportError: If DALI is missing.
    """

    def __init__(self, pipeline: tp.Any, repeat: bool = True) -> None:
        if not _has_dali():
            raise ImportError(
                'DaliIterator runs pipelines of NVIDIA DALI, which is missing: '
                'pip install nvidia-dali-cuda120'
            )
        pipeline.build()
        sizes = pipeline.epoch_size
        sizes = sizes() if callable(sizes) else sizes
        self.epoch_size = max(sizes.values()) if isinstance(sizes, dict) else int(sizes)
        self.pipeline = pipeline
        self._repeat = repeat
        self._is_used = False
        self._restart()

    def _restart(self) -> None:
        self.current_position = 0
        self.epoch = 0
        self.is_new_epoch = False
        self._previous: float | None = None

    @property
    def repeat(self) -> bool:
        """Whether it goes on after an epoch."""
        return self._repeat

    @property
    def batch_size(self) -> int:
        """Examples of a minibatch."""
        size = getattr(self.pipeline, 'max_batch_size', None)
        return int(self.pipeline.batch_size if size is None else size)

    @property
    def epoch_detail(self) -> float:
        """The number of epochs, with the part of this one that is done."""
        return self.epoch + self.current_position / max(self.epoch_size, 1)

    @property
    def previous_epoch_detail(self) -> float | None:
        """`epoch_detail` before the last minibatch; None before the first one."""
        return self._previous

    def reset(self) -> None:
        """Goes back to the start."""
        if self._is_used:
            self.pipeline.reset()
        self._restart()

    def __next__(self) -> list[Example]:
        """The next minibatch.

        Returns:
            list: The outputs of the pipeline.

        Raises:
            StopIteration: After the epoch without ``repeat``.
        """
        if self.epoch_size == 0 or (not self._repeat and self.epoch > 0):
            raise StopIteration
        outputs = self.pipeline.run()
        self._is_used = True
        self._previous = self.epoch_detail
        end = self.current_position + self.batch_size
        self.is_new_epoch = end >= self.epoch_size
        if self.is_new_epoch:
            self.epoch += 1
            end = end - self.epoch_size if self._repeat else 0
        self.current_position = end
        return outputs

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads where it is; the pipeline's own state is not part of that.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        self.current_position = int(serializer('current_position', self.current_position))
        self.epoch = int(serializer('epoch', self.epoch))
        self.is_new_epoch = bool(serializer('is_new_epoch', self.is_new_epoch))
        previous = -1.0 if self._previous is None else self._previous
        with contextlib.suppress(KeyError):
            previous = float(serializer('previous_epoch_detail', previous))
        self._previous = None if previous < 0 else previous


def _has_dali() -> bool:
    has_parent = importlib.util.find_spec('nvidia') is not None
    return has_parent and importlib.util.find_spec('nvidia.dali') is not None
