"""Hooks that see every function, or one, forward and backward."""

from __future__ import annotations

import threading
import typing as tp
from collections import OrderedDict

from chainerx._core import engine

if tp.TYPE_CHECKING:
    from chainer._typing import Arrays
    from chainer.function_node import FunctionNode

_thread = threading.local()


def get_function_hooks() -> OrderedDict[str, FunctionHook]:
    """The hooks of this thread that see all functions, by name.

    Returns:
        OrderedDict: The one in use: changes count at once.
    """
    try:
        return _thread.hooks
    except AttributeError:
        hooks: OrderedDict[str, FunctionHook] = OrderedDict()
        _thread.hooks = hooks
        _thread.until = engine.set_hooks(hooks)
        return hooks


class FunctionHook:
    """Base of hooks. Used in a ``with`` block it sees all functions that this thread runs there.

    ``function.add_hook(hook)`` adds it to one function instead. ``in_data`` are the input arrays
    (in backward, None where the array is not kept), ``out_grad`` the gradients of the outputs.
    Hooks fire at functions of chainer, not at the chainerx routines that they are made of.
    """

    name: str = 'FunctionHook'

    def __enter__(self) -> tp.Self:
        hooks = get_function_hooks()
        if self.name in hooks:
            raise KeyError(f'hook {self.name} already exists')
        hooks[self.name] = self
        try:
            self.added(None)
        except BaseException:
            hooks.pop(self.name, None)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        hooks = get_function_hooks()
        try:
            hooks[self.name].deleted(None)
        finally:
            hooks.pop(self.name, None)

    def added(self, function: FunctionNode | None) -> None:
        """Called when the hook is added.

        Args:
            function (FunctionNode): None if it is added to all of them.
        """

    def deleted(self, function: FunctionNode | None) -> None:
        """Called before the hook is removed.

        Args:
            function (FunctionNode): None if it is removed from all of them.
        """

    def forward_preprocess(self, function: FunctionNode, in_data: Arrays) -> None:
        """Called before a function computes.

        Args:
            function (FunctionNode): Which.
            in_data (tuple of array): The data of its inputs.
        """

    def forward_postprocess(self, function: FunctionNode, in_data: Arrays) -> None:
        """Called after a function has computed.

        Args:
            function (FunctionNode): Which.
            in_data (tuple of array): The data of its inputs.
        """

    def backward_preprocess(
        self, function: FunctionNode, in_data: Arrays, out_grad: Arrays
    ) -> None:
        """Called before the gradients of a function are computed.

        Args:
            function (FunctionNode): Which.
            in_data (tuple of array): The data of its inputs; None for what is not kept.
            out_grad (tuple of array): The gradients of its outputs; None for one without.
        """

    def backward_postprocess(
        self, function: FunctionNode, in_data: Arrays, out_grad: Arrays
    ) -> None:
        """Called after the gradients of a function have been computed.

        Args:
            function (FunctionNode): Which.
            in_data (tuple of array): The data of its inputs; None for what is not kept.
            out_grad (tuple of array): The gradients of its outputs; None for one without.
        """
