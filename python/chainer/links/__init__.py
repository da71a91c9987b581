"""Links: functions with parameters, and models made of them."""

from chainer.links.connection.bias import Bias
from chainer.links.connection.bilinear import Bilinear
from chainer.links.connection.embed_id import EmbedID
from chainer.links.connection.linear import Linear
from chainer.links.connection.scale import Scale
from chainer.links.model.classifier import Classifier
from chainer.links.rnn.lstm import LSTM, StatelessLSTM

__all__ = ['LSTM', 'Bias', 'Bilinear', 'Classifier', 'EmbedID', 'Linear', 'Scale', 'StatelessLSTM']
