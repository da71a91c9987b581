"""Arrays in another dtype."""

from __future__ import annotations

import typing as tp

import chainerx
import numpy as np

from chainer import configuration, variable
from chainer._base.mixed16 import mixed16
from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import DTypeLike, InTypes, VariableLike


class Cast(BuiltinFunction):
    """See `cast`; the attribute ``type`` is the dtype."""

    argument_names: tp.ClassVar = {'type': 'typ'}
    check_uses_attributes = False

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))

    @staticmethod
    def compose(x: chainerx.ndarray, *, type: np.dtype) -> chainerx.ndarray:
        if np.dtype(type).kind in 'biu':
            x = x.as_grad_stopped()  # the creator stays, the gradient ends here
        return x[...] if x.dtype == type else x.astype(type)


def cast(x: VariableLike, typ: DTypeLike) -> variable.Variable:
    """The values in another dtype.

    Args:
        x (Variable or array): Any shape and dtype.
        typ (dtype): Any argument of `chainer.get_dtype`; `chainer.mixed16` stands for float16.

    Returns:
        Variable: Same shape; a view if ``x`` has the dtype, ``x`` itself if no graph is recorded
        either. Differentiable, any order, if both dtypes are floats.

    Raises:
        TypeError: If there is no such dtype.
    """
    if x.dtype == typ and not configuration.config.enable_backprop:
        return variable.as_variable(x)
    return Cast.call(x, type=np.dtype(np.float16) if typ is mixed16 else np.dtype(typ))
