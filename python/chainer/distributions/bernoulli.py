"""Bernoulli distributions."""

from __future__ import annotations

import math
import typing as tp

from chainer import distribution, variable
from chainer import functions as F
from chainer.distributions import utils
from chainer.distributions._parametric import Parametric, exactly_one

if tp.TYPE_CHECKING:
    from chainer._typing import VariableOrNumber


def _weigh_logit(
    logit: variable.Variable, one: variable.Variable, zero: variable.Variable
) -> variable.Variable:
    """``one * log(p) + zero * log(1 - p)``, where a factor of 0 counts as 0."""
    first = one * utils.choose(one.array != 0, -F.softplus(-logit), 0)
    return first + zero * utils.choose(zero.array != 0, -F.softplus(logit), 0)


def _if_binary(x: variable.Variable, log_prob: variable.Variable) -> variable.Variable:
    return utils.choose((x.array == 0) | (x.array == 1), log_prob, -math.inf)


def _step(
    x: variable.Variable, below: float, between: variable.Variable, above: float
) -> variable.Variable:
    """``below`` 0, ``between`` 0 and 1, from 1 on ``above``."""
    value = utils.choose(x.array >= 0, utils.choose(x.array < 1, between, above), below)
    return utils.or_nan(x, value)


def _is_between(x: variable.Variable) -> variable.Variable:
    """1 from 0 to below 1, 0 elsewhere."""
    return utils.constant(((x.array >= 0) & (x.array < 1)).astype(x.dtype))


def _sigmoid(logit: variable.Variable) -> variable.Variable:
    """The sigmoid function by its smaller side, whose slope has all digits."""
    negative = logit.array < 0
    small = F.sigmoid(F.where(negative, logit, -logit))
    return F.where(negative, small, 1 - small)


class Bernoulli(Parametric):
    """Bernoulli distributions: 1 or 0.

    Args:
        p (Variable, array or float): The probability of 1; any shape, any float dtype.
        logit (Variable, array or float): ``log(p / (1 - p))``, instead.
        binary_check (bool): Whether anything but 0 and 1 has no probability. Else `log_prob`
            interpolates between them.

    Attributes:
        p, logit (Variable): The parameter. Samples are integers and not differentiable in it.
    """

    domains: tp.ClassVar = {'p': 'probability', 'logit': 'logit'}

    def __init__(
        self,
        p: VariableOrNumber | None = None,
        logit: VariableOrNumber | None = None,
        binary_check: bool = False,
    ) -> None:
        name = exactly_one('Bernoulli', p=p, logit=logit)
        self._binary_check = binary_check
        self._set_params(**{name: p if name == 'p' else logit})

    @property
    def _given_p(self) -> variable.Variable | None:
        return self._params.get('p')

    @property
    def params(self) -> dict[str, variable.Variable]:
        return {'logit': self.logit}

    @property
    def logit(self) -> variable.Variable:
        """``log(p / (1 - p))``."""
        p = self._given_p
        return self._params['logit'] if p is None else F.log(p) - utils.log1m(p)

    @property
    def p(self) -> variable.Variable:
        """The probability of 1."""
        p = self._given_p
        return _sigmoid(self.logit) if p is None else p

    @property
    def _q(self) -> variable.Variable:
        p = self._given_p
        return _sigmoid(-self.logit) if p is None else 1 - p

    @property
    def support(self) -> str:
        return '{0, 1}'

    def _sample(self, n: int) -> variable.Variable:
        return self._leaf(self._source.bernoulli(self.p, self._shape(n)))

    def log_prob(self, x: VariableOrNumber) -> variable.Variable:
        x = self._point(x)
        log_prob = self._weigh(x, 1 - x)
        return _if_binary(x, log_prob) if self._binary_check else log_prob

    def _weigh(self, one: variable.Variable, zero: variable.Variable) -> variable.Variable:
        p = self._given_p
        if p is None:
            return _weigh_logit(self.logit, one, zero)
        # Not by the logit, whose gradient is infinite at 0 and 1.
        return utils.xlogy(one, p) + utils.xlog1my(zero, p)

    def cdf(self, x: VariableOrNumber) -> variable.Variable:
        x = self._point(x)
        return _step(x, 0, self._q, 1)

    def survival_function(self, x: VariableOrNumber) -> variable.Variable:
        x = self._point(x)
        return _step(x, 1, self.p, 0)

    def log_cdf(self, x: VariableOrNumber) -> variable.Variable:
        x = self._point(x)
        one = _is_between(x)
        return _step(x, -math.inf, self._weigh(one * 0, one), 0)

    def log_survival_function(self, x: VariableOrNumber) -> variable.Variable:
        x = self._point(x)
        one = _is_between(x)
        return _step(x, 0, self._weigh(one, one * 0), -math.inf)

    def icdf(self, x: VariableOrNumber) -> variable.Variable:
        level = utils.level(self._point(x))
        value = utils.constant((level.array > self._q.array).astype(level.dtype))
        return utils.or_nan(level, value)

    @property
    def entropy(self) -> variable.Variable:
        return -utils._modified_xlogx(self.p) - utils._modified_xlogx(self._q)

    @property
    def mean(self) -> variable.Variable:
        return self.p

    @property
    def mode(self) -> variable.Variable:
        return utils.constant((self.p.array > 0.5).astype(self.p.dtype))

    @property
    def variance(self) -> variable.Variable:
        return self.p * self._q


@distribution.register_kl(Bernoulli, Bernoulli)
def _kl_bernoulli_bernoulli(dist1: Bernoulli, dist2: Bernoulli) -> variable.Variable:
    return -dist1.entropy - dist2._weigh(dist1.p, dist1._q)
