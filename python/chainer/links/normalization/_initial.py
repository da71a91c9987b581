"""Initial values of scales, shifts and statistics."""

from __future__ import annotations

import copy
import typing as tp

import numpy as np

from chainer import initializers

if tp.TYPE_CHECKING:
    from chainer._typing import InitializerSpec
    from chainer.initializer import Initializer


def initializer(given: InitializerSpec | None, default: float, dtype: np.dtype) -> Initializer:
    """Return an initializer of the given dtype; accepts any initializer argument."""
    made = copy.copy(initializers._get_initializer(default if given is None else given))
    made.dtype = dtype
    return made
