"""The path of Chainer v7 of `get_trigger`."""

from chainer.training._trigger import _never_fire_trigger, get_trigger  # noqa: F401
