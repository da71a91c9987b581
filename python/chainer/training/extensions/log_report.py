"""The log of a training."""

from __future__ import annotations

import json
import os
import typing as tp

from chainer import reporter
from chainer.serializer import Serializer
from chainer.training import extension
from chainer.training._trigger import get_trigger
from chainer.training.extensions._files import write_text
from chainer.training.extensions._numbers import on_host, to_float

if tp.TYPE_CHECKING:
    from chainer._typing import Row, TriggerLike
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer


class LogReport(extension.Extension):
    """Takes means of observed values, and writes them to a file of JSON.

    The file is a list with a dictionary per mean: the observed values, in the order in which they
    came, then ``epoch``, ``iteration`` and ``elapsed_time``. It is replaced as a whole, so that a
    reader never sees half of it.

    Args:
        keys (iterable of str): Names of values; default: all.
        trigger: When a mean is taken; any argument of `get_trigger`.
        postprocess (callable): Takes the dictionary, and may change it.
        filename (str): Name of the file in the trainer's folder, in which ``{epoch}``,
            ``{iteration}`` and other keys are filled in; default: ``'log'``. An empty one writes no
            file.
        **kwargs: ``log_name``, the old name of ``filename``.
    """

    def __init__(
        self,
        keys: tp.Iterable[str] | None = None,
        trigger: TriggerLike = (1, 'epoch'),
        postprocess: tp.Callable[[Row], object] | None = None,
        filename: str | None = None,
        **kwargs: tp.Any,
    ) -> None:
        log_name = kwargs.pop('log_name', 'log')
        extension.refuse('LogReport', kwargs)
        if isinstance(keys, str):
            raise TypeError(f'LogReport: keys must be a list of names, not {keys!r}')
        self._keys = None if keys is None else list(keys)
        self._trigger = get_trigger(trigger)
        self._postprocess = postprocess
        self._log_name = log_name if filename is None else filename
        self._log: list[Row] = []
        self._texts: list[str] = []  # of the entries, as far as they were written
        self._init_summary()

    def __call__(self, trainer: Trainer) -> None:
        """Collects observations, and makes an entry when its trigger fires.

        Args:
            trainer (Trainer): The caller.
        """
        observation = trainer.observation
        if self._keys is None:
            self._summary.add({k: on_host(value) for k, value in observation.items()})
        else:
            self._summary.add({k: on_host(observation[k]) for k in self._keys if k in observation})
        if not self._trigger(trainer):
            return
        means = self._summary.compute_mean()
        # Names as JSON has them: an entry that was loaded is like one that was made.
        entry: Row = {
            str(name): to_float(mean, f'LogReport: {name!r}') for name, mean in means.items()
        }
        entry['epoch'] = trainer.updater.epoch
        entry['iteration'] = trainer.updater.iteration
        entry['elapsed_time'] = trainer.elapsed_time
        if self._postprocess is not None:
            self._postprocess(entry)
            for name, value in entry.items():
                if hasattr(value, 'dtype'):  # numbers that NumPy computed from the means
                    entry[name] = to_float(value, f'LogReport: {name!r}')
        self._log.append(entry)
        if self._log_name:
            path = os.path.join(trainer.out, self._log_name.format(**entry))
            write_text(path, self._to_text())
        self._init_summary()

    def _to_text(self) -> str:
        """``json.dumps(self._log, indent=4)``, for which each entry is looked at once."""
        del self._texts[len(self._log) :]
        for entry in self._log[len(self._texts) :]:
            self._texts.append(json.dumps(entry, indent=4).replace('\n', '\n    '))
        return '[\n    ' + ',\n    '.join(self._texts) + '\n]'

    @property
    def log(self) -> list[Row]:
        """The entries so far."""
        return self._log

    def _init_summary(self) -> None:
        self._summary = reporter.DictSummary()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the log and the observations since its last entry.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        if hasattr(self._trigger, 'serialize'):
            self._trigger.serialize(serializer['_trigger'])
        self._summary.serialize(serializer['_summary'])
        if isinstance(serializer, Serializer):
            serializer('_log', json.dumps(self._log))
            return
        loaded = serializer('_log', '')
        self._log = json.loads(str(loaded)) if loaded else []
        self._texts = []
