"""Curves of statistics of variables."""

from __future__ import annotations

import os
import random
import typing as tp

import numpy as np

from chainer import backend
from chainer.link import Link
from chainer.training import extension
from chainer.training._trigger import get_trigger
from chainer.training.extensions import _plots
from chainer.variable import Variable

if tp.TYPE_CHECKING:
    from chainer._typing import TriggerLike
    from chainer.training.trainer import Trainer


class _Samples:
    """Rows, each as likely as another, of all that ever came.

    Each is kept with the number of the iteration in which it came.
    """

    def __init__(self, size: int, shape: tuple[int, ...]) -> None:
        self._rows: list[tuple[int, np.ndarray]] = []
        self._size = size
        self._shape = shape
        self._count = 0
        # A generator of its own, because drawing must not change the random numbers of training.
        self._random = random.Random(0)

    def add(self, iteration: int, row: np.ndarray) -> None:
        self._count += 1
        if len(self._rows) < self._size:
            self._rows.append((iteration, row))
            return
        place = self._random.randrange(self._count)
        if place < self._size:
            self._rows[place] = iteration, row

    def get(self) -> tuple[np.ndarray, np.ndarray]:
        """Iterations in order, and the rows."""
        rows = sorted(self._rows, key=lambda row: row[0])
        if not rows:
            return np.zeros(0, int), np.zeros((0, *self._shape))
        return np.array([i for i, _ in rows]), np.stack([row for _, row in rows])


class VariableStatisticsPlot(extension.Extension):
    """Draws mean, standard deviation and percentiles of parameters or variables over time.

    It needs matplotlib; without it, it warns and does nothing.

    Args:
        targets (Link, Variable or iterable of them): The observed variables: a link's parameters,
            all elements together.
        max_sample_size (int): How many iterations are kept at most; when there are more, which ones
            is drawn by lot.
        report_data (bool): Whether values are looked at.
        report_grad (bool): Whether gradients are.
        plot_mean (bool): Whether the mean is drawn.
        plot_std (bool): Whether the standard deviation is drawn, around the mean.
        percentile_sigmas (float or tuple of float): Percentiles to draw, 0 to 100; an empty one
            draws none.
        trigger: When the picture is made; any argument of `get_trigger`.
        filename (str): Its name in the trainer's folder; the suffix is the format. Default:
            ``'statistics.png'``.
        figsize (tuple of int): Its size, in matplotlib's words.
        marker (str): How points are marked.
        grid (bool): Whether there is a grid.
        **kwargs: ``file_name``, the old name of ``filename``.

    Raises:
        ValueError: If there is no variable, or ``max_sample_size`` is not positive.
        TypeError: If a target is neither a link nor a variable.
    """

    def __init__(
        self,
        targets: tp.Any,
        max_sample_size: int = 1000,
        report_data: bool = True,
        report_grad: bool = True,
        plot_mean: bool = True,
        plot_std: bool = True,
        percentile_sigmas: float | tp.Sequence[float] = (
            0,
            0.13,
            2.28,
            15.87,
            50,
            84.13,
            97.72,
            99.87,
            100,
        ),
        trigger: TriggerLike = (1, 'epoch'),
        filename: str | None = None,
        figsize: tuple[float, float] | None = None,
        marker: str | None = None,
        grid: bool = True,
        **kwargs: tp.Any,
    ) -> None:
        file_name = kwargs.pop('file_name', 'statistics.png')
        extension.refuse('VariableStatisticsPlot', kwargs)
        if max_sample_size < 1:
            raise ValueError(
                f'VariableStatisticsPlot: max_sample_size must be positive, not {max_sample_size}'
            )
        self._vars = _variables_of(targets)
        if not self._vars:
            raise ValueError(
                'Need at least one variables for which to collect statistics.\nActual: 0 <= 0'
            )
        if not (plot_mean or plot_std or np.size(percentile_sigmas)):
            raise ValueError('VariableStatisticsPlot: there is nothing to plot')
        self._keys = ['data'] * report_data + ['grad'] * report_grad
        self._plot_mean = plot_mean
        self._plot_std = plot_std
        self._sigmas = np.atleast_1d(np.asarray(percentile_sigmas, float))
        self._trigger = get_trigger(trigger)
        self._filename = file_name if filename is None else filename
        self._figsize = figsize
        self._marker = marker
        self._grid = grid
        shape = (2 + len(self._sigmas),)
        self._samples = {key: _Samples(max_sample_size, shape) for key in self._keys}
        self._is_available = self.available()

    @staticmethod
    def available() -> bool:
        """Whether there is matplotlib; warns if not."""
        return _plots.is_available()

    def __call__(self, trainer: Trainer) -> None:
        """Takes in statistics, and draws when it is time.

        Args:
            trainer (Trainer): The caller.
        """
        if not self._is_available:
            return
        for key in self._keys:
            arrays = [getattr(variable, key) for variable in self._vars]
            parts = [backend.CpuDevice().send(a).ravel() for a in arrays if a is not None]
            if parts:
                self._samples[key].add(trainer.updater.iteration, self._statistics(parts))
        if self._trigger(trainer):
            import matplotlib.pyplot as plt

            self.save_plot_using_module(os.path.join(trainer.out, self._filename), plt)

    def _statistics(self, parts: list[np.ndarray]) -> np.ndarray:
        x = np.concatenate([part.astype(np.float64) for part in parts])
        if not x.size:
            return np.full(2 + len(self._sigmas), np.nan)
        percentiles = np.percentile(x, self._sigmas) if len(self._sigmas) else []
        return np.array([x.mean(), x.std(), *percentiles])

    def save_plot_using_module(self, file_path: str, plt: tp.Any) -> None:
        """Draws.

        Args:
            file_path (str): The picture.
            plt (module): ``matplotlib.pyplot``, or an object with its ``subplots`` and ``close``.
        """
        columns = [('mean and std', self._plot_mean or self._plot_std)]
        columns.append(('percentiles', len(self._sigmas) > 0))
        titles = [title for title, wanted in columns if wanted]
        keys = self._keys or ['data']
        figure, axes = plt.subplots(
            len(keys), len(titles), sharex='all', figsize=self._figsize, squeeze=False
        )
        try:
            for row, key in zip(axes, keys, strict=True):
                if key not in self._samples:
                    continue
                iterations, values = self._samples[key].get()
                for ax, title in zip(row, titles, strict=True):
                    ax.set_title(f'{key}: {title}')
                    ax.set_xlabel('iteration')
                    ax.grid(self._grid)
                    if title == 'percentiles':
                        for i, sigma in enumerate(self._sigmas):
                            y = values[:, 2 + i]
                            ax.plot(iterations, y, marker=self._marker, label=f'{sigma:g} %')
                        ax.legend(fontsize='small')
                    else:
                        self._draw_mean(ax, iterations, values)
            figure.tight_layout()
            _plots.save(figure, file_path)
        finally:
            plt.close(figure)

    def _draw_mean(self, ax: tp.Any, iterations: np.ndarray, values: np.ndarray) -> None:
        mean, std = values[:, 0], values[:, 1]
        if self._plot_std:
            ax.fill_between(iterations, mean - std, mean + std, alpha=0.3, label='std')
        if self._plot_mean:
            ax.plot(iterations, mean, marker=self._marker, label='mean')
        ax.legend(fontsize='small')


def _variables_of(targets: tp.Any) -> list[Variable]:
    variables: list[Variable] = []
    for target in [targets] if isinstance(targets, Link | Variable) else targets or ():
        if isinstance(target, Link):
            variables.extend(target.params())
        elif isinstance(target, Variable):
            variables.append(target)
        else:
            raise TypeError(
                'VariableStatisticsPlot: targets must be links or variables, not '
                f'{type(target).__name__}'
            )
    return variables
