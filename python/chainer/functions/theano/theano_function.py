"""`TheanoFunction`, which can be imported, but not made."""

from __future__ import annotations

import typing as tp

from chainer.function_node import FunctionNode

GONE: tp.Final = (
    'TheanoFunction: Theano is no longer developed and does not work with this Python; write the '
    'expression with chainer.functions, or as a chainer.FunctionNode'
)


class TheanoFunction(FunctionNode):
    """A function of Theano in Chainer v7.

    Args:
        forward_func: Compiled by Theano.
        backward_func: Compiled by Theano.

    Raises:
        RuntimeError: Always.
    """

    def __init__(self, forward_func: object, backward_func: object) -> None:
        raise RuntimeError(f'chainer.functions.theano.{GONE}')
