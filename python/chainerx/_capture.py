"""Capture: a step that is recorded once, and run again without Python."""

from __future__ import annotations

import collections.abc
import functools
import inspect
import operator
import sys
import typing as tp
import weakref

from chainerx import _dependencies
from chainerx._bound_capture import BoundCapture
from chainerx._core import engine
from chainerx._places import form_of
from chainerx._watch import Memory, Watch

_Function = tp.TypeVar('_Function', bound=collections.abc.Callable[..., tp.Any])


class Variant(tp.NamedTuple):
    """What has been recorded for arguments of one kind.

    Attributes:
        arguments (str): The dtypes and shapes of the arrays among the arguments.
        kernels (int): The number of kernel calls of a replay, in which a chain of fused kernels is
            one; 0 if there is no recording yet.
        fused (int): The number of kernels in such chains.
        nbytes (int): The memory that temporaries of a replay take; from the first replay on, with
            the blocks of chains, which each thread has.
        replays (int): How often it was replayed.
        reason (str): Why it had to be recorded anew, or can't be replayed, or why its kernels are
            launched one by one on a GPU; empty if nothing of that is so.
        graph (bool): Whether a replay is one launch of a CUDA graph.
    """

    arguments: str
    kernels: int
    fused: int
    nbytes: int
    replays: int
    reason: str
    graph: bool


class Capture(engine.CapturedFunction):
    """A captured function; see `capture`, which makes one.

    Attributes:
        __wrapped__ (callable): The function itself, which is never replayed.
    """

    __wrapped__: tp.Any

    def __init__(
        self,
        step: tp.Any,
        variants: int,
        strict: bool,
        keeps: bool = False,
        fuse: bool = True,
        verify: int = 0,
    ) -> None:
        self._options = variants, strict, keeps, fuse, verify
        self._step = step
        self._memory = Memory()
        self._methods: dict[int, tuple[weakref.ref[tp.Any], Capture]] = {}
        functools.update_wrapper(self, step)

    def __get__(self, instance: tp.Any, owner: tp.Any = None) -> tp.Any:
        """A captured method is captured for each instance by itself."""
        if instance is None:
            return self
        key, methods = id(instance), self._methods
        if key not in methods:
            if not type(instance).__weakrefoffset__:
                raise TypeError(
                    f'capture: {type(instance).__name__} has __slots__ without __weakref__, so '
                    'what is recorded for an instance would keep it alive'
                )
            alive = weakref.ref(instance, lambda _: methods.pop(key, None))
            method = Capture(_Method(self.__wrapped__, alive), *self._options)
            functools.update_wrapper(method, self.__wrapped__)
            methods[key] = alive, method
        return BoundCapture(methods[key][1], instance)

    def _find_dependencies(
        self, arguments: tuple[tp.Any, ...]
    ) -> tuple[list[_dependencies.Dependency], Watch]:
        step = self._step
        if isinstance(step, _Method):
            step, arguments = step.function, (step.instance(), *arguments)
        found = _dependencies.find(step, arguments)
        return found.dependencies, Watch(found, self._memory.of(form_of(arguments)))

    def __reduce__(self) -> str | tuple[tp.Any, ...]:
        step, name = self._step, getattr(self.__wrapped__, '__qualname__', '')
        # In the place of the function, as decorated functions are: by name.
        module = sys.modules.get(getattr(self.__wrapped__, '__module__', None) or '')
        try:
            if operator.attrgetter(name or '.')(module) is self:
                return name
        except AttributeError:
            pass
        return type(self), (step, *self._options)

    def __repr__(self) -> str:
        name = getattr(self.__wrapped__, '__qualname__', None)
        return f'<captured function {name or repr(self.__wrapped__)}>'

    def info(self) -> list[Variant]:
        """Says what has been recorded.

        Returns:
            list of Variant: One for each kind of arguments.
        """
        return [Variant(*row) for row in self._variants()]


_NOT_RUN: tp.Final = {
    'a coroutine function': inspect.iscoroutinefunction,
    'a generator function': inspect.isgeneratorfunction,
    'an asynchronous generator function': inspect.isasyncgenfunction,
}


class _Method:
    """A method of an instance that it does not keep alive."""

    def __init__(self, function: tp.Any, instance: weakref.ref[tp.Any]) -> None:
        self.function = function
        self.instance = instance

    def __call__(self, *args: tp.Any, **kwargs: tp.Any) -> tp.Any:
        return self.function(self.instance(), *args, **kwargs)


@tp.overload
def capture(
    step: _Function,
    /,
    *,
    variants: int = 8,
    strict: bool = True,
    fuse: bool = True,
    verify: int = 0,
) -> Capture: ...


@tp.overload
def capture(
    step: None = None,
    /,
    *,
    variants: int = 8,
    strict: bool = True,
    fuse: bool = True,
    verify: int = 0,
) -> collections.abc.Callable[[_Function], Capture]: ...


def capture(
    step: tp.Any = None,
    /,
    *,
    variants: int = 8,
    strict: bool = True,
    fuse: bool = True,
    verify: int = 0,
) -> tp.Any:
    """Records a function of arrays, such as a step of training, and runs it again without Python.

    The first call with arguments of one kind runs the function as it is. The second and the third
    record the kernels that it calls; if both are the same, later calls only run these on the new
    arguments. Arrays that the function uses, and that are no arguments, are read and written where
    they are; gradients, updates of optimizers and random numbers go on as without capture.

    It is a decorator, too, with or without options; a method is captured for each instance.

    Args:
        step (callable): Its arguments may be arrays (of chainerx and NumPy, variables), tuples,
            lists, dicts and dataclasses of them, and hashable values. Each combination of dtypes,
            shapes, devices, values and settings (``chainer.config``, modes of backpropagation) is
            recorded by itself.
        variants (int): How many of these are kept; then the one least used is thrown out.
        strict (bool): Whether what can't be replayed is an error. If not, a warning says why, and
            the function runs as it is.
        fuse (bool): Whether a replay runs chains of elementwise kernels, and reductions of rows
            among them, block by block, so that what one leaves for the next stays in the cache.
            The results have the same bits.
        verify (int): Of the replays with arguments of one kind, each that this number divides is a
            call of the function as it is; on copies, its kernels are replayed, and results,
            gradients and whatever it writes to must be the same, to the bit. 0 for none.

    Returns:
        Capture: The function. It returns what ``step`` returns, arrays as new ones outside of all
        graphs: ``backward`` belongs inside.

    Raises:
        CaptureError: If a replay would do something else than the function: values are read by
            Python, numbers of Python or arrays of NumPy differ from call to call, an array that is
            not returned stays in use, a verified replay differs. The function has run as it is
            when this is raised.
        TypeError: If an argument is neither an array nor hashable.
    """
    if step is None:
        return functools.partial(
            capture, variants=variants, strict=strict, fuse=fuse, verify=verify
        )
    if isinstance(step, (staticmethod, classmethod)):
        function = capture(
            step.__func__, variants=variants, strict=strict, fuse=fuse, verify=verify
        )
        return type(step)(function)
    if not callable(step):
        raise TypeError(f'capture: step is a {type(step).__name__}, expected a function')
    for kind, is_of in _NOT_RUN.items():
        if is_of(step):
            raise TypeError(f'capture: step is {kind}, a call of which does not run it')
    for name, value in (('variants', variants), ('verify', verify)):
        if not hasattr(value, '__index__'):
            raise TypeError(f'capture: {name} is {value!r}, expected an int')
    if variants < 1:
        raise ValueError(f'capture: variants is {variants}, expected at least 1')
    if verify < 0:
        raise ValueError(f'capture: verify is {verify}, expected 0 or more')
    return Capture(step, variants, strict, False, fuse, verify)
