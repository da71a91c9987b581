"""Plots curves of observed values."""

from __future__ import annotations

import json
import os
import typing as tp

from chainer import reporter
from chainer.serializer import Serializer
from chainer.training import extension
from chainer.training._state import serialize_new, serialize_optional
from chainer.training._trigger import get_trigger
from chainer.training.extensions import _plots
from chainer.training.extensions._numbers import to_float

if tp.TYPE_CHECKING:
    from chainer._typing import TriggerLike
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer


class PlotReport(extension.Extension):
    """Draws means of observed values into a picture, which is made anew each time.

    It needs matplotlib; without it, it warns and does nothing.

    Args:
        y_keys (iterable of str): Names of the values.
        x_key (str): The horizontal axis: ``'iteration'``, ``'epoch'``, or an observed value.
        trigger: When means are taken; any argument of `get_trigger`.
        postprocess (callable): Called with figure, axes and the summary before the picture is
            saved.
        filename (str): Name of the picture in the trainer's folder; the suffix is the format.
            Default: ``'plot.png'``.
        marker (str): How points are marked, in matplotlib's words; None for lines alone.
        grid (bool): Whether there is a grid.
        **kwargs: ``file_name``, the old name of ``filename``.
    """

    def __init__(
        self,
        y_keys: tp.Iterable[str],
        x_key: str = 'iteration',
        trigger: TriggerLike = (1, 'epoch'),
        postprocess: tp.Callable[[tp.Any, tp.Any, tp.Any], tp.Any] | None = None,
        filename: str | None = None,
        marker: str | None = 'x',
        grid: bool = True,
        **kwargs: tp.Any,
    ) -> None:
        file_name = kwargs.pop('file_name', 'plot.png')
        extension.refuse('PlotReport', kwargs)
        self._y_keys = [y_keys] if isinstance(y_keys, str) else list(y_keys)
        self._x_key = x_key
        self._trigger = get_trigger(trigger)
        self._postprocess = postprocess
        self._file_name = file_name if filename is None else filename
        self._marker = marker
        self._grid = grid
        self._data: dict[str, list[tuple[float, float]]] = {k: [] for k in self._y_keys}
        self._is_available = self.available()
        self._init_summary()

    @staticmethod
    def available() -> bool:
        """Whether there is matplotlib; warns if not."""
        return _plots.is_available()

    def __call__(self, trainer: Trainer) -> None:
        """Collects observations, and draws when its trigger fires.

        Args:
            trainer (Trainer): The caller.
        """
        if not self._is_available:
            return
        keys = self._y_keys if self._x_key in _COUNTS else [*self._y_keys, self._x_key]
        observation = trainer.observation
        self._summary.add({k: observation[k] for k in keys if k in observation})
        if not self._trigger(trainer):
            return
        summary = self._summary
        means = {
            k: to_float(mean, f'PlotReport: {k!r}') for k, mean in summary.compute_mean().items()
        }
        means.update({key: getattr(trainer.updater, key) for key in _COUNTS})
        self._init_summary()
        if self._x_key in means:
            for key in self._y_keys:
                if key in means:
                    self._data[key].append((means[self._x_key], means[key]))
        self._draw(trainer, summary)

    def _draw(self, trainer: Trainer, summary: reporter.DictSummary) -> None:
        # Not pyplot: it has figures of the process, and may want a screen.
        from matplotlib.figure import Figure

        figure = Figure()
        axes = figure.add_subplot(111)
        axes.set_xlabel(_plots.plain(self._x_key))
        axes.grid(self._grid)
        for key, points in self._data.items():
            if points:
                axes.plot(*zip(*points, strict=True), marker=self._marker, label=_plots.plain(key))
        if axes.has_data():
            if self._postprocess is not None:
                self._postprocess(figure, axes, summary)
            axes.legend()
            _plots.save(figure, os.path.join(trainer.out, self._file_name))

    def _init_summary(self) -> None:
        self._summary = reporter.DictSummary()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the points and the observations since the last one.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        key = f'_plot_{self._file_name}'
        if isinstance(serializer, Serializer):
            serializer(key, json.dumps(self._data))
        else:
            loaded = serialize_optional(serializer, key, '')
            saved = json.loads(str(loaded)) if loaded else {}
            self._data = {k: [(x, y) for x, y in saved.get(k, [])] for k in self._y_keys}
        # Chainer v7 does not save these, so the first point after a snapshot lacks earlier
        # observations.
        serialize_new(serializer, '_summary', self._summary)
        if hasattr(self._trigger, 'serialize'):
            serialize_new(serializer, '_trigger', self._trigger)


_COUNTS: tp.Final = ('epoch', 'iteration')
