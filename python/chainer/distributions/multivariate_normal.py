"""Normal distributions of vectors."""

from __future__ import annotations

import math
import typing as tp

import numpy as np

from chainer import distribution, variable
from chainer import functions as F
from chainer.distributions import utils
from chainer.distributions._parametric import Parametric
from chainer.distributions.normal import HALF_LOG_2PI

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike, VariableOrNumber


def _keep_triangle(x: variable.Variable, lower: bool) -> variable.Variable:
    """``x`` with 0 on the other side of the diagonal."""
    row, column = np.indices(x.shape[-2:])
    kept = row >= column if lower else row <= column
    return utils.choose(x.device.send(kept), x, 0)


def _triangular_inv(x: VariableLike, lower: bool = True) -> variable.Variable:
    """Return the inverses of triangular matrices; the other triangle is not read."""
    x = _keep_triangle(variable.as_variable(x), lower)
    inverse = F.batch_inv(F.reshape(x, (math.prod(x.shape[:-2]), *x.shape[-2:])))
    # Exactly triangular, whatever the elimination left there.
    return F.reshape(_keep_triangle(inverse, lower), x.shape)


def _diagonal(x: variable.Variable) -> variable.Variable:
    return F.diagonal(x, axis1=-2, axis2=-1)


class MultivariateNormal(Parametric):
    """Normal distributions of vectors.

    Args:
        loc (Variable or array): The mean; the last axis is that of an event, any float dtype.
        scale_tril (Variable or array): A lower triangular matrix of which the product with its
            transpose is the covariance; the triangle above its diagonal is not read. Its shape ends
            with twice the length of an event; the leading axes broadcast with the batch.

    Attributes:
        loc, scale_tril (Variable): The parameters. Samples are differentiable in them.
    """

    domains: tp.ClassVar = {'loc': 'real', 'scale_tril': 'factor'}
    event_ndims: tp.ClassVar = {'loc': 1, 'scale_tril': 2}
    loc: variable.Variable
    scale_tril: variable.Variable

    def __init__(
        self, loc: VariableOrNumber, *, scale_tril: VariableOrNumber | None = None
    ) -> None:
        if scale_tril is None:
            raise ValueError('MultivariateNormal: scale_tril is None, expected matrices')
        given = self._convert(loc=loc, scale_tril=scale_tril)
        d = given['loc'].shape[-1:]
        if len(d) != 1 or given['scale_tril'].shape[-2:] != d + d:
            raise ValueError(
                f'MultivariateNormal: the shape of scale_tril is {given["scale_tril"].shape}, '
                f'expected it to end with twice the last of that of loc, {given["loc"].shape}'
            )
        self._set_params(loc=loc, scale_tril=_keep_triangle(given['scale_tril'], lower=True))

    @property
    def d(self) -> int:
        """The length of an event."""
        return int(self.loc.shape[-1])

    @property
    def event_shape(self) -> tuple[int, ...]:
        return (self.d,)

    @property
    def support(self) -> str:
        return 'real'

    def _sample(self, n: int) -> variable.Variable:
        noise = self._source.normal(self._shape(n))
        return self.loc + _product(self.scale_tril, noise)

    @property
    def _log_det(self) -> variable.Variable:
        """The logarithm of the absolute determinant of ``scale_tril``."""
        return F.sum(F.log(abs(_diagonal(self.scale_tril))), axis=-1)

    def log_prob(self, x: VariableOrNumber) -> variable.Variable:
        difference = self._point(x) - self.loc
        z = _product(_triangular_inv(self.scale_tril), difference)
        return F.sum(F.square(z), axis=-1) * -0.5 - self._log_det - self.d * HALF_LOG_2PI

    @property
    def entropy(self) -> variable.Variable:
        return self._log_det + self.d * (HALF_LOG_2PI + 0.5)

    @property
    def mean(self) -> variable.Variable:
        return self.loc

    @property
    def mode(self) -> variable.Variable:
        return self.loc

    @property
    def covariance(self) -> variable.Variable:
        return F.matmul(self.scale_tril, self.scale_tril, transb=True)

    @property
    def variance(self) -> variable.Variable:
        return F.sum(F.square(self.scale_tril), axis=-1)


def _product(matrix: variable.Variable, vectors: VariableLike) -> variable.Variable:
    """Products of a batch of matrices with vectors, of which there are some for each matrix."""
    vectors = variable.as_variable(vectors)
    lead = vectors.ndim - matrix.ndim + 1
    flat = F.reshape(vectors, (math.prod(vectors.shape[:lead]), *vectors.shape[lead:]))
    columns = F.moveaxis(flat, 0, -1)
    return F.reshape(F.moveaxis(F.matmul(matrix, columns), -1, 0), vectors.shape)


@distribution.register_kl(MultivariateNormal, MultivariateNormal)
def _kl_multivariate_normal(
    dist1: MultivariateNormal, dist2: MultivariateNormal
) -> variable.Variable:
    inverse = _triangular_inv(dist2.scale_tril)
    ratio = F.sum(F.square(F.matmul(inverse, dist1.scale_tril)), axis=(-2, -1))
    distance = F.sum(F.square(_product(inverse, dist2.loc - dist1.loc)), axis=-1)
    return dist2._log_det - dist1._log_det + 0.5 * (ratio + distance - dist1.d)
