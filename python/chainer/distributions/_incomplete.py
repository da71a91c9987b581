"""Densities and probabilities of the gamma and beta distributions, and where they are reached.

Differentiable in the point, any order, and once in the exponents; a second time is an error.
"""

from __future__ import annotations

import chainerx
from chainerx import special

from chainer import functions as F
from chainer import variable
from chainer._graph.builtin import BuiltinFunction

_GAMMA = ('gammainc', 'gammaincc', 'gammaincinv', 'log_gammainc', 'log_gammaincc')
_BETA = ('betainc', 'betaincc', 'betaincinv', 'log_betainc', 'log_betaincc')
_NAMES = (*_GAMMA, *_BETA, 'log_gamma_density', 'log_beta_density')
_ROUTINES = {name: getattr(special, name) for name in _NAMES}


class _Incomplete(BuiltinFunction):
    is_elementwise = True

    @staticmethod
    def compose(*xs: chainerx.ndarray, name: str) -> chainerx.ndarray:
        return _ROUTINES[name](*xs)


def call(name: str, *xs: variable.Variable) -> variable.Variable:
    """The function of `chainerx.special`, of variables that broadcast."""
    return _Incomplete.call(*xs, name=name)


def of_gamma(name: str, k: variable.Variable, x: variable.Variable) -> variable.Variable:
    """A function of the gamma distribution; values below 0 count as 0."""
    return call(name, k, F.relu(x))
