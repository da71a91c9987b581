"""Checks of keyword arguments that are taken as a dictionary."""

from __future__ import annotations

import sys
import typing as tp


def check_unexpected_kwargs(kwargs: tp.Mapping[str, object], **unexpected: str) -> None:
    """Refuses keyword arguments that are not taken any more.

    Args:
        kwargs (dict): The given keyword arguments.
        **unexpected (str): Messages by name.

    Raises:
        ValueError: With the message of the first name of these that was given.
    """
    for name, message in unexpected.items():
        if name in kwargs:
            raise ValueError(message)


def parse_kwargs(
    kwargs: dict[str, tp.Any], *name_and_values: tuple[str, object], **unexpected: str
) -> tuple:
    """Picks values out of keyword arguments.

    Args:
        kwargs: The given keyword arguments.
        name_and_values: Pairs of name and default.
        unexpected: Messages for names that are not taken any more.

    Returns:
        A tuple of the values, in the order of ``name_and_values``.

    Raises:
        ValueError: For a name of ``unexpected``.
        TypeError: For any other name, naming the calling function.
    """
    check_unexpected_kwargs(kwargs, **unexpected)
    names = {name for name, _ in name_and_values}
    _refuse({name for name in kwargs if name not in names})
    return tuple(kwargs.get(name, default) for name, default in name_and_values)


def assert_kwargs_empty(kwargs: tp.Mapping[str, object]) -> None:
    """Refuses keyword arguments.

    Args:
        kwargs (dict): The given keyword arguments.

    Raises:
        TypeError: If there are some; it names the calling function.
    """
    _refuse(set(kwargs))


def _refuse(names: set[str]) -> None:
    if names:
        caller = sys._getframe(2).f_code.co_name
        raise TypeError(
            f'{caller}() got unexpected keyword argument(s) {", ".join(map(repr, sorted(names)))}'
        )
