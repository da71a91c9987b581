"""A finding of a doctor."""

from __future__ import annotations

import typing as tp
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One fault of a training.

    Attributes:
        kind (str): The fault in few words; the same for all faults of a kind.
        text (str): Where, with names and numbers.
        advice (str): The usual remedy.
    """

    kind: str
    text: str
    advice: str

    def __str__(self) -> str:
        lines = self.text.split('\n')
        text = '\n'.join([f'{self.kind}: {lines[0]}', *(f'  {line}' for line in lines[1:])])
        return f'{text}\n  -> {self.advice}'


class OutOfIterations(BaseException):
    """Ends the program that a doctor looks at; no error that a program should catch."""


def shorten(items: tp.Sequence[str], most: int = 5) -> str:
    """Items by commas, those beyond the first few as a number."""
    rest = len(items) - most
    return ', '.join(items[:most]) + (f' and {rest} more' if rest > 0 else '')
