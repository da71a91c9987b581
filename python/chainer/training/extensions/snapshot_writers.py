"""How snapshots get into files: at once, in a thread, or in a process.

A file appears under its name when it is complete and on the disk; a writer that is killed leaves at
most a file whose name begins with a dot.
"""

from __future__ import annotations

import contextlib
import os
import queue as queue_module
import signal
import threading
import typing as tp

from chainerx._files import replaced

from chainer.serializers import save_npz

if tp.TYPE_CHECKING:
    from multiprocessing.queues import JoinableQueue

    from chainer._typing import AnyCallable, NdArray

SaveFunction: tp.TypeAlias = tp.Callable[..., tp.Any]
Queue: tp.TypeAlias = 'queue_module.Queue[tp.Any] | JoinableQueue[tp.Any]'


class Writer:
    """Base of writers of snapshots.

    A subclass has ``__call__(filename, outdir, target)``.
    """

    def __init__(self) -> None:
        self._post_save_hooks: list[tp.Callable[[], tp.Any]] = []

    def __call__(self, filename: str, outdir: str, target: dict[str, NdArray]) -> None:
        """Writes a snapshot, or begins to. Overridden.

        Args:
            filename (str): Name of the file.
            outdir (str): Its folder.
            target (dict): The saved state: arrays by key.
        """
        raise NotImplementedError(f'{type(self).__name__}.__call__ is not implemented')

    def finalize(self) -> None:
        """Waits until all is written.

        Raises:
            OSError: Or whatever else went wrong in the background.
        """

    def save(
        self,
        filename: str,
        outdir: str,
        target: dict[str, NdArray],
        savefun: SaveFunction,
        **kwds: tp.Any,
    ) -> None:
        """Writes a file, which appears under its name when it is complete.

        Args:
            filename (str): Its name.
            outdir (str): Its folder.
            target (dict): The saved state.
            savefun (callable): Called with a path and the target; as `save_npz`.
            **kwds: Arguments of ``savefun``.
        """
        save_file(filename, outdir, target, savefun, kwds)
        self._post_save()

    def _add_cleanup_hook(self, hook: tp.Callable[[], object]) -> None:
        self._post_save_hooks.append(hook)

    def _post_save(self) -> None:
        for hook in self._post_save_hooks:
            hook()


def save_file(
    filename: str,
    outdir: str,
    target: tp.Any,
    savefun: SaveFunction,
    kwds: dict[str, tp.Any],
) -> None:
    """Writes a file; the one from before stays whole until it is replaced."""
    path = os.path.join(outdir, filename)
    try:
        with replaced(path) as temporary:
            savefun(temporary, target, **kwds)
    except OSError as error:
        error.add_note(f'while writing the snapshot {path!r}; older snapshots are as they were')
        raise


class SimpleWriter(Writer):
    """Writes at once; training waits.

    Args:
        savefun (callable): Called with a path and the target.
        **kwds: Arguments of ``savefun``.
    """

    def __init__(self, savefun: SaveFunction = save_npz, **kwds: object) -> None:
        super().__init__()
        self._savefun = savefun
        self._kwds = kwds

    def __call__(self, filename: str, outdir: str, target: dict[str, NdArray]) -> None:
        """Writes a snapshot.

        Args:
            filename (str): Name of the file.
            outdir (str): Its folder.
            target (dict): The saved state.
        """
        self.save(filename, outdir, target, self._savefun, **self._kwds)


class StandardWriter(Writer):
    """Base of writers that start a worker for each snapshot. The next one waits for it.

    A subclass has `create_worker`.

    Args:
        savefun (callable): Called with a path and the target.
        **kwds: Arguments of ``savefun``.
    """

    _started = False
    _finalized = False
    _worker: tp.Any = None

    def __init__(self, savefun: SaveFunction = save_npz, **kwds: object) -> None:
        super().__init__()
        self._savefun = savefun
        self._kwds = kwds

    def __call__(self, filename: str, outdir: str, target: dict[str, NdArray]) -> None:
        """Waits for the last snapshot, and begins to write one.

        Args:
            filename (str): Name of the file.
            outdir (str): Its folder.
            target (dict): The saved state.
        """
        self._join()
        self._finalized = False
        worker = self.create_worker(filename, outdir, target, **self._kwds)
        worker.start()
        self._worker = worker  # only now: one that could not start must not be waited for
        self._started = True

    def create_worker(
        self, filename: str, outdir: str, target: dict[str, NdArray], **kwds: object
    ) -> _Thread | _Process:
        """Makes the worker that writes one snapshot. Overridden.

        Args:
            filename (str): Name of the file.
            outdir (str): Its folder.
            target (dict): The saved state.
            **kwds: Arguments of ``savefun``.

        Returns:
            It has ``start``, ``join``, and if it can fail ``check``, which raises then.
        """
        raise NotImplementedError(f'{type(self).__name__}.create_worker is not implemented')

    def finalize(self) -> None:
        """Waits until all is written.

        Raises:
            OSError: Or whatever else went wrong in the background.
        """
        self._join()
        self._finalized = True

    def _join(self) -> None:
        worker, self._worker = self._worker, None
        if worker is None:
            return
        worker.join()
        self._started = False
        check = getattr(worker, 'check', None)
        if check is not None:
            check()
        self._post_save()


class _Thread(threading.Thread):
    """A thread that stores its error for the thread that joins it."""

    def __init__(self, function: AnyCallable, *args: object) -> None:
        # No daemon: the interpreter waits at exit, so that a snapshot is not lost.
        super().__init__(name='snapshot')
        self._function, self._args = function, args
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._function(*self._args)
        except BaseException as error:
            self._error = error

    def check(self) -> None:
        if self._error is not None:
            error, self._error = self._error, None
            raise error


class ThreadWriter(StandardWriter):
    """Writes in a thread, while training goes on.

    Args:
        savefun (callable): Called with a path and the target.
        **kwds: Arguments of ``savefun``.
    """

    def create_worker(
        self, filename: str, outdir: str, target: dict[str, NdArray], **kwds: object
    ) -> _Thread | _Process:
        return _Thread(save_file, filename, outdir, target, self._savefun, kwds)


class _Process:
    """A process that calls a function and reports its error."""

    def __init__(self, what: str, function: AnyCallable, *args: object) -> None:
        import multiprocessing

        self._what = what
        self._receiver, self._sender = multiprocessing.Pipe(duplex=False)
        self._process = multiprocessing.Process(
            target=_run_in_process, args=(self._sender, function, args), daemon=False
        )
        self._error: BaseException | None = None

    def start(self) -> None:
        self._process.start()
        self._sender.close()

    def join(self) -> None:
        if self._receiver.closed:
            return
        try:
            self._error = self._receiver.recv()
        except EOFError:
            self._process.join()
            self._error = RuntimeError(
                f'the process that wrote {self._what} ended with {self._process.exitcode}'
            )
        self._process.join()
        self._receiver.close()

    def check(self) -> None:
        if not self._process.is_alive():
            self.join()
        if self._error is not None:
            error, self._error = self._error, None
            raise error


def _run_in_process(sender: tp.Any, function: AnyCallable, args: tuple[tp.Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the training, which waits for us
    error: BaseException | None = None
    try:
        function(*args)
    except BaseException as caught:
        error = _sendable(caught)
    sender.send(error)
    sender.close()


def _sendable(error: BaseException) -> BaseException:
    import pickle

    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f'{type(error).__name__}: {error}')
    return error


class ProcessWriter(StandardWriter):
    """Writes in another process, while training goes on.

    Args:
        savefun (callable): Called with a path and the target.
        **kwds: Arguments of ``savefun``.
    """

    def create_worker(
        self, filename: str, outdir: str, target: dict[str, NdArray], **kwds: object
    ) -> _Thread | _Process:
        what = f'the snapshot {os.path.join(outdir, filename)!r}'
        return _Process(what, save_file, filename, outdir, target, self._savefun, kwds)


class QueueWriter(Writer):
    """Base of writers with one worker, which takes snapshots from a queue.

    A subclass has `create_queue` and `create_consumer`.

    Args:
        savefun (callable): Called with a path and the target.
        task (callable): Called with file name, folder and target; default: it writes by
            ``savefun``.
    """

    _started = False
    _finalized = False
    _queue: tp.Any = None
    _consumer: tp.Any = None

    def __init__(self, savefun: SaveFunction = save_npz, task: tp.Any = None) -> None:
        super().__init__()
        self._task = self.create_task(savefun) if task is None else task

    def __call__(self, filename: str, outdir: str, target: dict[str, NdArray]) -> None:
        """Puts a snapshot into the queue.

        Args:
            filename (str): Name of the file.
            outdir (str): Its folder.
            target (dict): The saved state.
        """
        if not self._started:
            self._queue = self.create_queue()
            self._consumer = self.create_consumer(self._queue)
            self._consumer.start()
            self._started = True
            self._finalized = False
        check = getattr(self._consumer, 'check', None)
        if check is not None:
            check()
        self._queue.put((self._task, filename, outdir, target))
        # Files that it will write are not there yet: those that are not needed then, stay now.
        self._post_save()

    def create_task(self, savefun: SaveFunction) -> tp.Any:
        """Makes the function that the worker calls for each snapshot.

        Args:
            savefun (callable): Called with a path and the target.

        Returns:
            callable: It takes file name, folder and target.
        """
        return _Task(savefun)

    def create_queue(self) -> Queue:
        """Makes the queue. Overridden."""
        raise NotImplementedError(f'{type(self).__name__}.create_queue is not implemented')

    def create_consumer(self, q: Queue) -> _Thread | _Process:
        """Makes the worker. Overridden.

        Args:
            q: The queue.
        """
        raise NotImplementedError(f'{type(self).__name__}.create_consumer is not implemented')

    def consume(self, q: Queue) -> None:
        """The loop of the worker: it runs tasks from the queue until None.

        Args:
            q: The queue.

        Raises:
            OSError: Or whatever else went wrong, after the queue was emptied.
        """
        consume(q)

    def finalize(self) -> None:
        """Waits until all is written, and ends the worker.

        Raises:
            OSError: Or whatever else went wrong in the background.
        """
        if self._started:
            self._queue.put(None)
            self._consumer.join()
            self._started = False
            consumer, self._consumer, queue, self._queue = self._consumer, None, self._queue, None
            if hasattr(queue, 'cancel_join_thread'):
                # The exit of the program must not wait for items that a killed process has not
                # taken.
                queue.cancel_join_thread()
            self._finalized = True
            self._post_save()
            check = getattr(consumer, 'check', None)
            if check is not None:
                check()
        self._finalized = True


class _Task:
    """Writes a file; an object rather than a function in a function, which no pickle can hold."""

    def __init__(self, savefun: SaveFunction) -> None:
        self._savefun = savefun

    def __call__(self, filename: str, outdir: str, target: tp.Any) -> None:
        save_file(filename, outdir, target, self._savefun, {})


def consume(q: Queue) -> None:
    """Does tasks from a queue, up to None; the first error is raised at the end."""
    failure: BaseException | None = None
    while (item := q.get()) is not None:
        task, filename, outdir, target = item
        try:
            task(filename, outdir, target)
        except BaseException as error:
            failure = failure or error
        del item, target  # not kept until the next one comes
    if failure is not None:
        raise failure


def _consume_in_process(q: Queue) -> None:
    """The same, up to the end of the training's process, too: it may be killed."""
    writer = getattr(q, '_writer', None)
    if writer is not None:
        writer.close()  # while one end for writing is open, there is no end of the file
    with contextlib.suppress(EOFError):
        consume(q)


class ThreadQueueWriter(QueueWriter):
    """Writes in one thread, in order.

    Args:
        savefun (callable): Called with a path and the target.
        task (callable): Called with file name, folder and target; default: it writes by
            ``savefun``.
    """

    def create_queue(self) -> Queue:
        """Makes the queue."""
        return queue_module.Queue()

    def create_consumer(self, q: Queue) -> _Thread | _Process:
        """Makes the thread.

        Args:
            q: The queue.
        """
        return _Thread(self.consume, q)


class ProcessQueueWriter(QueueWriter):
    """Writes in one other process, in order.

    Args:
        savefun (callable): Called with a path and the target.
        task (callable): Called with file name, folder and target; default: it writes by
            ``savefun``.

    Raises:
        pickle.PicklingError: If ``savefun`` or ``task`` cannot be sent to a process.
    """

    def __init__(self, savefun: SaveFunction = save_npz, task: tp.Any = None) -> None:
        import pickle

        super().__init__(savefun, task)
        # raised here, because the queue would only print the error and go on
        pickle.dumps(self._task)

    def create_queue(self) -> Queue:
        """Makes the queue."""
        import multiprocessing

        return multiprocessing.JoinableQueue()

    def create_consumer(self, q: Queue) -> _Thread | _Process:
        """Makes the process.

        Args:
            q: The queue.
        """
        return _Process('snapshots', _consume_in_process, q)
