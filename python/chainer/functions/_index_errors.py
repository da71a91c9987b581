"""Rewords index errors of chainerx routines for callers of chainer functions."""

from __future__ import annotations

import re
import typing as tp

_LABEL: tp.Final = re.compile(r'(\w+: )x2(\[\d+\] is -?\d+, but )x1( has \d+ classes.*)')
_INDEX: tp.Final = re.compile(
    r'(?:\w+: )?index (-?\d+) is out of '
    r'(?:range for an axis of length|bounds for axis \d+ with size) (\d+)'  # ours, NumPy's
    r'(?:: \w+\[.*\])?'  # its place
)
_EMPTY: tp.Final = re.compile(r'(?:\w+: )?cannot take from axis \d+ of shape .*, which is empty')


def of_labels(error: IndexError) -> IndexError:
    """The error about a label: scores are ``x``, labels ``t``."""
    return IndexError(_LABEL.sub(r'\1t\2x\3', str(error)))


def of_indices(error: IndexError, text: str) -> IndexError:
    """The error about an index in other words.

    Args:
        error: Of any routine that takes indices.
        text: Has ``{0}`` for the index, ``{1}`` for the length of the axis.
    """
    match = _INDEX.fullmatch(str(error))
    if match:
        return IndexError(text.format(*match.groups()))
    return IndexError(text.format('an index', 0)) if _EMPTY.fullmatch(str(error)) else error
