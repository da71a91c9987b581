"""Values that are observed while training, and their statistics."""

from __future__ import annotations

import collections
import contextlib
import functools
import threading
import typing as tp
import warnings
import weakref

import chainerx
import numpy as np
from chainerx._core import engine

from chainer import backend, configuration, variable
from chainer import serializer as serializer_module

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray, Observation


class _ThreadLocal(threading.local):
    def __init__(self) -> None:
        self.reporters: list[Reporter] = []


_thread_local = _ThreadLocal()


def _get_reporters() -> list[Reporter]:
    return _thread_local.reporters


class Reporter:
    """Collects values that are reported anywhere below, such as in the forward of a link.

    Values of an observer, such as a link, get its name as a prefix. In a ``with`` block the
    reporter is the current one of the thread.

    Attributes:
        observation (dict): What was reported, by name.

    >>> import chainer
    >>> reporter, model = chainer.Reporter(), chainer.Link()
    >>> reporter.add_observer('model', model)
    >>> with reporter:
    ...     chainer.report({'loss': 0.5}, model)
    >>> reporter.observation
    {'model/loss': 0.5}
    """

    def __init__(self) -> None:
        self._observer_names: dict[int, str] = {}
        self._observers: dict[int, tp.Any] = {}  # they live as long as their ids are known
        self.observation: Observation = {}

    def __getstate__(self) -> dict[str, object]:
        names = [(observer, self._observer_names[i]) for i, observer in self._observers.items()]
        state = {**self.__dict__, '_observer_names': names}
        del state['_observers']
        return state

    def __setstate__(self, state: dict[str, tp.Any]) -> None:
        names = state.pop('_observer_names')
        self.__dict__.update(state, _observer_names={}, _observers={})
        for observer, name in names:  # copies, whose ids are others
            self.add_observer(name, observer)

    def __enter__(self) -> Reporter:
        """Makes the reporter the current one."""
        _get_reporters().append(self)
        return self

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        _get_reporters().pop()

    def scope(self, observation: Observation) -> tp.ContextManager[None]:
        """A context in which the reporter is current and collects into ``observation``.

        Args:
            observation (dict): Where values go, by name.

        Returns:
            A context manager; the old dictionary is back afterwards.
        """
        return _Scope(self, observation)

    def add_observer(self, name: str, observer: object) -> None:
        """Names an object whose values may be reported.

        Args:
            name (str): The prefix of its values.
            observer: Any object.
        """
        self._observer_names[id(observer)] = name
        self._observers[id(observer)] = observer

    def add_observers(self, prefix: str, observers: tp.Iterable[tuple[str, tp.Any]]) -> None:
        """Names objects whose values may be reported.

        Args:
            prefix (str): What is put before each name.
            observers (iterable of tuple): Pairs of name and object.
        """
        for name, observer in observers:
            self.add_observer(prefix + name, observer)

    def report(self, values: Observation, observer: object | None = None) -> None:
        """Takes values into `observation`.

        Variables, and arrays of ChainerX, are kept without their graph, unless
        ``config.keep_graph_on_report`` is set.

        Args:
            values: Values by name.
            observer: The object that they are of.

        Raises:
            KeyError: For an observer without a name.
        """
        if not configuration.config.keep_graph_on_report:
            values = {name: _copy_variable(value) for name, value in values.items()}
        if observer is None:
            self.observation.update(values)
            return
        if id(observer) not in self._observer_names:
            raise KeyError(
                f'{list(values)} cannot be reported: the observer, a {type(observer).__name__}, is '
                'not registered to the reporter (of a training, these are the links of the '
                'optimizers)'
            )
        prefix = self._observer_names[id(observer)]
        for name, value in values.items():
            self.observation[f'{prefix}/{name}'] = value


class _Scope:
    """What `Reporter.scope` returns. A class, for it is entered in each iteration of a training."""

    def __init__(self, reporter: Reporter, observation: Observation) -> None:
        self._reporter = reporter
        self._observation = observation

    def __enter__(self) -> None:
        reporter = self._reporter
        self._old = reporter.observation
        reporter.observation = self._observation
        reporter.__enter__()

    def __exit__(self, *error: object) -> None:
        reporter = self._reporter
        try:
            reporter.__exit__(None, None, None)
        finally:
            reporter.observation = self._old


def _copy_variable(value: object) -> tp.Any:
    if isinstance(value, chainerx.ndarray):
        return value.as_grad_stopped()
    if not isinstance(value, variable.Variable):
        return value
    array = value.array
    if isinstance(array, chainerx.ndarray):
        array = array.as_grad_stopped()
    return variable.Variable(array, name=value.name, requires_grad=value.requires_grad)


def get_current_reporter() -> Reporter:
    """The current reporter of the thread.

    Returns:
        Reporter: The one of the innermost ``with`` block.

    Raises:
        IndexError: If there is none.
    """
    reporters = _get_reporters()
    if not reporters:
        raise IndexError('no reporter is current in this thread; enter one with a with block')
    return reporters[-1]


def report(values: Observation, observer: object | None = None) -> None:
    """Reports values to the current reporter; nothing happens if there is none.

    Args:
        values: Values by name.
        observer: The object that they are of; its name becomes a prefix. A link reports ``self``.
    """
    reporters = _get_reporters()
    if engine.is_capturing():
        values = _report_at_replays(values, observer)
        if reporters:  # to whom the memory of a result may be given
            engine.unobserved(functools.partial(reporters[-1].report, values, observer))
    elif reporters:
        reporters[-1].report(values, observer)


def _report_at_replays(values: Observation, observer: object | None) -> Observation:
    """Has each replay of the step that is recorded report its own values to whom is current then.

    The values without their graphs, which the step could not be replayed with."""
    if configuration.config.keep_graph_on_report:
        engine.refuse_capture('a value is reported with its graph (config.keep_graph_on_report)')
        return values
    alive = None if observer is None else weakref.ref(observer)  # it may own the recording

    def again(values: Observation) -> None:
        if alive is None:
            report(values)
        elif (found := alive()) is not None:
            report(values, found)

    key = 'report', id(observer), *values
    return tp.cast('Observation', engine.capture_part(key, None, again, dict(values)))


@contextlib.contextmanager
def report_scope(observation: Observation) -> tp.Iterator[None]:
    """A context in which the current reporter collects into ``observation``.

    Args:
        observation (dict): Where values go, by name.

    Yields:
        None: The old dictionary is back afterwards.

    Raises:
        IndexError: If no reporter is current in this thread.
    """
    with get_current_reporter().scope(observation):
        yield


def _to_number(value: object) -> tp.Any:
    """A value to add up: single numbers in double precision, arrays as they are, no graph."""
    if isinstance(value, variable.Variable):
        value = value.array
    if isinstance(value, chainerx.ndarray):
        value = value.as_grad_stopped()
        return value if value.ndim else value.astype('float64')
    if isinstance(value, (np.generic, np.ndarray)) and value.ndim == 0 and value.dtype.kind != 'c':
        return np.float64(value)
    return value


class Summary:
    """Mean and standard deviation of numbers, or of arrays element by element, with weights."""

    def __init__(self) -> None:
        self._x: tp.Any = 0.0
        self._n: tp.Any = 0
        # Of squares of distances from the mean, so far: the difference of a mean of squares and the
        # square of a mean is lost where numbers are large.
        self._mean: tp.Any = 0.0
        self._m2: tp.Any = 0.0

    def add(self, value: tp.Any, weight: tp.Any = 1) -> None:
        """Takes in a value.

        Args:
            value: A number, an array of any kind, or a Variable.
            weight: How often it counts: a number or an array of one.

        Source: West, Communications of the ACM 22(9), 1979.
        """
        if type(value) is not float:
            value = _to_number(value)
        if type(value) in (float, np.float64) and type(self._x) is float and type(weight) is int:
            # What trainings add up in each iteration, in floats of Python, which are the quickest.
            number = float(value)
            distance = number - self._mean
            before = self._n
            self._x += weight * number
            self._n += weight
            n = self._n or 1
            self._mean = self._x / n
            self._m2 += weight * distance * distance * before / n
            return
        weight = _to_number(weight)
        with _device_context(value):
            # Not in place: the first array that comes in is not ours.
            distance = value - self._mean
            before = self._n
            self._x = self._x + weight * value
            self._n = self._n + weight
            n = _replace_0(self._n)
            self._mean = self._x / n
            self._m2 = self._m2 + weight * distance * distance * (before / n)

    def compute_mean(self) -> tp.Any:
        """The mean.

        Raises:
            ZeroDivisionError: If there is no value.
        """
        if type(self._x) is float and self._n:
            return np.float64(self._x / self._n)
        with _device_context(self._x):
            return self._x / self._n

    def make_statistics(self) -> tuple[tp.Any, tp.Any]:
        """The mean and the standard deviation (that of the values as a whole population).

        Raises:
            ZeroDivisionError: If there is no value.
        """
        mean = self.compute_mean()
        xp = backend.get_array_module(mean)
        with _device_context(self._x):
            return mean, xp.sqrt(self._m2 / self._n)

    def serialize(self, serializer: serializer_module.AbstractSerializer) -> None:
        """Saves or loads the sums, those that Chainer v7 has among them.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        with _device_context(self._x):
            self._serialize(serializer)

    def _serialize(self, serializer: serializer_module.AbstractSerializer) -> None:
        x2 = self._m2 + self._x * self._mean
        try:
            x, x2, n = (
                serializer(*sum_) for sum_ in (('_x', self._x), ('_x2', x2), ('_n', self._n))
            )
        except KeyError:
            warnings.warn('The previous statistics are not saved.', stacklevel=2)
            return
        if not isinstance(serializer, serializer_module.Deserializer):
            serializer('_m2', self._m2)
            return
        self._x, self._n = x, n
        with _device_context(x):
            self._mean = x / _replace_0(n)
        m2 = None
        with contextlib.suppress(KeyError):  # in snapshots of v7
            m2 = serializer('_m2', None)
        if m2 is None:
            with _device_context(x):
                m2 = backend.get_array_module(x).maximum(x2 - x * self._mean, 0.0)
        self._m2 = float(m2) if type(x) is float else backend.get_device_from_array(x).send(m2)


def _replace_0(n: object) -> tp.Any:
    """A sum of weights to divide by, which may all have been 0 so far."""
    if isinstance(n, int | float):
        return n or 1
    xp = backend.get_array_module(n)
    return xp.where(n == 0, xp.ones_like(n), n)


def _device_context(array: NdArray) -> tp.ContextManager[tp.Any]:
    """A context of the device of an array, on which CuPy would compute."""
    return backend.get_device_from_array(array).create_context()


class DictSummary:
    """Statistics of dictionaries of values, one `Summary` per name."""

    def __init__(self) -> None:
        self._summaries: collections.defaultdict[tp.Any, Summary] = collections.defaultdict(Summary)

    def add(self, d: Observation) -> None:
        """Takes in values.

        Args:
            d: Numbers, arrays of no dimensions, or Variables of such, by name; or pairs of one and
                its weight. Anything else is left out.

        Raises:
            ValueError: If a weight is no number.
        """
        numbers = []
        for name, value in d.items():
            weight: tp.Any = 1
            if isinstance(value, tuple) and len(value) == 2:
                value, weight = value
            if not _is_scalar(value):
                continue
            if not _is_scalar(weight):
                raise ValueError(
                    f'DictSummary.add: the weight of {name!r} is no number: {weight!r}'
                )
            numbers.append((name, value, weight))
        for name, value, weight in numbers:
            self._summaries[name].add(value, weight)

    def compute_mean(self) -> Observation:
        """The means by name."""
        return {name: summary.compute_mean() for name, summary in self._summaries.items()}

    def make_statistics(self) -> Observation:
        """The means by name, and the standard deviations by name with ``.std`` after it."""
        statistics = {}
        for name, summary in self._summaries.items():
            statistics[name], statistics[f'{name}.std'] = summary.make_statistics()
        return statistics

    def serialize(self, serializer: serializer_module.AbstractSerializer) -> None:
        """Saves or loads the sums; names are saved as one string of JSON.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        import json

        if isinstance(serializer, serializer_module.Serializer):
            serializer('_names', json.dumps(list(self._summaries)))
            for index, summary in enumerate(self._summaries.values()):
                summary.serialize(serializer['_summaries'][str(index)])
            return
        self._summaries.clear()
        try:
            names = json.loads(str(serializer('_names', '')))
        except KeyError:
            warnings.warn('The names of statistics are not saved.', stacklevel=2)
            return
        for index, name in enumerate(names):
            self._summaries[name].serialize(serializer['_summaries'][str(index)])


def _is_scalar(value: object) -> bool:
    if isinstance(value, (str, bytes)):
        return False
    return np.isscalar(value) or getattr(value, 'ndim', -1) == 0
