"""The array libraries that Chainer computes with."""

from chainer.backends import _chainerx, _cpu, cuda, intel64  # noqa: F401
