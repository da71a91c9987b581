"""Chainer's API on the ChainerX engine: `Variable`, `Link`, functions, optimizers, training."""

# ruff: noqa: F401
import sys as _sys
import typing as _tp

from chainer import (
    backend,
    backends,
    computational_graph,
    configuration,
    distribution,
    distributions,
    function_hooks,
    functions,
    graph_optimizations,
    initializers,
    link_hooks,
    links,
    memory_layouts,
    optimizer,
    optimizer_hooks,
    optimizers,
    serializers,
    types,
    utils,
    warnings,
)
from chainer._base.environment import (
    DebugMode,
    get_array_types,
    get_compute_mode,
    get_cpu_array_types,
    get_dtype,
    is_arrays_compatible,
    is_debug,
    set_debug,
)
from chainer._base.mixed16 import _Mixed16, mixed16
from chainer._base.version import __version__
from chainer._diagnostics import missing_names, other_chainer, profile_regions, runtime_info
from chainer._diagnostics.doctor.doctor import Doctor
from chainer._diagnostics.missing_gradients import report_missing_gradients
from chainer._diagnostics.runtime_info import print_runtime_info
from chainer._graph.fallback import Fallback, fallback_report
from chainer.backend import get_device, using_device
from chainer.backends import cuda
from chainer.backends.cuda import should_use_cudnn, should_use_cudnn_tensor_core
from chainer.configuration import config, global_config, using_config
from chainer.device_resident import DeviceResident
from chainer.distribution import Distribution, cross_entropy, kl_divergence, register_kl
from chainer.function import Function, FunctionAdapter, force_backprop_mode, no_backprop_mode
from chainer.function_hook import FunctionHook, get_function_hooks
from chainer.function_node import FunctionNode
from chainer.functions.math import basic_math
from chainer.graph_optimizations.static_graph import static_graph
from chainer.graph_optimizations.static_graph_utilities import static_code
from chainer.initializer import Initializer
from chainer.link import Chain, ChainList, Link
from chainer.link_hook import LinkHook, _get_link_hooks
from chainer.optimizer import GradientMethod, Optimizer, UpdateRule
from chainer.reporter import (
    DictSummary,
    Reporter,
    Summary,
    get_current_reporter,
    report,
    report_scope,
)
from chainer.sequential import Sequential
from chainer.serializer import AbstractSerializer, Deserializer, Serializer
from chainer.utils import sparse as _sparse
from chainer.variable import Parameter, Variable, as_array, as_variable, backward, grad

# An alias that users import as a module too.
_sys.modules['chainer.cuda'] = cuda

# Looked at by `chainer.utils.experimental`.
disable_experimental_feature_warning = False

other_chainer.warn()
missing_names.install()
# Imported when they are used: most programs that only compute never do.
_LAZY = ('dataset', 'datasets', 'iterators', 'training')
if _tp.TYPE_CHECKING:
    from chainer import dataset, datasets, iterators, training
else:  # for type checkers any name would do
    __getattr__ = missing_names.getter(__name__, imported_on_use=_LAZY)
