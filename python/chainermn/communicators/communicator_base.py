"""What all communicators have in common for those who use them."""

from __future__ import annotations

import contextlib
import typing as tp

if tp.TYPE_CHECKING:
    from chainer.link import Link
    from chainer.types import NdArray


class CommunicatorBase:
    """Processes that train together; each has a rank.

    Operations on several processes at once (`bcast`, `gather`, ...) must be called by all of them,
    in the same order. Arrays are of NumPy, CuPy or chainerx, of any dtype of numbers, shape and
    strides, and results are of the kind of the argument. Objects are pickled.
    """

    def __init__(self) -> None:
        self._configs: dict[str, object] = {}
        self._within_config_scope = False

    # ---- who and where ----

    @property
    def rank(self) -> int:
        """The number of this process, from 0."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """The number of processes."""
        raise NotImplementedError

    @property
    def intra_rank(self) -> int:
        """The number of this process among those of its machine."""
        raise NotImplementedError

    @property
    def intra_size(self) -> int:
        """The number of processes on this machine."""
        raise NotImplementedError

    @property
    def inter_rank(self) -> int:
        """The number of this machine."""
        raise NotImplementedError

    @property
    def inter_size(self) -> int:
        """The number of machines."""
        raise NotImplementedError

    # ---- settings ----

    def set_config(self, name: str, **kwargs: object) -> None:
        """Changes a setting of the communicator.

        Args:
            name (str): Which.
            **kwargs: Its value.

        Raises:
            ValueError: If there is no such setting.
        """
        raise ValueError(
            f'{type(self).__name__}.set_config: there is no setting {name!r} (with {kwargs})'
        )

    def get_config(self, name: str | None = None) -> tp.Any:
        """The settings that were made.

        Args:
            name (str): One of them; None for all.

        Returns:
            Its value; or a dict of all.

        Raises:
            KeyError: If there is no such setting.
        """
        return dict(self._configs) if name is None else self._configs[name]

    @property
    def within_config_scope(self) -> bool:
        """Whether attributes that are set now are settings, which `split` hands on."""
        return self.__dict__.get('_within_config_scope', False)

    @contextlib.contextmanager
    def config_scope(self) -> tp.Iterator[None]:
        """A context in which attributes that are set are settings; for subclasses."""
        before = self.within_config_scope
        self._within_config_scope = True
        try:
            yield
        finally:
            self._within_config_scope = before

    def __setattr__(self, name: str, value: object) -> None:
        if self.within_config_scope and name != '_within_config_scope':
            self._configs[name] = value
        super().__setattr__(name, value)

    def split(self, color: int, key: int) -> CommunicatorBase:
        """Makes communicators of parts of the processes. All must call it.

        Args:
            color (int): Processes that give the same number are together.
            key (int): They get ranks in the order of these numbers.

        Returns:
            CommunicatorBase: Of the part of this process; of the class of this one.
        """
        raise NotImplementedError

    def finalize(self) -> None:
        """Gives up what the communicator holds. It can't be used after that."""

    # ---- arrays ----

    def send(self, data: tp.Any, dest: int, tag: int) -> None:
        """Sends an array, or several; may wait until they are received.

        Args:
            data (array or tuple of arrays): What.
            dest (int): To which rank.
            tag (int): A number that the receiver can tell messages by; not negative.

        Raises:
            TypeError: If it is something else.
            ValueError: If there is no such rank.
        """
        raise NotImplementedError

    def recv(self, source: int, tag: int) -> tp.Any:
        """Waits for what `send` sends.

        Arrays of a device come to the default device of chainerx, if that is of the same backend,
        else to the first one of it.

        Args:
            source (int): From which rank.
            tag (int): The number that the sender gave.

        Returns:
            array or tuple of arrays: As they were sent.

        Raises:
            TypeError: If an object was sent, by `send_obj`.
            ValueError: If there is no such rank.
        """
        raise NotImplementedError

    def bcast(self, data: tp.Any, max_buf_len: int | None = None, root: int = 0) -> tp.Any:
        """Copies an array, or several, of one process to all.

        Args:
            data (array or tuple of arrays): What; only that of the root counts.
            max_buf_len (int): The most bytes of a message; only that of the root counts.
            root (int): The rank that has it.

        Returns:
            array or tuple of arrays: That of the root.

        Raises:
            TypeError: If it is something else.
            ValueError: If there is no such rank, or ``max_buf_len`` is less than 1.
        """
        raise NotImplementedError

    def gather(self, data: NdArray, root: int = 0) -> tp.Any:
        """Brings arrays of all processes to one. Shapes may differ.

        Args:
            data (array): That of this process.
            root (int): The rank that gets them.

        Returns:
            tuple of arrays: By rank; None in other processes.

        Raises:
            TypeError: If it is no array.
            ValueError: If dtypes differ, or there is no such rank.
        """
        raise NotImplementedError

    def allgather(self, x: NdArray) -> tuple[tp.Any, ...]:
        """Brings arrays of all processes to all. Shapes may differ.

        Args:
            x (array): That of this process.

        Returns:
            tuple of arrays: By rank.

        Raises:
            TypeError: If it is no array.
            ValueError: If dtypes differ.
        """
        raise NotImplementedError

    def alltoall(self, xs: tp.Sequence[NdArray]) -> tuple[tp.Any, ...]:
        """Gives each process the array that is for it, from each process.

        Args:
            xs (sequence of arrays): The one for each rank. Shapes may differ.

        Returns:
            tuple of arrays: By the rank that gave it.

        Raises:
            TypeError: If they are no arrays.
            ValueError: If there are not as many as processes.
        """
        raise NotImplementedError

    def scatter(self, xs: tp.Sequence[NdArray] | None, root: int = 0) -> tp.Any:
        """Gives each process one of the arrays of the root.

        Args:
            xs (sequence of arrays): The one for each rank; only those of the root count.
            root (int): The rank that has them.

        Returns:
            array: The one for this process.

        Raises:
            TypeError: If they are no arrays.
            ValueError: If there are not as many as processes, or there is no such rank.
        """
        raise NotImplementedError

    def allreduce(self, data: NdArray) -> tp.Any:
        """The sum of arrays of all processes. float16 and bfloat16 are added in float32.

        Args:
            data (array): That of this process; all of one shape and dtype.

        Returns:
            array: A new one, the same in all processes.

        Raises:
            TypeError: If it is no array.
            ValueError: If shapes or dtypes differ.
        """
        raise NotImplementedError

    # ---- objects ----

    def send_obj(self, obj: object, dest: int, tag: int) -> None:
        """Sends an object; may wait until it is received.

        Args:
            obj: What.
            dest (int): To which rank.
            tag (int): A number that the receiver can tell messages by.

        Raises:
            ValueError: If there is no such rank.
        """
        raise NotImplementedError

    def recv_obj(self, source: int, tag: int) -> tp.Any:
        """Waits for what `send_obj` sends.

        Args:
            source (int): From which rank.
            tag (int): The number that the sender gave.

        Returns:
            The object.

        Raises:
            TypeError: If an array was sent, by `send`.
            ValueError: If there is no such rank.
        """
        raise NotImplementedError

    def bcast_obj(self, obj: object, max_buf_len: int | None = None, root: int = 0) -> tp.Any:
        """Copies an object of one process to all.

        Args:
            obj: What; only that of the root counts.
            max_buf_len (int): The most bytes of a message; only that of the root counts.
            root (int): The rank that has it.

        Returns:
            The object; that of the root itself there.

        Raises:
            ValueError: If there is no such rank, or ``max_buf_len`` is less than 1.
        """
        raise NotImplementedError

    def gather_obj(self, obj: object, root: int = 0) -> list[tp.Any] | None:
        """Brings objects of all processes to one.

        Args:
            obj: That of this process.
            root (int): The rank that gets them.

        Returns:
            list: By rank; None in other processes.

        Raises:
            ValueError: If there is no such rank.
        """
        raise NotImplementedError

    def allreduce_obj(self, obj: tp.Any) -> tp.Any:
        """Adds objects of all processes by ``+``, in the order of ranks.

        Args:
            obj: That of this process.

        Returns:
            The sum, in all processes.
        """
        raise NotImplementedError

    # ---- models ----

    def bcast_data(self, model: Link) -> None:
        """Writes the parameters of rank 0 into those of all. Parameters without an array stay so.

        Args:
            model (Link): The model.

        Raises:
            ValueError: If models differ in names, shapes or dtypes.
        """
        raise NotImplementedError

    def broadcast_data(self, model: Link) -> None:
        """The old name of `bcast_data`.

        Args:
            model (Link): The model.
        """
        self.bcast_data(model)

    def multi_node_mean_grad(self, model: Link, zero_fill: bool = False) -> None:
        """Replaces the gradient of each parameter by the mean over all processes.

        Args:
            model (Link): The model.
            zero_fill (bool): Whether a parameter without a gradient has one of zeros; else it is
                passed over, and must have none in all processes.

        Raises:
            ValueError: If models differ in names, shapes, dtypes, or in which gradients there are.
        """
        raise NotImplementedError

    def allreduce_grad(self, model: Link, zero_fill: bool = False) -> None:
        """The old name of `multi_node_mean_grad`.

        Args:
            model (Link): The model.
            zero_fill (bool): As there.
        """
        self.multi_node_mean_grad(model, zero_fill)
