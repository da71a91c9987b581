"""Differentiable functions that exchange variables between processes.

Gradients take the same way back, so each process must call ``backward`` where others wait for it.
"""

from chainermn.functions.collective_communication import (
    allgather,
    allreduce,
    alltoall,
    bcast,
    gather,
    scatter,
)
from chainermn.functions.point_to_point_communication import recv, send
from chainermn.functions.pseudo_connect import pseudo_connect

__all__ = [
    'allgather',
    'allreduce',
    'alltoall',
    'bcast',
    'gather',
    'pseudo_connect',
    'recv',
    'scatter',
    'send',
]
