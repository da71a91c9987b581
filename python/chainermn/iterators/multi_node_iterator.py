"""`create_multi_node_iterator`."""

from __future__ import annotations

import typing as tp

from chainer.dataset import Iterator
from chainer.serializer import Deserializer

from chainermn.communicators._rooted import make_in_root

if tp.TYPE_CHECKING:
    from chainer._typing import Example
    from chainer.serializer import AbstractSerializer

    from chainermn.communicators.communicator_base import CommunicatorBase


def create_multi_node_iterator(
    actual_iterator: tp.Any, communicator: CommunicatorBase, rank_master: int = 0
) -> _MultiNodeIterator:
    """Makes an iterator that gives the minibatches of one process in all of them.

    Args:
        actual_iterator (Iterator): What gives them; only that of the master counts.
        communicator (CommunicatorBase): Connects the processes, which must all call this, and all
            advance the iterator.
        rank_master (int): The rank whose iterator counts.

    Returns:
        Iterator: The iterator; epochs are counted in all processes.

    Raises:
        ValueError: If there is no such rank.
    """
    return _MultiNodeIterator(actual_iterator, communicator, rank_master)


_STATE: tp.Final = (
    'epoch',
    'is_new_epoch',
    'epoch_detail',
    'previous_epoch_detail',
    'current_position',
)


class _MultiNodeIterator(Iterator):
    """Gives what the iterator of the master gives."""

    def __init__(self, iterator: tp.Any, comm: CommunicatorBase, master: int) -> None:
        self.actual_iterator = iterator
        self.communicator = comm
        self.rank_master = master
        self._state: dict[str, tp.Any] = {}
        self._exchange(lambda: None)

    @property
    def _is_master(self) -> bool:
        return self.communicator.rank == self.rank_master

    def _exchange(self, advance: tp.Callable[[], list[Example] | None]) -> list[Example] | None:
        def make() -> tuple[list[Example] | None, dict[str, tp.Any]]:
            batch = advance()
            names = [name for name in _STATE if hasattr(self.actual_iterator, name)]
            return batch, {name: getattr(self.actual_iterator, name) for name in names}

        batch, self._state = make_in_root(
            'create_multi_node_iterator', self.communicator, self.rank_master, make
        )
        return batch

    def __next__(self) -> list[Example]:
        batch = self._exchange(lambda: next(self.actual_iterator, None))
        if batch is None:
            raise StopIteration
        return batch

    def __getattr__(self, name: str) -> tp.Any:
        if name in _STATE and name in self.__dict__.get('_state', {}):
            return self._state[name]
        if name.startswith('__') or 'actual_iterator' not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.actual_iterator, name)

    def reset(self) -> None:
        """Goes back to the start; all processes must call it."""
        self._exchange(lambda: self.actual_iterator.reset())

    def finalize(self) -> None:
        """Ends the iterator of this process."""
        if hasattr(self.actual_iterator, 'finalize'):
            self.actual_iterator.finalize()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the iterator of the master, and in other processes where it is.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        if self._is_master:
            self.actual_iterator.serialize(serializer)
            if isinstance(serializer, Deserializer):
                names = [name for name in _STATE if hasattr(self.actual_iterator, name)]
                self._state = {name: getattr(self.actual_iterator, name) for name in names}
            return
        for name, value in list(self._state.items()):
            # There is nothing before the first minibatch.
            loaded = serializer(name, -1.0 if value is None else value)
            if isinstance(serializer, Deserializer):
                kind = float if 'detail' in name else bool if 'is_' in name else int
                self._state[name] = kind(loaded)
        if self._state.get('previous_epoch_detail', 0) is not None and (
            self._state.get('previous_epoch_detail', 0) < 0
        ):
            self._state['previous_epoch_detail'] = None
