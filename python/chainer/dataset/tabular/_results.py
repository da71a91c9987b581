"""Results of the user's functions, which compute columns."""

from __future__ import annotations

import typing as tp

Mode: tp.TypeAlias = 'type[tuple] | type[dict] | None'


class Results:
    """Orders the results of a function by its keys.

    Whether that is tuples, dicts or single values shows in the first call, and stays so.

    Args:
        owner (str): The caller, for error messages.
        keys (str or tuple of str): Of the columns; a str, and no tuple, if what the function
            returns may itself be a tuple of several values.

    Attributes:
        keys (tuple of str): Of the columns.
        is_known (bool): Whether a call has shown `mode`.
        mode: Tuple, dict, or None for single values.
    """

    def __init__(self, owner: str, keys: str | tp.Iterable[str]) -> None:
        self._owner = owner
        self._is_single = isinstance(keys, str)
        self.keys: tuple[str, ...] = (keys,) if isinstance(keys, str) else tuple(keys)
        if len(set(self.keys)) < len(self.keys):
            raise ValueError(f'{owner}: keys must be unique: {self.keys}')
        self.is_known = False
        self.mode: Mode = None if self._is_single else tuple

    def read(self, result: tp.Any) -> tuple[tp.Any, ...]:
        """The values that a call returned, in the order of the keys."""
        mode, values = self._split(result)
        if self.is_known and mode is not self.mode:
            raise ValueError(
                f'{self._owner}: the function returned {_name(mode)}, after {_name(self.mode)} in '
                'an earlier call'
            )
        self.mode, self.is_known = mode, True
        return values

    def _split(self, result: tp.Any) -> tuple[Mode, tuple[tp.Any, ...]]:
        keys = self.keys
        if isinstance(result, dict):
            if missing := [key for key in keys if key not in result]:
                raise ValueError(f'{self._owner}: keys {missing} are missing in {sorted(result)}')
            return dict, tuple(result[key] for key in keys)
        is_tuple = isinstance(result, tuple)
        if len(keys) == 1 and not (is_tuple and (len(result) == 1 or not self._is_single)):
            return None, (result,)
        if not isinstance(result, tuple | list):
            raise ValueError(f'{self._owner}: expected values of {keys}, not {type(result)}')
        if len(result) != len(keys):
            raise ValueError(f'{self._owner}: {len(result)} values for the keys {keys}')
        return tuple, tuple(result)


def _name(mode: Mode) -> str:
    return 'a single value' if mode is None else f'a {mode.__name__}'
