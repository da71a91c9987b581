"""When a trainer calls an extension, and when it stops."""

from chainer.training.triggers.early_stopping_trigger import (
    EarlyStoppingTrigger as EarlyStoppingTrigger,
)
from chainer.training.triggers.interval_trigger import IntervalTrigger as IntervalTrigger
from chainer.training.triggers.manual_schedule_trigger import (
    ManualScheduleTrigger as ManualScheduleTrigger,
)
from chainer.training.triggers.minmax_value_trigger import BestValueTrigger as BestValueTrigger
from chainer.training.triggers.minmax_value_trigger import MaxValueTrigger as MaxValueTrigger
from chainer.training.triggers.minmax_value_trigger import MinValueTrigger as MinValueTrigger
from chainer.training.triggers.once_trigger import OnceTrigger as OnceTrigger
from chainer.training.triggers.time_trigger import TimeTrigger as TimeTrigger
