"""Chainer's API on the ChainerX engine: `Variable`, `Link`, functions, optimizers, training."""

import sys as _sys
import typing as _tp

from chainer import _backend as _backend
from chainer import _version as _version
from chainer import backend as backend
from chainer import backends as backends
from chainer import computational_graph as computational_graph
from chainer import configuration as configuration
from chainer import distribution as distribution
from chainer import distributions as distributions
from chainer import function_hooks as function_hooks
from chainer import functions as functions
from chainer import graph_optimizations as graph_optimizations
from chainer import initializers as initializers
from chainer import link_hooks as link_hooks
from chainer import links as links
from chainer import memory_layouts as memory_layouts
from chainer import optimizer as optimizer
from chainer import optimizer_hooks as optimizer_hooks
from chainer import optimizers as optimizers
from chainer import serializers as serializers
from chainer import types as types
from chainer import utils as utils
from chainer import warnings as warnings
from chainer._base.environment import DebugMode as DebugMode
from chainer._base.environment import get_array_types as get_array_types
from chainer._base.environment import get_compute_mode as get_compute_mode
from chainer._base.environment import get_cpu_array_types as get_cpu_array_types
from chainer._base.environment import get_dtype as get_dtype
from chainer._base.environment import is_arrays_compatible as is_arrays_compatible
from chainer._base.environment import is_debug as is_debug
from chainer._base.environment import set_debug as set_debug
from chainer._base.mixed16 import _Mixed16 as _Mixed16
from chainer._base.mixed16 import mixed16 as mixed16
from chainer._base.version import __version__ as __version__
from chainer._diagnostics import (
    missing_names,
    nvtx_ranges,  # noqa: F401  (tells chainerx.cuda.nvtx of itself)
    other_chainer,
    profile_regions,  # noqa: F401  (tells the profiler of itself)
)
from chainer._diagnostics import runtime_info as runtime_info
from chainer._diagnostics.doctor.doctor import Doctor as Doctor
from chainer._diagnostics.missing_gradients import (
    report_missing_gradients as report_missing_gradients,
)
from chainer._diagnostics.runtime_info import print_runtime_info as print_runtime_info
from chainer._graph.fallback import Fallback as Fallback
from chainer._graph.fallback import fallback_report as fallback_report
from chainer.backend import get_device as get_device
from chainer.backend import using_device as using_device
from chainer.backends import cuda as cuda
from chainer.backends.cuda import should_use_cudnn as should_use_cudnn
from chainer.backends.cuda import should_use_cudnn_tensor_core as should_use_cudnn_tensor_core
from chainer.configuration import config as config
from chainer.configuration import global_config as global_config
from chainer.configuration import using_config as using_config
from chainer.device_resident import DeviceResident as DeviceResident
from chainer.distribution import Distribution as Distribution
from chainer.distribution import cross_entropy as cross_entropy
from chainer.distribution import kl_divergence as kl_divergence
from chainer.distribution import register_kl as register_kl
from chainer.function import Function as Function
from chainer.function import FunctionAdapter as FunctionAdapter
from chainer.function import force_backprop_mode as force_backprop_mode
from chainer.function import no_backprop_mode as no_backprop_mode
from chainer.function_hook import FunctionHook as FunctionHook
from chainer.function_hook import get_function_hooks as get_function_hooks
from chainer.function_node import FunctionNode as FunctionNode
from chainer.functions.math import basic_math as basic_math
from chainer.graph_optimizations.static_graph import static_graph as static_graph
from chainer.graph_optimizations.static_graph_utilities import static_code as static_code
from chainer.initializer import Initializer as Initializer
from chainer.link import Chain as Chain
from chainer.link import ChainList as ChainList
from chainer.link import Link as Link
from chainer.link_hook import LinkHook as LinkHook
from chainer.link_hook import _get_link_hooks as _get_link_hooks
from chainer.optimizer import GradientMethod as GradientMethod
from chainer.optimizer import Optimizer as Optimizer
from chainer.optimizer import UpdateRule as UpdateRule
from chainer.reporter import DictSummary as DictSummary
from chainer.reporter import Reporter as Reporter
from chainer.reporter import Summary as Summary
from chainer.reporter import get_current_reporter as get_current_reporter
from chainer.reporter import report as report
from chainer.reporter import report_scope as report_scope
from chainer.sequential import Sequential as Sequential
from chainer.serializer import AbstractSerializer as AbstractSerializer
from chainer.serializer import Deserializer as Deserializer
from chainer.serializer import Serializer as Serializer
from chainer.utils import sparse as _sparse  # noqa: F401  (fills in names of chainer.utils)
from chainer.variable import Parameter as Parameter
from chainer.variable import Variable as Variable
from chainer.variable import as_array as as_array
from chainer.variable import as_variable as as_variable
from chainer.variable import backward as backward
from chainer.variable import grad as grad

# An alias that users import as a module too.
_sys.modules['chainer.cuda'] = cuda

# Looked at by `chainer.utils.experimental`.
disable_experimental_feature_warning = False

other_chainer.warn()
missing_names.install()
# Imported when they are used: most programs that only compute never do.
_LAZY = ('dataset', 'datasets', 'iterators', 'training')


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})


if _tp.TYPE_CHECKING:
    from chainer import dataset as dataset
    from chainer import datasets as datasets
    from chainer import iterators as iterators
    from chainer import training as training
else:  # for type checkers any name would do
    __getattr__ = missing_names.getter(__name__, imported_on_use=_LAZY)
