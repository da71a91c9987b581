"""`TheanoFunction`, which can be imported, but not made."""

from __future__ import annotations

import typing as tp

from chainer.functions.theano.theano_function import GONE
from chainer.link import Link


class TheanoFunction(Link):
    """A function of Theano in Chainer v7.

    Args:
        inputs: Symbols of Theano.
        outputs: Expressions of Theano.

    Raises:
        RuntimeError: Always, as in Chainer v7 where there is no Theano.
    """

    def __init__(self, inputs: object, outputs: object) -> None:
        raise RuntimeError(f'chainer.links.{GONE}')

    def forward(self, *args: object) -> tp.NoReturn:
        """Is never reached.

        Args:
            *args: The inputs of the Theano function.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError(f'chainer.links.{GONE}')
