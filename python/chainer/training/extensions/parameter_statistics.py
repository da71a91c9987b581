"""Statistics of parameters and their gradients."""

from __future__ import annotations

import typing as tp

import chainerx
import numpy as np

from chainer import backend, reporter
from chainer.link import Link
from chainer.training import extension
from chainer.training._state import serialize_new
from chainer.training._trigger import get_trigger

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray, TriggerLike
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer

# Where a normal distribution has its mean, and one to three standard deviations to each side.
_SIGMAS: tp.Final = (0.13, 2.28, 15.87, 50, 84.13, 97.72, 99.87)


def percentile(x: NdArray, q: tp.Sequence[float]) -> np.ndarray:
    """Percentiles of all elements of an array of any kind, on the CPU.

    Args:
        x (array): The values.
        q (sequence of float): Which, 0 to 100.
    """
    return np.percentile(backend.CpuDevice().send(x), q)


def _std(x: NdArray) -> NdArray:
    return chainerx.sqrt(x.var()) if isinstance(x, chainerx.ndarray) else x.std()


class ParameterStatistics(extension.Extension):
    """Observes statistics of parameters and of their gradients, as means over an interval.

    Names in the observation follow `report_key_template`.

    Args:
        links (Link or iterable of Link): Whose parameters.
        statistics (dict): Functions of an array to a number or to several numbers, by name;
            default: `default_statistics`.
        report_params (bool): Whether parameters are looked at.
        report_grads (bool): Whether gradients are.
        prefix (str): The prefix of names.
        trigger: When means are observed; any argument of `get_trigger`.
        skip_nan_params (bool): Whether an array with a NaN has NaN for all statistics, without
            asking the functions.
    """

    default_name = 'parameter_statistics'
    priority = extension.PRIORITY_WRITER
    report_key_template = '{prefix}{link_name}{param_name}/{attr_name}/{function_name}'
    default_statistics: tp.ClassVar[dict[str, tp.Callable[[NdArray], tp.Any]]] = {
        'mean': lambda x: x.mean(),
        'std': _std,
        'min': lambda x: x.min(),
        'max': lambda x: x.max(),
        'zeros': lambda x: (x == 0).sum(),
        'percentile': lambda x: percentile(x, _SIGMAS),
    }

    def __init__(
        self,
        links: Link | tp.Iterable[Link],
        statistics: tp.Any = 'default',
        report_params: bool = True,
        report_grads: bool = True,
        prefix: str | None = None,
        trigger: TriggerLike = (1, 'epoch'),
        skip_nan_params: bool = False,
    ) -> None:
        self._links = [links] if isinstance(links, Link) else list(links)
        if statistics == 'default':
            statistics = self.default_statistics
        self._statistics: dict[str, tp.Callable[[NdArray], tp.Any]] = dict(statistics or {})
        self._attrs = ['data'] * report_params + ['grad'] * report_grads
        self._prefix = prefix
        self._trigger = get_trigger(trigger)
        self._summary = reporter.DictSummary()
        self._skip_nan_params = skip_nan_params

    def __call__(self, trainer: Trainer) -> None:
        """Takes in statistics, and observes their means when it is time.

        Args:
            trainer (Trainer): The caller.
        """
        statistics: dict[str, object] = {}
        for link in self._links:
            for param_name, param in link.namedparams(include_uninit=False):
                for attr in self._attrs:
                    array = getattr(param, attr)
                    if array is not None:
                        self._take(statistics, link.name, param_name, attr, array)
        self._summary.add(statistics)
        if self._trigger(trainer):
            trainer.observation.update(self._summary.compute_mean())
            self._summary = reporter.DictSummary()

    def _take(
        self,
        statistics: dict[str, tp.Any],
        link_name: str | None,
        param_name: str,
        attr: str,
        array: NdArray,
    ) -> None:
        device = backend.get_device_from_array(array)
        with backend.using_device(device):
            skipped = self._skip_nan_params and bool(device.xp.isnan(array).any())
            for name, function in self._statistics.items():
                value = np.array(float('nan')) if skipped else function(array)
                key = self.report_key_template.format(
                    prefix=f'{self._prefix}/' if self._prefix else '',
                    link_name=link_name,
                    param_name=param_name,
                    attr_name=attr,
                    function_name=name,
                )
                if getattr(value, 'ndim', 0) == 0:
                    statistics[key] = value
                else:
                    for i, part in enumerate(value):
                        statistics[f'{key}/{i}'] = part

    def register_statistics(self, name: str, function: tp.Callable[[NdArray], tp.Any]) -> None:
        """Adds a statistic.

        Args:
            name (str): The end of its name in the observation.
            function (callable): Takes an array; returns a number, or a one-dimensional array.
        """
        self._statistics[name] = function

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the statistics since the last means.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        serialize_new(serializer, '_summary', self._summary)
        if hasattr(self._trigger, 'serialize'):
            serialize_new(serializer, '_trigger', self._trigger)
