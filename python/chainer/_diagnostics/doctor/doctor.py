"""`chainer.Doctor`: looks at a training while it runs."""

from __future__ import annotations

import contextlib
import threading
import typing as tp

from chainerx._core import engine

from chainer import configuration
from chainer._diagnostics.doctor import gpu
from chainer._diagnostics.doctor.finding import Finding, OutOfIterations
from chainer._diagnostics.doctor.gradients import Gradients
from chainer._diagnostics.doctor.growth import Growth
from chainer._graph import debug
from chainer.optimizer import GradientMethod

if tp.TYPE_CHECKING:
    from chainer._typing import AnyCallable


class Doctor:
    """Observes the trainings that run in a ``with`` block, and reports their faults.

    It sees each update of each optimizer, in all threads: parameters that get no gradient, and why;
    graphs that are cut off; gradients that are 0, that were not cleared, that explode; the function
    and the line that make the first NaN, in debug mode; links that a model does not know; memory
    that each iteration keeps, who keeps it, and where it was made. Meanwhile all is some times
    slower. An iteration is an update of the first optimizer that is seen.

    Args:
        iterations (int): How many are observed; later ones run unobserved.
        stop (bool): Whether the program is ended after them.

    Attributes:
        iterations (int): How many have been looked at.

    Raises:
        ValueError: If ``iterations`` is not positive.

    >>> with chainer.Doctor() as doctor:  # doctest: +SKIP
    ...     trainer.run()
    >>> print(doctor)  # doctest: +SKIP
    """

    _running: tp.ClassVar[Doctor | None] = None

    def __init__(self, iterations: int = 20, stop: bool = False) -> None:
        if iterations < 1:
            raise ValueError(f'Doctor: iterations must be positive, not {iterations}')
        self.iterations = 0
        self._most = iterations
        self._stop = stop
        self._gradients: dict[int, Gradients] = {}
        self._growth = Growth(iterations)
        self._gpu = gpu.Gpu()
        self._error: Finding | None = None
        self._outputs: tuple[tp.Any, ...] = ()
        self._stack = contextlib.ExitStack()
        self._mode = contextlib.ExitStack()
        self._thread = 0

    def __enter__(self) -> tp.Self:
        if Doctor._running is not None:
            raise RuntimeError('Doctor: another one looks at this program already')
        Doctor._running = self
        self._growth.start()
        self._replace(GradientMethod, 'update', self._update)
        self._replace(engine, 'backward', self._backward)
        self._mode.enter_context(configuration.using_config('debug', True))
        self._thread = threading.get_ident()
        return self

    def _replace(self, owner: object, name: str, method: AnyCallable) -> None:
        """Lets a method of ours be called first, which is given the original."""
        original = getattr(owner, name)

        def replacement(*args: object, **kwargs: object) -> tp.Any:
            return method(original, *args, **kwargs)

        setattr(owner, name, replacement)
        self._stack.callback(setattr, owner, name, original)

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        self._end()
        if error is None:
            return
        self._error = gpu.explain(error)
        if isinstance(error, debug.NotFiniteError):
            self._error = Finding(
                'not finite',
                f'iteration {self.iterations + 1}: {error}',
                'look at what goes in there; a smaller learning rate may help, or a small number '
                'added to what is divided by or whose logarithm is taken',
            )

    def has_explained(self, error: BaseException) -> bool:
        """Return whether a finding explains an error that ended the block completely.

        Args:
            error (Exception): What was raised.
        """
        return isinstance(error, debug.NotFiniteError) or gpu.explain(error) is not None

    def _end(self) -> None:
        if Doctor._running is self:
            self._stack.close()
            self._gpu.stop()
            self._growth.stop()
            Doctor._running = None
        if threading.get_ident() == self._thread:  # whose configuration it is
            self._mode.close()

    # ---- what is looked at ----

    def _backward(self, original: tp.Any, outputs: tp.Any, *args: object, **kwargs: tp.Any) -> None:
        for gradients in self._gradients.values():
            gradients.before_backward(outputs)
        if self.iterations < 2:  # for optimizers that are not known yet
            self._outputs = (*self._outputs, *outputs)[-4:]
        # A loss scale that adapts looks for the infinities that it makes by itself.
        adapts = any(g._may_overflow() for g in self._gradients.values())
        with configuration.using_config('debug', configuration.config.debug and not adapts):
            original(outputs, *args, **kwargs)

    def _update(
        self,
        original: tp.Any,
        optimizer: tp.Any,
        lossfun: tp.Any = None,
        *args: object,
        **kwargs: tp.Any,
    ) -> None:
        optimizer._check_set_up()
        gradients = self._gradients.get(id(optimizer))
        if gradients is None:
            gradients = self._gradients[id(optimizer)] = Gradients(optimizer)
            gradients.before_backward(self._outputs)
        if lossfun is not None:
            optimizer._compute_gradients(lossfun, args, kwargs)
        gradients.before_update()
        original(optimizer)
        if optimizer is next(iter(self._gradients.values())).optimizer:
            self.iterations += 1
            if self.iterations == 2:
                self._outputs = ()
            self._growth.sample(optimizer.target)
            self._gpu.end_iteration(optimizer.target)
            if self.iterations == self._most:
                self._end()
                if self._stop:
                    raise OutOfIterations

    # ---- what is said ----

    @property
    def findings(self) -> list[Finding]:
        """The findings so far."""
        trained = set()
        for gradients in self._gradients.values():
            target = gradients.optimizer.target
            trained |= {id(one) for one in (*target.links(), *target.params())}
        found: list[Finding] = []
        for gradients in self._gradients.values():
            found += gradients.findings(trained)
        found += self._growth.findings()
        found += self._gpu.findings()
        if self._error is not None:
            found.append(self._error)
        if not self.iterations and self._error is None:
            found.append(
                Finding(
                    'no update',
                    'no optimizer has made an update',
                    'call optimizer.setup(model), and optimizer.update() in each iteration',
                )
            )
        return found

    @property
    def hints(self) -> list[Finding]:
        """What costs time on a GPU, but is no fault."""
        return list(self._gpu.hints())

    def __str__(self) -> str:
        found = self.findings
        noun = 'fault' if len(found) == 1 else 'faults'
        head = f'{len(found)} {noun}' if found else 'nothing wrong was found.'
        lines = [f'{self.iterations} iterations: {head}', *map(str, found)]
        return '\n'.join(lines + [f'hint: {one}' for one in self.hints])
