"""The path of Chainer v7 of `Device`, which chainer-chemistry takes from here."""

from chainer.backend import Device  # noqa: F401
