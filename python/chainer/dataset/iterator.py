"""The base of iterators over datasets."""

from __future__ import annotations

import typing as tp

if tp.TYPE_CHECKING:
    from chainer._typing import Example
    from chainer.serializer import AbstractSerializer


class Iterator:
    """Base of iterators that give minibatches of a dataset.

    A subclass has ``__next__``, and the attributes that a trainer reads: ``epoch``,
    ``epoch_detail``, ``previous_epoch_detail`` and ``is_new_epoch``. Using one in a ``with`` block
    finalizes it.
    """

    epoch: tp.Any
    is_new_epoch: tp.Any
    epoch_detail: tp.Any
    previous_epoch_detail: tp.Any

    def __iter__(self) -> tp.Self:
        """The iterator itself."""
        return self

    def __next__(self) -> tp.Any:
        """The next minibatch, a list of examples. Overridden."""
        raise NotImplementedError(f'{type(self).__name__}.__next__ is not implemented')

    def next(self) -> list[Example]:
        """The next minibatch, as ``__next__``."""
        return self.__next__()

    def finalize(self) -> None:
        """Releases the resources of the iterator, for example workers."""

    def __enter__(self) -> tp.Self:
        return self

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        self.finalize()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the state; nothing by default.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
