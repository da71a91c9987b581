"""Base of extensions that draw. They import matplotlib when they draw."""

from __future__ import annotations

import importlib.util
import os
import typing as tp
import warnings

from chainerx._files import replaced


def is_available() -> bool:
    """Whether there is matplotlib; warns if not."""
    if importlib.util.find_spec('matplotlib') is not None:
        return True
    warnings.warn(
        'matplotlib is not installed on your environment, so nothing will be plotted at this time. '
        'Please install matplotlib to plot figures.\n\n  $ pip install matplotlib\n',
        stacklevel=3,
    )
    return False


def plain(name: str) -> str:
    """A name as matplotlib shows it: with dollars for formulas, and not left out of legends."""
    text = str(name).replace('$', r'\$')
    return f' {text}' if text.startswith('_') else text


def save(figure: tp.Any, path: str) -> None:
    """Replaces a picture atomically.

    Args:
        figure (matplotlib.figure.Figure): The figure.
        path (str): Its suffix is the format; PNG without one.
    """
    suffix = os.path.splitext(path)[1].lstrip('.') or 'png'
    with replaced(path, sync=False) as temporary:
        figure.savefig(temporary, format=suffix)
