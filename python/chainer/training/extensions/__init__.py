"""Extensions, which a trainer calls between updates."""

from chainer.training.extensions import snapshot_writers as snapshot_writers
from chainer.training.extensions._snapshot import snapshot as snapshot
from chainer.training.extensions._snapshot import snapshot_object as snapshot_object
from chainer.training.extensions.computational_graph import DumpGraph as DumpGraph
from chainer.training.extensions.computational_graph import dump_graph as dump_graph
from chainer.training.extensions.cosine_shift import CosineShift as CosineShift
from chainer.training.extensions.evaluator import Evaluator as Evaluator
from chainer.training.extensions.exponential_moving_average import (
    ExponentialMovingAverage as ExponentialMovingAverage,
)
from chainer.training.extensions.exponential_shift import ExponentialShift as ExponentialShift
from chainer.training.extensions.fail_on_nonnumber import FailOnNonNumber as FailOnNonNumber
from chainer.training.extensions.html_report import HTMLReport as HTMLReport
from chainer.training.extensions.inverse_shift import InverseShift as InverseShift
from chainer.training.extensions.linear_shift import LinearShift as LinearShift
from chainer.training.extensions.log_files import CSVReport as CSVReport
from chainer.training.extensions.log_files import JSONLinesReport as JSONLinesReport
from chainer.training.extensions.log_report import LogReport as LogReport
from chainer.training.extensions.micro_average import MicroAverage as MicroAverage
from chainer.training.extensions.multistep_shift import MultistepShift as MultistepShift
from chainer.training.extensions.parameter_statistics import (
    ParameterStatistics as ParameterStatistics,
)
from chainer.training.extensions.plot_report import PlotReport as PlotReport
from chainer.training.extensions.polynomial_shift import PolynomialShift as PolynomialShift
from chainer.training.extensions.print_report import PrintReport as PrintReport
from chainer.training.extensions.progress_bar import ProgressBar as ProgressBar
from chainer.training.extensions.step_shift import StepShift as StepShift
from chainer.training.extensions.tensorboard_report import TensorBoardReport as TensorBoardReport
from chainer.training.extensions.value_observation import observe_lr as observe_lr
from chainer.training.extensions.value_observation import observe_value as observe_value
from chainer.training.extensions.variable_statistics_plot import (
    VariableStatisticsPlot as VariableStatisticsPlot,
)
from chainer.training.extensions.variable_unchain import unchain_variables as unchain_variables
from chainer.training.extensions.warmup_shift import WarmupShift as WarmupShift
