"""The version of Chainer whose API this is."""

__version__ = '7.8.1'
