"""Links: functions with parameters, and models made of them."""

import typing as _tp

from chainer._diagnostics import missing_names
from chainer.links.connection.bias import Bias
from chainer.links.connection.bilinear import Bilinear
from chainer.links.connection.embed_id import EmbedID
from chainer.links.connection.linear import Linear
from chainer.links.connection.scale import Scale
from chainer.links.model.classifier import Classifier
from chainer.links.normalization.batch_normalization import BatchNormalization
from chainer.links.rnn.lstm import LSTM, StatelessLSTM

__all__ = [
    'LSTM',
    'BatchNormalization',
    'Bias',
    'Bilinear',
    'Classifier',
    'EmbedID',
    'Linear',
    'Scale',
    'StatelessLSTM',
]

if not _tp.TYPE_CHECKING:  # else any name would do
    __getattr__ = missing_names.getter(__name__)
