"""The path of Chainer v7 of `get_trigger`."""

from chainer.training._trigger import IntervalTrigger as IntervalTrigger
from chainer.training._trigger import _never_fire_trigger as _never_fire_trigger
from chainer.training._trigger import get_trigger as get_trigger
