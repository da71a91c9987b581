"""Versions of Chainer and its dependencies."""

from __future__ import annotations

import sys
import typing as tp

import chainerx
import numpy as np
from chainerx import _config

from chainer._base.version import __version__
from chainer.backends import cuda, intel64


class _RuntimeInfo:
    """Holds the versions; as a string, one line each."""

    def __init__(self) -> None:
        self.chainerx_info = chainerx.config_info()
        self.platform_version = self.chainerx_info['platform']
        self.chainer_version = __version__
        self.chainerx_available = chainerx.is_available()
        self.chainerx_version = chainerx.__version__
        self.numpy_version = np.__version__
        self.cuda_info = _cuda_info()
        self.ideep_version = intel64.ideep.__version__ if intel64.is_ideep_available() else None

    def __str__(self) -> str:
        lines = [
            f'Platform: {self.platform_version}',
            f'Chainer: {self.chainer_version}',
            f'ChainerX: {self.chainerx_version}',
            *(f'  {name}: {text}' for name, text in _chainerx_lines(self.chainerx_info)),
            f'NumPy: {self.numpy_version}',
        ]
        if self.cuda_info is None:
            lines.append('CuPy: Not Available')
        else:
            lines += ['CuPy:', *(f'  {line}' for line in self.cuda_info.splitlines())]
        lines.append(f'iDeep: {self.ideep_version or "Not Available"}')
        return '\n'.join(lines)


def _chainerx_lines(info: dict[str, tp.Any]) -> tp.Iterator[tuple[str, str]]:
    """Return the computing libraries; Chainer itself prints the rest of ``show_config()``."""
    for name, text in _config.lines(info):
        if name in ('instruction set', 'BLAS', 'threads', 'devices'):
            yield name, text


def _cuda_info() -> str | None:
    if not cuda.available:
        return None
    import cupyx  # type: ignore[import-not-found]

    return str(cupyx.get_runtime_info())


def _get_runtime_info() -> _RuntimeInfo:
    return _RuntimeInfo()


def print_runtime_info(out: tp.TextIO | None = None) -> None:
    """Prints versions of Chainer and of its dependencies.

    Args:
        out (file): Where to; standard output if None.
    """
    print(_get_runtime_info(), file=out or sys.stdout)
