"""Initialization with orthogonal matrices."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainer import backend, initializer, types, utils
from chainer.initializers import _random

if tp.TYPE_CHECKING:
    from chainer._typing import DTypeLike

# Says for each mode whether it forbids more inputs than outputs, and the reverse.
_orthogonal_constraints = {
    'auto': (False, False),
    'projection': (False, True),
    'embedding': (True, False),
    'basis': (True, True),
}


class Orthogonal(initializer.Initializer):
    """Fills with an orthogonal matrix, of rows or columns of length ``scale``.

    An array of more dimensions is taken for a matrix with a row per output, its first axis.

    Args:
        scale: Factor of the matrix.
        dtype: The dtype of the arrays that it is for; None is any.
        mode: ``'projection'`` is for outputs that are at most as many as inputs, ``'embedding'``
            for at least as many, ``'basis'`` for as many, ``'auto'`` for any.
        rng: Generator with a method ``normal``; None is `numpy.random`.

    Raises:
        ValueError: For another mode; when called, for a shape that the mode is not for.

    Source: Saxe et al., ICLR 2014.
    """

    def __init__(
        self,
        scale: float = 1.1,
        dtype: DTypeLike | None = None,
        mode: str = 'auto',
        *,
        rng: np.random.RandomState | None = None,
    ) -> None:
        if mode not in _orthogonal_constraints:
            modes = ', '.join(map(repr, _orthogonal_constraints))
            raise ValueError(f'Invalid mode: {mode!r}. Choose from {modes}.')
        self.scale = scale
        self.mode = mode
        self.rng = rng
        self._checks = _orthogonal_constraints[mode]
        super().__init__(dtype)

    def __call__(self, array: types.NdArray) -> None:
        self._check(array)
        rng = _random.rng_for(array, self.rng)
        if not array.shape:
            draw = rng.randint if hasattr(rng, 'randint') else rng.integers
            backend.copyto(array, np.asarray(self.scale * (2 * int(draw(2)) - 1), array.dtype))
            return
        if 0 in array.shape:
            raise ValueError('Array to be initialized must be non-empty.')
        n_out, n_in = array.shape[0], utils.size_of_shape(array.shape[1:])
        if (self._checks[0] and n_in > n_out) or (self._checks[1] and n_in < n_out):
            raise ValueError(
                f'Cannot make orthogonal {self.mode}. shape = {array.shape}, interpreted as '
                f'{n_in}-dim input and {n_out}-dim output.'
            )
        matrix = backend.CpuDevice().send(rng.normal(size=(n_out, n_in)))
        wide = n_in > n_out
        q, r = np.linalg.qr(matrix.T if wide else matrix)
        # The signs make the result independent of conventions of the factorization.
        q *= np.where(np.diag(r) < 0, -1, 1) * self.scale
        q = (q.T if wide else q).reshape(array.shape)
        backend.copyto(array, q.astype(array.dtype))
