"""The bases of optimizers.

The path of Chainer v7; the code is in `chainer._optim.optimizer`.
"""

from chainer._optim.optimizer import (  # noqa: F401
    AbstractSerializer,
    Deserializer,
    GradientClipping,
    GradientHardClipping,
    GradientMethod,
    GradientNoise,
    Hook,
    Hyperparameter,
    HyperparameterProxy,
    Interval,
    Lasso,
    Link,
    Optimizer,
    UpdateRule,
    WeightDecay,
    make_deprecation_message,
    unscale,
)

# What pickles, messages and documentation name.
for _object in (
    Optimizer,
    GradientMethod,
    make_deprecation_message,
):
    _object.__module__ = 'chainer.optimizer'
