"""Joins the C++ engine with Python: configuration, type checks, hooks.

The engine calls what is registered here and where function objects are defined (``set_callbacks``);
it never imports anything itself.
"""

from __future__ import annotations

import traceback
import typing as tp

import chainerx
import numpy as np
from chainerx import _collector
from chainerx._core import engine

from chainer import configuration
from chainer._graph import debug
from chainer.function_hook import get_function_hooks
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._graph.function_node import FunctionNode
    from chainer._typing import Arrays, NdArray
    from chainer.function_hook import FunctionHook


def to_kind(value: object, kind: str | None) -> tp.Any:
    """An attribute of a function, its arrays as the user of that kind of array expects them."""
    if kind is None or not isinstance(value, chainerx.ndarray):
        return value
    return engine.to_kind(value, kind)


def check_function_types(function: FunctionNode, arrays: Arrays) -> None:
    """The type check of a function: quick if it passes, with all of the text if not."""
    arrays = tuple(_in_native_order(x) for x in arrays)
    types = type_check.get_light_types(arrays)
    with type_check.get_function_check_context(function):
        try:
            with type_check.light_mode:
                function.check_type_forward(types)
                return
        except (type_check.InvalidType, IndexError):
            # IndexError: of an axis that is not there, in an array that has too few of them.
            pass
        function.check_type_forward(type_check.get_types(arrays, 'in_types', False))


def _in_native_order(array: NdArray) -> NdArray:
    """Return the array in native byte order, which the computation uses too."""
    if isinstance(array, np.ndarray) and not array.dtype.isnative:
        return array.astype(array.dtype.newbyteorder('='))
    return array


def hooks_of(function: FunctionNode) -> list[FunctionHook]:
    """The hooks that see the function: those of the thread, then its own."""
    local = function._local_function_hooks
    hooks = list(get_function_hooks().values())
    return hooks + list(local.values()) if local else hooks


def forward_begin(function: FunctionNode, in_data: Arrays) -> None:
    if configuration.config.debug:
        function.stack = traceback.StackSummary.from_list(traceback.extract_stack()[:-1])
        if (check := getattr(function, '_check_in_debug_mode', None)) is not None:
            check(in_data)
    for hook in hooks_of(function):
        hook.forward_preprocess(function, in_data)


def forward_end(function: FunctionNode, in_data: Arrays, out_data: Arrays) -> None:
    for hook in hooks_of(function):
        hook.forward_postprocess(function, in_data)
        if (see_outputs := getattr(hook, '_see_outputs', None)) is not None:
            see_outputs(function, out_data)
    if configuration.config.debug:
        debug.check_forward(function, in_data, out_data)


def _add_retained(function: FunctionNode, in_data: Arrays) -> Arrays:
    """Return the arrays that a user's function has kept, even if their variables are gone."""
    if not function._retained_inputs:
        return in_data
    kept = {i: x for i, x, _ in function._retained_inputs}
    return tuple(kept.get(i, x) for i, x in enumerate(in_data))


def backward_begin(function: FunctionNode, in_data: Arrays, out_grad: Arrays) -> None:
    in_data = _add_retained(function, in_data)
    for hook in hooks_of(function):
        hook.backward_preprocess(function, in_data, out_grad)


def backward_end(function: FunctionNode, in_data: Arrays, out_grad: Arrays) -> None:
    in_data = _add_retained(function, in_data)
    for hook in hooks_of(function):
        hook.backward_postprocess(function, in_data, out_grad)


def backward_gradient(function: FunctionNode, index: int, grad: NdArray) -> None:
    """In debug mode: each gradient that a function has computed."""
    debug.check_backward(function, index, grad)


_collector.watch()
engine.set_config(configuration.config)
engine.set_callbacks(
    forward_begin=forward_begin,
    forward_end=forward_end,
    backward_begin=backward_begin,
    backward_end=backward_end,
    backward_gradient=backward_gradient,
)
