"""Collects facts about a training besides its log."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import shlex
import subprocess
import sys
import typing as tp

import numpy as np
from chainerx import _config, config_info

from chainer.backends import _cpu

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray, Row
    from chainer.training.trainer import Trainer


@dataclasses.dataclass
class Parameter:
    """A parameter, and statistics of its finite values."""

    path: str
    shape: tuple[int, ...]
    dtype: str
    count: int
    mean: float
    std: float
    least: float
    greatest: float
    wrong: int  # how many are NaN or infinite
    gradient: float | None = None  # its Euclidean norm


@dataclasses.dataclass
class Timing:
    """Time that a part of the loop has taken so far."""

    name: str
    calls: int
    seconds: float


@dataclasses.dataclass
class File:
    """A file in the folder of a training."""

    name: str
    size: int
    modified: float


@dataclasses.dataclass
class Run:
    """All that a page shows."""

    title: str
    log: list[Row]
    status: str  # 'running', 'finished', 'interrupted', 'failed', or ''
    detail: str = ''
    facts: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    parameters: list[Parameter] = dataclasses.field(default_factory=list)
    parameters_note: str = ''
    timings: list[Timing] = dataclasses.field(default_factory=list)
    files: list[File] = dataclasses.field(default_factory=list)
    profile: str = ''


def parameters_of(trainer: Trainer) -> list[Parameter]:
    """Statistics of all parameters of all optimizers."""
    found = []
    optimizers = trainer.updater.get_all_optimizers()
    for name, optimizer in optimizers.items():
        prefix = '' if len(optimizers) == 1 else name
        for path, param in optimizer.target.namedparams():
            if param.array is None:
                found.append(_statistics(prefix + path, None))
                continue
            one = _statistics(prefix + path, _cpu._to_cpu(param.array))
            if param.grad is not None:
                gradient = np.asarray(_cpu._to_cpu(param.grad), np.float64)
                one.gradient = float(np.sqrt(np.sum(np.square(gradient))))
            found.append(one)
    return found


def parameters_of_snapshot(path: str) -> list[Parameter]:
    """Statistics of the parameters, and other arrays of models, in a snapshot of a trainer."""
    found = []
    with np.load(path, allow_pickle=False) as file:
        models = {m[1] for key in file.files if (m := re.match('updater/model:([^/]*)/', key))}
        for key in file.files:
            match = re.match('updater/model:([^/]*)(/.*)', key)
            if match is None:
                continue
            try:
                array = file[key]
            except ValueError:  # None, such as the array of a parameter without a shape, is pickled
                continue
            if array.dtype.kind in 'fiu' and array.ndim:
                prefix = '' if len(models) == 1 else match[1]
                found.append(_statistics(prefix + match[2], array))
    return sorted(found, key=lambda one: one.path)


def _statistics(path: str, array: NdArray) -> Parameter:
    if array is None:
        nan = float('nan')
        return Parameter(path, (), 'uninitialized', 0, nan, nan, nan, nan, 0)
    values = np.abs(array) if array.dtype.kind == 'c' else np.asarray(array)
    if values.dtype not in (np.float32, np.float64):  # the small ones would overflow
        values = values.astype(np.float64)
    mask = np.isfinite(values)
    finite = values if mask.all() else values[mask]
    wrong = values.size - finite.size
    if finite.size == 0:
        finite = np.array([float('nan')])
    return Parameter(
        path,
        tuple(array.shape),
        str(array.dtype),
        values.size,
        float(finite.mean(dtype=np.float64)),
        float(finite.std(dtype=np.float64)),
        float(finite.min()),
        float(finite.max()),
        wrong,
    )


def environment() -> list[tuple[str, str]]:
    """Return the program, its origin, and the platform that it runs on."""
    main = getattr(sys.modules.get('__main__'), '__file__', None)
    folder = os.path.dirname(os.path.abspath(main)) if main else os.getcwd()
    facts = [
        ('command line', shlex.join([sys.executable or 'python', *sys.argv])),
        ('working folder', os.getcwd()),
    ]
    commit = git_commit(folder)
    if commit:
        facts.append(('git commit', f'{commit} in {folder}'))
    return [*facts, *_config.lines(config_info())]


def git_commit(folder: str) -> str | None:
    """The commit that is checked out in a folder, and whether files differ from it."""
    try:
        commit = _git(folder, 'rev-parse', 'HEAD')
        changed = _git(folder, 'status', '--porcelain', '--untracked-files=no')
    except (OSError, subprocess.SubprocessError):  # no git, no repository, not ours
        return None
    files = len(changed.splitlines())
    return commit + (f', with changes that are not committed in files: {files}' if files else '')


def _git(folder: str, *arguments: str) -> str:
    done = subprocess.run(
        ['git', '-C', folder, *arguments],
        capture_output=True,
        check=True,
        timeout=5,
        text=True,
        errors='replace',
        env={**os.environ, 'GIT_OPTIONAL_LOCKS': '0'},
    )
    return done.stdout.strip()


def files_in(folder: str, but: str = '') -> list[File]:
    """Files of a folder, the newest first; not hidden ones, nor that of the page itself."""
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith('.') or entry.name == but:
                continue
            with contextlib.suppress(OSError):  # it may be gone by now
                if entry.is_file():
                    status = entry.stat()
                    found.append(File(entry.name, status.st_size, status.st_mtime))
    return sorted(found, key=lambda file: (-file.modified, file.name))
