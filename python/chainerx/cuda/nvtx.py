"""Ranges for NVIDIA's profilers, by the protocol of NVTX 3, without a library of NVIDIA.

A profiler, such as Nsight Systems, names a library in ``$NVTX_INJECTION64_PATH``; it is opened at
the first range. Without one, all of this does nothing. ``CHAINERX_NVTX=1`` or :func:`enable` marks
kernels, and functions and links of chainer.
"""

from __future__ import annotations

import contextlib
import os
import threading
import typing as tp
import warnings

from chainerx._core import kernels

__all__ = ['disable', 'enable', 'is_enabled', 'mark', 'range', 'range_pop', 'range_push']

# Tables of functions by module, of NVTX's nvtxTypes.h: how many identifiers each has.
_SIZES: tp.Final = {1: 16, 2: 9, 3: 15, 4: 7, 5: 16, 6: 7}
_CORE: tp.Final = 1
_MARK, _PUSH, _POP = 2, 9, 11  # those with names of chars
_CALLBACKS, _VERSION_INFO = 1, 3  # tables that a profiler asks for
_VERSION: tp.Final = 3
#: What a push or a pop returns if nobody follows.
_NOBODY: tp.Final = -2
#: The profiler of the driver is asked for only where this file is.
_ADVERTISEMENT: tp.Final = 'nvidia/nvtx/nvtx-cuda.yaml'


class _Tool:
    """The functions that a profiler gives for marks and ranges; None for those that it has not."""

    def __init__(self, initialize: tp.Any) -> None:
        import ctypes

        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        # What the profiler fills in, and the addresses of these places, ended by a null.
        self._slots = {module: (pointer * n)() for module, n in _SIZES.items()}
        self._tables = {}
        for module, slots in self._slots.items():
            start = ctypes.addressof(slots)
            places = [start + i * ctypes.sizeof(pointer) for i, _ in enumerate(slots)][1:]
            self._tables[module] = (pointer * (len(slots) + 1))(None, *places, None)

        @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, pointer, pointer)
        def get_table(module: int, table: int | None, count: int | None) -> int:
            if module not in self._tables:
                return 0
            if count:
                ctypes.c_uint.from_address(count).value = _SIZES[module]
            if table:
                pointer.from_address(table).value = ctypes.addressof(self._tables[module])
            return 1

        @ctypes.CFUNCTYPE(None, ctypes.c_uint32)
        def set_version(version: int) -> None:
            pass

        class Callbacks(ctypes.Structure):
            _fields_ = (('size', size), ('get_table', pointer))

        class VersionInfo(ctypes.Structure):
            _fields_ = (
                ('size', size),
                ('version', ctypes.c_uint32),
                ('reserved', ctypes.c_uint32),
                ('set_version', pointer),
            )

        def address(function: tp.Any) -> int | None:
            return ctypes.cast(function, pointer).value

        exported = {
            _CALLBACKS: Callbacks(ctypes.sizeof(Callbacks), address(get_table)),
            _VERSION_INFO: VersionInfo(
                ctypes.sizeof(VersionInfo), _VERSION, 0, address(set_version)
            ),
        }

        @ctypes.CFUNCTYPE(pointer, ctypes.c_uint32)
        def get_export_table(table: int) -> int | None:
            return ctypes.addressof(exported[table]) if table in exported else None

        # The profiler may call and read them as long as the process lives.
        self._kept = get_table, set_version, exported, get_export_table
        initialize.argtypes = [pointer]
        initialize.restype = ctypes.c_int
        is_there = initialize(address(get_export_table)) != 0
        core = self._slots[_CORE] if is_there else (pointer * _SIZES[_CORE])()
        # They return at once, so the GIL is kept meanwhile.
        text = ctypes.c_char_p
        self.push_address, self.pop_address = core[_PUSH], core[_POP]

        def function(i: int, *types: tp.Any) -> tp.Any:
            found = core[i]
            return ctypes.PYFUNCTYPE(*types)(found) if found else None

        self.mark = function(_MARK, None, text)
        self.push = function(_PUSH, ctypes.c_int, text)
        self.pop = function(_POP, ctypes.c_int)


def _find_initializer() -> tp.Any:
    """The function by which a profiler is started, or None: where NVTX's own header looks."""
    import ctypes

    if path := os.environ.get('NVTX_INJECTION64_PATH'):
        try:
            return ctypes.CDLL(path).InitializeInjectionNvtx2
        except (OSError, AttributeError) as error:
            if path != './.':  # what NVTX's documentation gives for "none"
                warnings.warn(
                    f'NVTX_INJECTION64_PATH is {path!r}, which is no profiler: {error}',
                    stacklevel=4,
                )
        return None
    folders = ['/run', os.environ.get('XDG_RUNTIME_DIR')]
    if not any(
        folder and os.path.exists(os.path.join(folder, _ADVERTISEMENT)) for folder in folders
    ):
        return None
    try:
        get = ctypes.CDLL('libcuda.so.1').cuNvtxGetInjectionInitializer
    except (OSError, AttributeError):  # a driver of before
        return None
    found = ctypes.c_void_p()
    if get(_CORE, ctypes.byref(found)) != 0 or not found.value:
        return None
    return ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(found.value)


class _State:
    """The profiler, once it was looked for, and what is marked for it."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.tool: _Tool | None = None
        self.is_known = False
        self.entered: contextlib.ExitStack | None = None
        #: Functions by which a layer above marks its own calls: they return a context manager.
        self.layers: list[tp.Callable[[], tp.ContextManager[object]]] = []


_state = _State()


def _get_tool() -> _Tool | None:
    if _state.is_known:
        return _state.tool
    with _state.lock:
        if not _state.is_known:
            initialize = _find_initializer()
            _state.tool = None if initialize is None else _Tool(initialize)
            _state.is_known = True
    return _state.tool


def range_push(name: str) -> int:
    """Begins a range inside of those that this thread has begun.

    Parameters
    ----------
    name : str
        What it is called.

    Returns
    -------
    int
        How many are around it; negative if no profiler follows.
    """
    tool = _get_tool()
    return _NOBODY if tool is None or tool.push is None else tool.push(name.encode())


def range_pop() -> int:
    """Ends the innermost range of this thread.

    Returns
    -------
    int
        How many are around it; negative if there was none, or no profiler follows.
    """
    tool = _get_tool()
    return _NOBODY if tool is None or tool.pop is None else tool.pop()


def mark(name: str) -> None:
    """Marks a moment.

    Parameters
    ----------
    name : str
        What it is called.
    """
    tool = _get_tool()
    if tool is not None and tool.mark is not None:
        tool.mark(name.encode())


@contextlib.contextmanager
def range(name: str) -> tp.Iterator[None]:
    """A range around a block, or, as a decorator, around each call of a function.

    Parameters
    ----------
    name : str
        What it is called.
    """
    range_push(name)
    try:
        yield
    finally:
        range_pop()


def is_enabled() -> bool:
    """Return whether kernels, functions and links are marked."""
    return _state.entered is not None


def enable() -> None:
    """Marks all kernels from now on; and functions and links of chainer that this thread calls.

    Kernels have ranges around their calls on the host, of their names; those of functions end in
    ``.forward`` and ``.backward``, and those of links are their class and name. Without a profiler
    it does nothing.
    """
    tool = _get_tool()
    with _state.lock:
        if _state.entered is not None:
            return
        with contextlib.ExitStack() as stack:
            if tool is not None and tool.push is not None and tool.pop is not None:
                hook = kernels.RangeHook(tool.push_address or 0, tool.pop_address or 0)
                hook.install()
                stack.callback(hook.remove)
                for layer in _state.layers:
                    stack.enter_context(layer())
            _state.entered = stack.pop_all()


def disable() -> None:
    """Ends what :func:`enable` has begun."""
    with _state.lock:
        entered, _state.entered = _state.entered, None
    if entered is not None:
        entered.close()


def _add_layer(layer: tp.Callable[[], tp.ContextManager[object]]) -> None:
    """Lets a layer above mark its calls while ranges are enabled."""
    with _state.lock:
        _state.layers.append(layer)
        if _state.entered is not None and _get_tool() is not None:
            _state.entered.enter_context(layer())


def _read_variable() -> None:
    value = os.environ.get('CHAINERX_NVTX', '')
    if value not in ('', '0', '1'):
        raise ValueError(f'CHAINERX_NVTX is {value!r}, expected 0 or 1')
    if value == '1':
        enable()


_read_variable()
