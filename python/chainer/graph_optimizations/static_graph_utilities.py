"""What code inside of static subgraphs uses."""

from __future__ import annotations

import functools
import typing as tp

from chainerx import _watch
from chainerx._core import engine

from chainer.graph_optimizations._decorate import decorate

if tp.TYPE_CHECKING:
    from chainer._graph.function_node import FunctionNode
    from chainer._typing import Arrays, Layer


def static_code(*dec_args: tp.Any, **dec_kwargs: tp.Any) -> tp.Any:
    """Decorator of code that Python runs in each call of a static subgraph.

    Where a recording is replayed, of a method with a static graph or of a step that
    `chainerx.capture` records, it is called in its place between the kernels, with the arrays of
    that replay. It may keep them and write to them, and do what else it likes. What it returns has
    the same form each time: None, numbers that never change, and arrays, alone or in tuples, lists
    and dicts, of the same shapes and dtypes. They have no gradient; where they come from arrays
    that need one, the code around it runs as it is.

    Args:
        *dec_args: The function, where there are no arguments.
        **dec_kwargs: ``func_name``, which is of no effect.

    Returns:
        callable: The function, or a decorator where arguments are given by name.

    Raises:
        TypeError: For other arguments, or something to decorate that can't be called.
    """

    def as_it_stands(function: Layer) -> tp.Callable[..., tp.Any]:
        name = _name_of(function)

        def call(*inputs: tp.Any, **named: tp.Any) -> tp.Any:
            try:
                return function(*inputs, **named)
            except BaseException as error:
                error.add_note(
                    f'static_code {name}: a captured step does not catch this when it is replayed'
                )
                raise

        @functools.wraps(function)
        def run(*inputs: tp.Any, **named: tp.Any) -> tp.Any:
            if not engine.is_capturing():
                return function(*inputs, **named)
            try:
                return _watch.apart(lambda: engine.static_call(call, name, inputs, named))
            except BaseException as error:
                # If the step catches it, a replay would not call the code, or could not catch it.
                engine.refuse_capture(f'static_code {name} raises {type(error).__name__}')
                raise

        return run

    return decorate('static_code', ('func_name',), dec_args, dec_kwargs, as_it_stands)


def _name_of(function: tp.Any) -> str:
    return getattr(function, '__qualname__', type(function).__qualname__)


def static_forward_optimizations(func: FunctionNode, inputs: Arrays) -> tp.Any:
    """What ``func`` computes, as outside of a static subgraph.

    Args:
        func (FunctionNode): A function.
        inputs (tuple of array): What it is computed from.

    Returns:
        tuple of array: The outputs.
    """
    return func.forward(inputs)
