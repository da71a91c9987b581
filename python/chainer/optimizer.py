"""The bases of optimizers.

The path of Chainer v7; the code is in `chainer._optim.optimizer`.
"""

from chainer._optim.optimizer import AbstractSerializer as AbstractSerializer
from chainer._optim.optimizer import Deserializer as Deserializer
from chainer._optim.optimizer import GradientClipping as GradientClipping
from chainer._optim.optimizer import GradientHardClipping as GradientHardClipping
from chainer._optim.optimizer import GradientMethod as GradientMethod
from chainer._optim.optimizer import GradientNoise as GradientNoise
from chainer._optim.optimizer import Hook as Hook
from chainer._optim.optimizer import Hyperparameter as Hyperparameter
from chainer._optim.optimizer import HyperparameterProxy as HyperparameterProxy
from chainer._optim.optimizer import Interval as Interval
from chainer._optim.optimizer import Lasso as Lasso
from chainer._optim.optimizer import Link as Link
from chainer._optim.optimizer import Optimizer as Optimizer
from chainer._optim.optimizer import UpdateRule as UpdateRule
from chainer._optim.optimizer import WeightDecay as WeightDecay
from chainer._optim.optimizer import make_deprecation_message as make_deprecation_message
from chainer._optim.optimizer import unscale as unscale

# What pickles, messages and documentation name.
for _object in (
    Optimizer,
    GradientMethod,
    make_deprecation_message,
):
    _object.__module__ = 'chainer.optimizer'
