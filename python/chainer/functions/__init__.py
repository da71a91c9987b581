"""Differentiable functions on variables and arrays."""

# ruff: noqa: F401
from chainer.functions.activation.relu import relu
from chainer.functions.array.broadcast import broadcast, broadcast_to
from chainer.functions.array.cast import cast
from chainer.functions.array.concat import concat
from chainer.functions.array.get_item import get_item
from chainer.functions.array.reshape import reshape
from chainer.functions.array.transpose import transpose
from chainer.functions.connection.embed_id import embed_id
from chainer.functions.connection.linear import linear
from chainer.functions.loss.mean_squared_error import mean_squared_error
from chainer.functions.loss.softmax_cross_entropy import softmax_cross_entropy
from chainer.functions.math.basic_math import absolute, add
from chainer.functions.math.sum import sum
from chainer.functions.noise.dropout import dropout
