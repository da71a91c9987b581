"""Communication by MPI, through memory of the host."""

from __future__ import annotations

import functools
import operator
import pickle
import typing as tp

import numpy as np

from chainermn.communicators import _arrays, _leaving, _model, _mpi
from chainermn.communicators._agreement import Agreement, Prepared, refuse_capture
from chainermn.communicators._arrays import Spec
from chainermn.communicators._exchange import Exchange
from chainermn.communicators.communicator_base import CommunicatorBase

if tp.TYPE_CHECKING:
    from chainer.link import Link
    from chainer.types import NdArray


class _Header(tp.NamedTuple):
    """The message in front of arrays."""

    is_tuple: bool
    specs: tuple[Spec, ...]


class MpiCommunicatorBase(CommunicatorBase):
    """A communicator of MPI.

    It has a duplicate of the communicator of mpi4py that it is made of, so its messages meet no
    others.

    Args:
        mpi_comm: A communicator of mpi4py; None for all processes.

    Attributes:
        mpi_comm: The communicator of mpi4py that messages go through.

    Raises:
        ImportError: If there is no mpi4py or no MPI.
    """

    def __init__(self, mpi_comm: tp.Any = None) -> None:
        super().__init__()
        self._mpi = _mpi.load()
        given = self._mpi.COMM_WORLD if mpi_comm is None else mpi_comm
        self._start(_duplicate(given))

    def _start(self, mpi_comm: tp.Any) -> None:
        self.mpi_comm = mpi_comm
        # For messages within operations on all.
        self._inner = Exchange(_duplicate(mpi_comm), self._mpi)
        self._agreement = Agreement(self._inner, self._mpi)
        # Others would send other messages.
        self._agreement.reach('create_communicator', lambda: (type(self).__name__, None))
        _leaving.enter(self._agreement, self._mpi)
        self._rank, self._size = mpi_comm.rank, mpi_comm.size
        machine = mpi_comm.Split_type(self._mpi.COMM_TYPE_SHARED, self._rank)
        try:
            self._intra = machine.rank, machine.size
            first = Exchange(machine, self._mpi).bcast(self._rank, 0)
        finally:
            machine.Free()
        firsts = sorted(set(self._inner.allgather(first)))  # the lowest rank on each machine
        self._inter = firsts.index(first), len(firsts)
        self._own_messages: list[tp.Any] = []

    def __deepcopy__(self, memo: object) -> MpiCommunicatorBase:
        return self  # a copy of a link talks to the same processes

    def __reduce__(self) -> tp.NoReturn:
        raise TypeError(f'{type(self).__name__} belongs to this process, and cannot be pickled')

    @property
    def rank(self) -> int:
        return self._rank

    @property
    def size(self) -> int:
        return self._size

    @property
    def intra_rank(self) -> int:
        return self._intra[0]

    @property
    def intra_size(self) -> int:
        return self._intra[1]

    @property
    def inter_rank(self) -> int:
        return self._inter[0]

    @property
    def inter_size(self) -> int:
        return self._inter[1]

    def split(self, color: int, key: int) -> MpiCommunicatorBase:
        def prepare() -> Prepared[tuple[int, int]]:
            return None, (operator.index(color), operator.index(key))

        color, key = self._agreement.reach('split', prepare)
        other = type(self).__new__(type(self))
        CommunicatorBase.__init__(other)
        other._mpi = self._mpi
        other._start(self.mpi_comm.Split(color, key))
        for name, value in self._configs.items():
            with other.config_scope():
                setattr(other, name, value)
        return other

    def finalize(self) -> None:
        _leaving.leave(self._agreement)
        if self.mpi_comm != self._mpi.COMM_NULL:
            self.mpi_comm.Free()

    # ---- from one process to another ----

    def send(self, data: tp.Any, dest: int, tag: int) -> None:
        self._agreement.check_present('send')
        refuse_capture('send')
        is_tuple = isinstance(data, tuple | list)
        arrays = tuple(data) if is_tuple else (data,)
        specs = tuple(_arrays.spec_of('send', x) for x in arrays)
        self._check_rank('send', 'dest', dest)
        header = _Header(is_tuple, specs)
        if dest == self._rank:
            # Nobody can receive it before this returns.
            parts = [_arrays.as_bytes(_arrays.to_host(x)).copy() for x in arrays]
            self._own_messages = [r for r in self._own_messages if not r.Test()]
            self._own_messages.append(self.mpi_comm.isend(header, dest, tag))
            for part in parts:
                for i in _mpi.chunks(part.size):
                    self._own_messages.append(self.mpi_comm.Isend(part[i], dest, tag))
            return
        wait = functools.partial(self._agreement.wait_for, 'send', dest, tag)
        wait(self.mpi_comm.isend(header, dest, tag).Test)
        for x in arrays:
            part = _arrays.as_bytes(_arrays.to_host(x))
            for i in _mpi.chunks(part.size):
                wait(self.mpi_comm.Isend(part[i], dest, tag).Test)

    def recv(self, source: int, tag: int) -> tp.Any:
        self._agreement.check_present('recv')
        refuse_capture('recv')
        if source != self._mpi.ANY_SOURCE:
            self._check_rank('recv', 'source', source)
        header, status = self._receive('recv', source, tag)
        if not isinstance(header, _Header):
            raise TypeError(
                f'recv: rank {status.source} sent an object of type {type(header).__name__}, not '
                'arrays; use recv_obj'
            )
        arrays = []
        for spec in header.specs:
            host = np.empty(spec.shape, _arrays.dtype_of(spec))
            part = _arrays.as_bytes(host)
            for i in _mpi.chunks(part.size):
                request = self.mpi_comm.Irecv(part[i], status.source, status.tag)
                self._agreement.wait_for('recv', status.source, status.tag, request.Test)
            arrays.append(_arrays.to_device(host, spec.kind))
        return tuple(arrays) if header.is_tuple else arrays[0]

    def send_obj(self, obj: object, dest: int, tag: int) -> None:
        self._agreement.check_present('send_obj')
        refuse_capture('send_obj')
        self._check_rank('send_obj', 'dest', dest)
        if dest == self._rank:
            self._own_messages = [r for r in self._own_messages if not r.Test()]
            self._own_messages.append(self.mpi_comm.isend(obj, dest, tag))
        else:
            request = self.mpi_comm.isend(obj, dest, tag)
            self._agreement.wait_for('send_obj', dest, tag, request.Test)

    def recv_obj(self, source: int, tag: int) -> tp.Any:
        self._agreement.check_present('recv_obj')
        refuse_capture('recv_obj')
        if source != self._mpi.ANY_SOURCE:
            self._check_rank('recv_obj', 'source', source)
        obj, status = self._receive('recv_obj', source, tag)
        if isinstance(obj, _Header):
            raise TypeError(f'recv_obj: rank {status.source} sent arrays; use recv')
        return obj

    def _receive(self, operation: str, source: int, tag: int) -> tuple[tp.Any, tp.Any]:
        status = self._mpi.Status()
        message = self._agreement.wait_for(
            operation, source, tag, lambda: self.mpi_comm.improbe(source, tag, status)
        )
        request = message.irecv()

        def test() -> tuple[tp.Any] | None:
            is_there, obj = request.test()
            return (obj,) if is_there else None

        (obj,) = self._agreement.wait_for(operation, status.source, status.tag, test)
        return obj, status

    # ---- arrays of all processes ----

    def bcast(self, data: tp.Any, max_buf_len: int | None = None, root: int = 0) -> tp.Any:
        def prepare() -> tuple[object, tuple[_Header | None, list[np.ndarray]]]:
            self._check_rank('bcast', 'root', root)
            if self._rank != root:
                return _rooted(root), (None, [])
            _check_length('bcast', max_buf_len)
            is_tuple = isinstance(data, tuple | list)
            arrays = tuple(data) if is_tuple else (data,)
            specs = tuple(_arrays.spec_of('bcast', x) for x in arrays)
            return _rooted(root), (_Header(is_tuple, specs), [_arrays.to_host(x) for x in arrays])

        header, hosts = self._agreement.reach('bcast', prepare)
        header, max_buf_len = self._inner.bcast((header, max_buf_len), root)
        assert header is not None
        if self._rank != root:
            hosts = [np.empty(s.shape, _arrays.dtype_of(s)) for s in header.specs]
        for host in hosts:
            self._inner.bcast_bytes(_arrays.as_bytes(host), root, max_buf_len)
        if self._rank == root:
            return tuple(data) if header.is_tuple else data
        results = [
            _arrays.to_device(host, spec.kind)
            for host, spec in zip(hosts, header.specs, strict=True)
        ]
        return tuple(results) if header.is_tuple else results[0]

    def gather(self, data: NdArray, root: int = 0) -> tp.Any:
        spec, host = self._reach_one('gather', data, root)
        specs = self._inner.gather(spec, root)
        if self._rank != root:
            self._inner.wait(self._inner.start_send(_arrays.as_bytes(host), root))
            return None
        return self._receive_all(specs, host, data)

    def allgather(self, x: NdArray) -> tuple[tp.Any, ...]:
        spec, host = self._reach_one('allgather', x, None)
        specs = self._inner.allgather(spec)
        hosts = [np.empty(s.shape, _arrays.dtype_of(s)) for s in specs]
        self._inner.allgather_bytes(_arrays.as_bytes(host), [_arrays.as_bytes(h) for h in hosts])
        return tuple(_arrays.like(other, x) for other in hosts)

    def alltoall(self, xs: tp.Sequence[NdArray]) -> tuple[tp.Any, ...]:
        def prepare() -> tuple[object, tuple[list[Spec], list[np.ndarray]]]:
            self._check_count('alltoall', xs)
            specs = [_arrays.spec_of('alltoall', x) for x in xs]
            return None, (specs, [_arrays.to_host(x) for x in xs])

        specs, hosts = self._agreement.reach('alltoall', prepare)
        theirs = self._inner.alltoall(specs)
        requests = self._start_to_send(hosts)
        return self._receive_all(theirs, hosts[self._rank], xs[self._rank], requests)

    def scatter(self, xs: tp.Sequence[NdArray] | None, root: int = 0) -> tp.Any:
        def prepare() -> tuple[object, tuple[list[Spec] | None, list[np.ndarray]]]:
            self._check_rank('scatter', 'root', root)
            if self._rank != root:
                return _rooted(root), (None, [])
            self._check_count('scatter', xs)
            assert xs is not None
            specs = [_arrays.spec_of('scatter', x) for x in xs]
            return _rooted(root), (specs, [_arrays.to_host(x) for x in xs])

        specs, hosts = self._agreement.reach('scatter', prepare)
        spec = self._inner.scatter(specs, root)
        if self._rank != root:
            host = np.empty(spec.shape, _arrays.dtype_of(spec))
            self._inner.wait(self._inner.start_recv(_arrays.as_bytes(host), root))
            return _arrays.to_device(host, spec.kind)
        self._inner.wait(self._start_to_send(hosts))
        assert xs is not None
        return xs[root]

    def allreduce(self, data: NdArray) -> tp.Any:
        def prepare() -> tuple[object, np.ndarray]:
            spec = _arrays.spec_of('allreduce', data)
            return f'{spec}', _arrays.to_host(data).copy()  # which the result is written to

        host = self._agreement.reach('allreduce', prepare)
        return _arrays.like(self._sum(host), data)

    def _sum(self, host: np.ndarray) -> np.ndarray:
        """The sum over all processes; the array is written to."""
        if self._size == 1 or host.size == 0:
            return host
        dtype = host.dtype
        if dtype.kind == 'V' or dtype == np.float16:  # MPI has none of them
            host = host.astype(np.float32)
        flat = host.reshape(-1)
        op = self._mpi.LOR if dtype == np.bool_ else self._mpi.SUM
        self._inner.allreduce(flat, op)
        return host.astype(dtype, copy=False)

    def _reach_one(self, operation: str, x: NdArray, root: int | None) -> tuple[Spec, np.ndarray]:
        """Prepares an operation on an array of each process; all have one dtype."""

        def prepare() -> tuple[object, tuple[Spec, np.ndarray]]:
            if root is not None:
                self._check_rank(operation, 'root', root)
            spec = _arrays.spec_of(operation, x)
            return f'{spec.dtype}, {_rooted(root)}', (spec, _arrays.to_host(x))

        return self._agreement.reach(operation, prepare)

    def _receive_all(
        self,
        specs: list[Spec],
        own: np.ndarray,
        x: NdArray,
        requests: tp.Sequence[tp.Any] = (),
    ) -> tuple[tp.Any, ...]:
        """Receives an array of each other process, and waits for that and for ``requests``."""
        hosts, waiting = [], list(requests)
        for rank, spec in enumerate(specs):
            if rank == self._rank:
                hosts.append(own.copy())
                continue
            hosts.append(np.empty(spec.shape, _arrays.dtype_of(spec)))
            waiting += self._inner.start_recv(_arrays.as_bytes(hosts[-1]), rank)
        self._inner.wait(waiting)
        return tuple(_arrays.like(host, x) for host in hosts)

    def _start_to_send(self, hosts: list[np.ndarray]) -> list[tp.Any]:
        """Sends each other process the array for it."""
        parts = [_arrays.as_bytes(host) for host in hosts]
        return [
            r for rank in self._inner.others() for r in self._inner.start_send(parts[rank], rank)
        ]

    # ---- objects of all processes ----

    def bcast_obj(self, obj: object, max_buf_len: int | None = None, root: int = 0) -> tp.Any:
        def prepare() -> tuple[object, bytes]:
            self._check_rank('bcast_obj', 'root', root)
            if self._rank != root:
                return _rooted(root), b''
            _check_length('bcast_obj', max_buf_len)
            return _rooted(root), pickle.dumps(obj, 5)

        text = self._agreement.reach('bcast_obj', prepare)
        if self._size == 1:
            return obj
        part = np.frombuffer(text, np.uint8)
        n, max_buf_len = self._inner.bcast((part.size, max_buf_len), root)
        if self._rank != root:
            part = np.empty(n, np.uint8)
        self._inner.bcast_bytes(part, root, max_buf_len)
        return obj if self._rank == root else pickle.loads(part)  # type: ignore[arg-type]

    def gather_obj(self, obj: object, root: int = 0) -> list[tp.Any] | None:
        text = self._reach_obj('gather_obj', obj, root)
        gathered = self._inner.gather(text, root)
        return None if gathered is None else self._load_all(gathered, obj)

    def allgather_obj(self, obj: object) -> list[tp.Any]:
        """Brings objects of all processes to all.

        Args:
            obj: That of this process.

        Returns:
            list: By rank.
        """
        return self._load_all(self._inner.allgather(self._reach_obj('allgather_obj', obj)), obj)

    def allreduce_obj(self, obj: tp.Any) -> tp.Any:
        everyone = self._load_all(self._inner.allgather(self._reach_obj('allreduce_obj', obj)), obj)
        return functools.reduce(operator.add, everyone)

    def _reach_obj(self, operation: str, obj: object, root: int | None = None) -> bytes:
        """Pickles an object of each process: if one of them can't be, all hear of it."""

        def prepare() -> tuple[object, bytes]:
            if root is not None:
                self._check_rank(operation, 'root', root)
            return _rooted(root), pickle.dumps(obj, 5) if self._size > 1 else b''

        return self._agreement.reach(operation, prepare)

    def _load_all(self, texts: list[bytes], own: object) -> list[tp.Any]:
        return [own if i == self._rank else pickle.loads(text) for i, text in enumerate(texts)]

    # ---- models ----

    def _groups(self, items: list[tp.Any]) -> list[list[tp.Any]]:
        """Which parameters, or their gradients, are sent at once: those of a dtype and device."""
        return _model.group(items)

    def bcast_data(self, model: Link) -> None:
        items = self._agreement.reach('bcast_data', lambda: _model.arrays_of(model))
        if self._size == 1:
            return
        for group in self._groups(items):
            flat = _model.join(group)
            self._inner.bcast_bytes(_arrays.as_bytes(flat), 0)
            if self._rank != 0:
                _model.write_back(group, flat)

    def multi_node_mean_grad(self, model: Link, zero_fill: bool = False) -> None:
        items = self._agreement.reach(
            'multi_node_mean_grad', lambda: _model.gradients_of(model, zero_fill)
        )
        if self._size == 1:
            return
        for group in self._groups(items):
            _model.set_gradients(group, self._mean(_model.join(group)))

    def _mean(self, flat: np.ndarray) -> np.ndarray:
        dtype = flat.dtype
        if dtype.kind == 'V' or dtype == np.float16:
            flat = flat.astype(np.float32)
        flat = self._sum(flat)
        flat /= self._size
        return flat.astype(dtype, copy=False)

    # ---- checks ----

    def _check_rank(self, operation: str, name: str, rank: int) -> None:
        if not 0 <= operator.index(rank) < self._size:
            raise ValueError(f'{operation}: {name} is {rank}, and there are {self._size} processes')

    def _check_count(self, operation: str, xs: object) -> None:
        if not isinstance(xs, tuple | list):
            raise TypeError(
                f'{operation}: expected a tuple of an array for each process, got '
                f'{type(xs).__name__}'
            )
        if len(xs) != self._size:
            raise ValueError(
                f'{operation}: got {len(xs)} arrays, and there are {self._size} processes'
            )


def _duplicate(comm: tp.Any) -> tp.Any:
    """A communicator of mpi4py of the same processes, which must all call this."""
    duplicate, request = comm.Idup()
    _mpi.wait(request.Test, comm, 'create_communicator for all processes')
    return duplicate


def _check_length(operation: str, max_buf_len: int | None) -> None:
    if max_buf_len is not None and operator.index(max_buf_len) < 1:
        raise ValueError(f'{operation}: max_buf_len is {max_buf_len}, expected 1 or more')


def _rooted(root: int | None) -> str:
    return f'root {root}'
