"""Training in several processes, started by ``mpiexec``, under the names of ChainerMN.

A communicator connects the processes; each trains on its part of the data, and gradients are
averaged. It needs ``mpi4py`` and an MPI library once a communicator is made.
"""

from __future__ import annotations

from chainer import __version__ as __version__

from chainermn import (
    communicators,
    datasets,
    extensions,
    functions,
    global_except_hook,
    iterators,
    links,
    optimizers,
    testing,
)
from chainermn.communicators import CommunicatorBase, create_communicator
from chainermn.datasets import DataSizeError, scatter_dataset, scatter_index
from chainermn.extensions import create_multi_node_checkpointer, create_multi_node_evaluator
from chainermn.links import MultiNodeChainList
from chainermn.optimizers import create_multi_node_optimizer

__all__ = [
    'CommunicatorBase',
    'DataSizeError',
    'MultiNodeChainList',
    'communicators',
    'create_communicator',
    'create_multi_node_checkpointer',
    'create_multi_node_evaluator',
    'create_multi_node_optimizer',
    'datasets',
    'extensions',
    'functions',
    'global_except_hook',
    'iterators',
    'links',
    'optimizers',
    'scatter_dataset',
    'scatter_index',
    'testing',
]

if global_except_hook.is_asked_for():
    global_except_hook.add_hook()
