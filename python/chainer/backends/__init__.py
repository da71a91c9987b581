"""The array libraries that Chainer computes with."""

from chainer.backends import _chainerx as _chainerx
from chainer.backends import _cpu as _cpu
from chainer.backends import cuda as cuda
from chainer.backends import intel64 as intel64
