"""Training in several processes, started by ``mpiexec``, under the names of ChainerMN.

A communicator connects the processes; each trains on its part of the data, and gradients are
averaged. It needs ``mpi4py`` and an MPI library once a communicator is made.
"""

from __future__ import annotations

import os as _os

from chainer import __version__ as __version__

from chainermn import communicators, global_except_hook
from chainermn.communicators import CommunicatorBase, create_communicator

__all__ = ['CommunicatorBase', 'communicators', 'create_communicator', 'global_except_hook']

if _os.environ.get('CHAINERMN_FORCE_ABORT_ON_EXCEPTION'):
    global_except_hook.add_hook()
