"""The path of Chainer v7 of the trigger of regular intervals."""

from chainer.training._trigger import IntervalTrigger as IntervalTrigger
