"""Optimizers: how parameters follow from gradients."""

from chainer.optimizers.ada_delta import AdaDelta as AdaDelta
from chainer.optimizers.ada_grad import AdaGrad as AdaGrad
from chainer.optimizers.adam import AdaBound as AdaBound
from chainer.optimizers.adam import Adam as Adam
from chainer.optimizers.adam import AdamW as AdamW
from chainer.optimizers.adam import AMSBound as AMSBound
from chainer.optimizers.adam import AMSGrad as AMSGrad
from chainer.optimizers.corrected_momentum_sgd import CorrectedMomentumSGD as CorrectedMomentumSGD
from chainer.optimizers.momentum_sgd import MomentumSGD as MomentumSGD
from chainer.optimizers.msvag import MSVAG as MSVAG
from chainer.optimizers.nesterov_ag import NesterovAG as NesterovAG
from chainer.optimizers.rmsprop import RMSprop as RMSprop
from chainer.optimizers.rmsprop_graves import RMSpropGraves as RMSpropGraves
from chainer.optimizers.sgd import SGD as SGD
from chainer.optimizers.smorms3 import SMORMS3 as SMORMS3
