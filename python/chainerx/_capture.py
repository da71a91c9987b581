"""Capture: a step that is recorded once, and run again without Python."""

from __future__ import annotations

import collections.abc
import functools
import typing as tp
import weakref

from chainerx import _dependencies, _places
from chainerx._core import engine

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
        self._bound: dict[int, tuple[weakref.ref[tp.Any], Capture]] = {}
        functools.update_wrapper(self, step)

    def __get__(self, instance: tp.Any, owner: tp.Any = None) -> tp.Any:
        """A captured method is captured for each instance by itself."""
        if instance is None:
            return self
        key = id(instance)
        if key not in self._bound:
            bound = self._bound
            alive = weakref.ref(instance, lambda _: bound.pop(key, None))
            method = Capture(_Method(self.__wrapped__, alive), *self._options)
            functools.update_wrapper(method, self.__wrapped__)
            bound[key] = alive, method
        return self._bound[key][1]

    def _find_dependencies(
        self, arguments: tuple[tp.Any, ...]
    ) -> tuple[list[_dependencies.Dependency], _places.Snapshot]:
        step = self._step
        if isinstance(step, _Method):
            found = _dependencies.find(step.function, (step.instance(), *arguments))
        else:
            found = _dependencies.find(step, arguments)
        return found.dependencies, _places.Snapshot(found)

    def __reduce__(self) -> tuple[tp.Any, ...]:
        return type(self), (self.__wrapped__, *self._options)

    def info(self) -> list[Variant]:
        """Says what has been recorded.

        Returns:
            list of Variant: One for each kind of arguments.
        """
        return [Variant(*row) for row in self._variants()]


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
    if not callable(step):
        raise TypeError(f'capture: step is a {type(step).__name__}, expected a function')
    if variants < 1:
        raise ValueError(f'capture: variants is {variants}, expected at least 1')
    if verify < 0:
        raise ValueError(f'capture: verify is {verify}, expected 0 or more')
    return Capture(step, variants, strict, False, fuse, verify)
