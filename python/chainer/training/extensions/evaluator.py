"""Evaluation of a model on data that it was not trained with."""

from __future__ import annotations

import copy
import functools
import typing as tp
import warnings

import chainerx

from chainer import configuration, function, reporter
from chainer.dataset import convert as convert_module
from chainer.training import _convert, extension
from chainer.training.extensions import util
from chainer.training.extensions._screen import Area

if tp.TYPE_CHECKING:
    from chainer._typing import AnyCallable, DeviceSpec, Observation
    from chainer.dataset import Iterator
    from chainer.link import Link
    from chainer.training.trainer import Trainer


class Evaluator(extension.Extension):
    """Reports means, over all minibatches of an iterator, of what a model reports.

    The values get the name of the extension, ``validation`` by default, as a prefix. To evaluate
    otherwise, override `evaluate`. Without a trainer, ``evaluator()`` returns the values.

    Args:
        iterator: Of the data, with ``repeat=False``; or a dict of iterators, of which ``'main'`` is
            that.
        target: The link that reports, or a dict of links with ``'main'``. A subclass with another
            `evaluate` names both as it likes; with ``eval_func``, links need no ``'main'``.
        converter (callable): Makes arrays of the list of examples of a minibatch.
        device: Where arrays are brought; any argument of `chainer.get_device`. None leaves them.
        eval_hook (callable): Called with the evaluator before each evaluation.
        eval_func (callable): Called with the arrays; default: the target.
        **kwargs: ``progress_bar``: whether progress is shown. ``capture``: whether the calls are
            recorded and replayed by `chainerx.capture`.

    Attributes:
        converter (callable): As given.
        device: As given.
        eval_hook (callable): As given.
        eval_func (callable): As given.

    Raises:
        TypeError: If a target is no link.
    """

    trigger = (1, 'epoch')
    default_name = 'validation'
    priority = extension.PRIORITY_WRITER
    name: str | None = None
    _captured: AnyCallable | None = None

    def __init__(
        self,
        iterator: Iterator | dict[str, Iterator],
        target: Link | dict[str, Link],
        converter: AnyCallable = convert_module.concat_examples,
        device: DeviceSpec | None = None,
        eval_hook: tp.Callable[[Evaluator], object] | None = None,
        eval_func: AnyCallable | None = None,
        **kwargs: tp.Any,
    ) -> None:
        self._progress_bar: bool = kwargs.pop('progress_bar', False)
        if kwargs.pop('capture', False):
            self._captured = chainerx.capture(_evaluate)
        extension.refuse('Evaluator', kwargs)
        self._iterators: dict[str, Iterator] = _named(iterator)
        self._targets: dict[str, Link] = _named(target)
        for name, link in self._targets.items():
            if not hasattr(link, 'namedlinks'):  # a test's mock will do
                raise TypeError(f'Evaluator: target {name!r} must be a link, not {link!r}')
        for name, one in self._iterators.items():
            if _repeats_for_ever(one):
                warnings.warn(
                    f'Evaluator: the iterator {name!r} repeats for ever; make it with repeat=False',
                    stacklevel=2,
                )
        self.converter = converter
        self.device = _convert.check_device(device)
        self.eval_hook = eval_hook
        self.eval_func = eval_func
        self._area = Area()

    def get_iterator(self, name: str) -> Iterator:
        """One of the iterators.

        Args:
            name (str): Its name.
        """
        return self._iterators[name]

    def get_all_iterators(self) -> dict[str, Iterator]:
        """All iterators by name."""
        return dict(self._iterators)

    def get_target(self, name: str) -> Link:
        """One of the links.

        Args:
            name (str): Its name.
        """
        return self._targets[name]

    def get_all_targets(self) -> dict[str, Link]:
        """All links by name."""
        return dict(self._targets)

    def __call__(self, trainer: Trainer | None = None) -> Observation:
        """Evaluates, with ``config.train`` off, and reports the result.

        Args:
            trainer (Trainer): Who calls; None for a use without one.

        Returns:
            dict: The means by name.
        """
        own = reporter.Reporter()
        prefix = '' if self.name is None else f'{self.name}/'
        for name, target in self._targets.items():
            own.add_observer(prefix + name, target)
            own.add_observers(prefix + name, target.namedlinks(skipself=True))
        with own, configuration.using_config('train', False):
            result = self.evaluate()
        reporter.report(result)
        return result

    def evaluate(self) -> Observation:
        """Runs through the data of the main iterator once; may be overridden.

        Returns:
            dict: The means by name.

        Raises:
            KeyError: For a dict without ``'main'``.
            RuntimeError: If the iterator repeats for ever.
            ValueError: If it gives nothing.
        """
        iterator = _get_main('iterator', self._iterators)
        if _repeats_for_ever(iterator):
            raise RuntimeError(
                'Evaluator: the iterator repeats for ever, so there is no end of the evaluation; '
                'make it with repeat=False'
            )
        if self.eval_hook is not None:
            self.eval_hook(self)
        if hasattr(iterator, 'reset'):
            iterator.reset()
        else:
            iterator = copy.copy(iterator)
        eval_func: tp.Any = self.eval_func or _get_main('target', self._targets)
        if self._captured is not None:
            eval_func = functools.partial(self._captured, eval_func)
        summary = reporter.DictSummary()
        progress = _EvaluationBar(iterator, self.name, self._area) if self._progress_bar else None
        count = 0
        for batch in iterator:
            count += 1
            observation: dict[str, object] = {}
            with reporter.report_scope(observation):
                arrays = convert_module.call_converter(self.converter, batch, self.device)
                with function.no_backprop_mode():
                    _convert.call_with(eval_func, arrays)
            summary.add(observation)
            if progress is not None:
                progress.update()
        if progress is not None:
            progress.close()
        if count == 0:
            raise ValueError('Evaluator: the iterator gave no minibatch; is its dataset empty?')
        return summary.compute_mean()

    def finalize(self) -> None:
        """Ends the iterators."""
        for iterator in self._iterators.values():
            iterator.finalize()


def _evaluate(eval_func: AnyCallable, *args: object, **kwargs: object) -> None:
    eval_func(*args, **kwargs)


def _repeats_for_ever(iterator: Iterator) -> bool:
    """Whether it is known to; a class of the user's may end whatever its ``repeat`` says."""
    advance = getattr(type(iterator), '__next__', None)
    is_ours = getattr(advance, '__module__', '').startswith('chainer.iterators.')
    return is_ours and bool(getattr(iterator, 'repeat', False))


def _named(given: object) -> dict[str, tp.Any]:
    return dict(given) if isinstance(given, dict) else {'main': given}


def _get_main(kind: str, by_name: dict[str, tp.Any]) -> tp.Any:
    if 'main' in by_name:
        return by_name['main']
    raise KeyError(f"Evaluator: the dict of {kind}s must have 'main'; it has {list(by_name)}")


class _EvaluationBar(util.ProgressBar):
    """The lines of an evaluation."""

    def __init__(self, iterator: Iterator, name: str | None, area: Area) -> None:
        super().__init__(area=area)
        self._iterator = iterator
        self._name = name or 'validation'
        self._count = 0

    def update(self) -> None:
        self._count += 1
        super().update()

    def get_lines(self) -> list[str]:
        done = min(self._iterator.epoch_detail, 1.0)
        speed, rate = self.update_speed(self._count, done)
        return [
            util.bar(self._name, done),
            f'{self._count:10} batches',
            util.speed_line(speed, (1 - done) / rate if rate else float('nan')),
        ]

    def get_text(self) -> str:
        return f'{self._name}: {min(self._iterator.epoch_detail, 1.0):.1%}'
