"""Observes the use of GPUs for a doctor: waits, copies, kernels, dtypes, graphs of evaluations."""

from __future__ import annotations

import collections
import itertools
import json
import linecache
import math
import os
import pathlib
import sys
import types
import typing as tp
import weakref

import chainerx
from chainerx import cuda, profiler

from chainer import configuration
from chainer._diagnostics.doctor.finding import Finding, shorten
from chainer._diagnostics.doctor.growth import PACKAGES
from chainer._graph import debug
from chainer.backends._chainerx import ChainerxDevice
from chainer.function_hook import FunctionHook, get_function_hooks
from chainer.iterators import device_prefetch_iterator
from chainer.link import Link

if tp.TYPE_CHECKING:
    from chainer._graph.function_node import FunctionNode
    from chainer._typing import Arrays

_CHAINER: tp.Final = str(pathlib.Path(__file__).resolve().parents[2]) + os.sep
#: What waits or copies there is the doctor's, or cannot be avoided.
_NOT_COUNTED: tp.Final = (
    str(pathlib.Path(__file__).resolve().parent) + os.sep,
    debug.__file__,
    device_prefetch_iterator.__file__,  # which sends ahead
    *(_CHAINER + name for name in ('optimizer.py', '_optim' + os.sep, 'optimizers' + os.sep)),
)
#: Parts that programs use without calling them, by folder.
_PARTS: tp.Final = tuple(
    _CHAINER + os.path.join(*parts) + os.sep
    for parts in (
        ('training', 'extensions'),
        ('training', 'updaters'),
        ('dataset',),
        ('iterators',),
    )
)
#: Fewer iterations say nothing about "each".
_LEAST_ITERATIONS: tp.Final = 4
#: Bytes per iteration whose copy takes longer than a launch.
_LEAST_BATCH: tp.Final = 1 << 16
#: Kernels of fewer numbers take less time on the GPU than on the host.
_FEW_NUMBERS: tp.Final = 1 << 16
_MANY_KERNELS: tp.Final = 300
#: Multiplications of a product that tensor cores would speed up.
_LARGE_PRODUCT: tp.Final = 1 << 27
_PRODUCTS: tp.Final = ('Matmul', 'Linear', 'RectifiedLinear', 'LinearParamGrad')


class Place(tp.NamedTuple):
    """A line of the program, and what of chainer waited or copied for it."""

    file: str
    line: int
    part: str

    def __str__(self) -> str:
        part = f', in {self.part}' if self.part else ''
        text = linecache.getline(self.file, self.line).strip()
        return f'{self.file}:{self.line}{part}: {text}'


def place_of(frame: types.FrameType | None) -> Place | None:
    """Return the innermost line that is not of a package; None for what is not to be counted.

    Args:
        frame (frame): Where to begin.
    """
    part = ''
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(_NOT_COUNTED) or frame.f_code.co_name == '_check_in_debug_mode':
            return None
        if not file.startswith((*PACKAGES, '<')):
            return Place(file, frame.f_lineno, part)
        if file.startswith(_PARTS):  # the outermost one
            part = frame.f_code.co_qualname.partition('.')[0]
        frame = frame.f_back
    return None


class _Functions(FunctionHook):
    """Sees dtypes of inputs, and graphs of evaluations that nobody differentiates."""

    name = 'DoctorGpu'

    def __init__(self) -> None:
        self.is_float64_wanted = False
        self.float64: dict[Place, str] = {}
        self._graphs: set[Place] = set()
        self._wanted: set[Place] = set()
        #: Functions of evaluations, and their lines.
        self._undifferentiated: weakref.WeakKeyDictionary[FunctionNode, Place] = (
            weakref.WeakKeyDictionary()
        )

    @property
    def graphs(self) -> list[Place]:
        """The lines of evaluations with graphs that nobody has differentiated."""
        return sorted(self._graphs - self._wanted)

    def forward_preprocess(self, function: FunctionNode, in_data: Arrays) -> None:
        if self.is_float64_wanted or len(self.float64) >= 3:
            return
        for i, x in enumerate(in_data):
            if isinstance(x, chainerx.ndarray) and x.dtype == 'float64' and x.size > 1:
                if x.device.backend.name != 'cuda':
                    continue
                place = place_of(sys._getframe(1))
                if place is not None:
                    self.float64.setdefault(
                        place, f'input {i} of {function.label}, of shape {x.shape}'
                    )
                return

    def forward_postprocess(self, function: FunctionNode, in_data: Arrays) -> None:
        config = configuration.config
        if config.train or not config.enable_backprop:
            return
        on_gpu = any(
            isinstance(x, chainerx.ndarray) and x.device.backend.name == 'cuda' for x in in_data
        )
        if on_gpu and any(x.requires_grad for x in function.inputs or ()):
            place = place_of(sys._getframe(1))
            if place is not None:
                self._graphs.add(place)
                self._undifferentiated[function] = place

    def backward_preprocess(
        self, function: FunctionNode, in_data: Arrays, out_grad: Arrays
    ) -> None:
        place = self._undifferentiated.pop(function, None)
        if place is not None:  # such as the gradient of an input, which somebody wants
            self._wanted.add(place)


class Gpu:
    """What each iteration does with the GPUs on which a model is.

    Nothing is observed before the first iteration is over, which also compiles kernels.
    """

    def __init__(self) -> None:
        self._is_running = False
        self._iterations = 0
        self._now: dict[str, collections.Counter[Place]] = {}
        self._in_each: dict[str, dict[Place, list[int]]] = {'wait': {}, 'write': {}}
        self._functions = _Functions()
        self._hooks: tp.MutableMapping[str, FunctionHook] = {}
        self._profile: profiler.Profile | None = None
        self._rows: list[profiler.Row] = []
        #: How many kernels had been compiled at the end of each iteration; their names, and
        #: those of the ones that were compiled since the first one.
        self._n_kernels: list[int] = []
        self._known: collections.Counter[str] = collections.Counter()
        self._new: collections.Counter[str] = collections.Counter()
        self._elsewhere: list[str] = []

    def end_iteration(self, target: Link) -> None:
        """Counts what the iteration did.

        Args:
            target (Link): The model; nothing is observed unless some of it is on a GPU.
        """
        if not self._is_running:
            self._start(target)
            return
        self._iterations += 1
        for kind, seen in self._in_each.items():
            now, self._now[kind] = self._now[kind], collections.Counter()
            for place, n in list(now.items()):  # other threads may be adding to it
                seen.setdefault(place, []).append(n)
        self._look_for_new_kernels()
        self._look_for_state(target)

    def _start(self, target: Link) -> None:
        devices = {p.device for p in target.params() if isinstance(p.device, ChainerxDevice)}
        if all(device.device.backend.name != 'cuda' for device in devices):
            return
        self._functions.is_float64_wanted = any(p.dtype == 'float64' for p in target.params())
        self._now = {kind: collections.Counter() for kind in self._in_each}
        self._hooks = get_function_hooks()  # of this thread
        self._hooks[self._functions.name] = self._functions
        self._profile = chainerx.profile(group_by='shapes')
        self._profile.__enter__()
        self._known = _kernels()
        self._n_kernels = [self._known.total()]
        cuda._core._cuda._set_access_hook(self._on_access)
        self._is_running = True

    def stop(self) -> None:
        """Ends it."""
        if not self._is_running:
            return
        self._is_running = False
        cuda._core._cuda._set_access_hook(None)
        self._hooks.pop(self._functions.name, None)
        if self._profile is not None:
            self._profile.__exit__()
            self._rows = [r for r in self._profile.rows if r.device.startswith('cuda:')]
            self._profile = None

    def _on_access(self, device: str, kind: str, nbytes: int) -> None:
        place = place_of(sys._getframe(1))
        if place is not None:
            self._now['write' if kind == 'write' else 'wait'][place] += max(nbytes, 1)

    def _look_for_new_kernels(self) -> None:
        known = _kernels()
        self._new += known - self._known
        self._known = known
        self._n_kernels.append(known.total())

    def _look_for_state(self, target: Link) -> None:
        if self._elsewhere:
            return
        for path, param in target.namedparams():
            state = param.update_rule.state if param.update_rule is not None else None
            for name, x in (state or {}).items():
                arrays = x, param.array
                if not all(isinstance(one, chainerx.ndarray) for one in arrays):
                    continue
                if x.device is not param.array.device:
                    place = param.array.device.name
                    self._elsewhere.append(f'{path} is on {place}, its {name!r} on {x.device.name}')

    # ---- what is said ----

    def _places_of_each(self, kind: str) -> dict[Place, list[int]]:
        if self._iterations < _LEAST_ITERATIONS:
            return {}
        seen = self._in_each[kind]
        return {p: amounts for p, amounts in seen.items() if len(amounts) == self._iterations}

    def findings(self) -> tp.Iterator[Finding]:
        """Return the faults so far."""
        waits = [place for place in self._places_of_each('wait') if not place.part]
        if waits:
            yield Finding(
                'waits for the GPU',
                _text('each iteration waits until the GPU has computed all, at', waits),
                'keep losses and scores on the GPU (total += loss.array) and print them every '
                'hundredth iteration; choose by where() in place of `if` and of masks as indices',
            )
        if self._functions.float64:
            lines = [f'{text}: {place}' for place, text in self._functions.float64.items()]
            yield Finding(
                'float64',
                _text('arrays of float64 meet parameters that are not', lines),
                'make the data float32 (x.astype(np.float32)); GPUs compute float64 at a half to a '
                'sixty-fourth of the speed',
            )
        if self._functions.graphs:
            yield Finding(
                'graph of an evaluation',
                _text(
                    'with train=False, graphs that nobody differentiates are made at',
                    self._functions.graphs,
                ),
                'evaluate inside of `with chainer.no_backprop_mode():`, which keeps no results of '
                'functions in memory',
            )
        if self._elsewhere:
            yield Finding(
                'state on another device',
                _text('parameters and states of optimizers are on two devices', self._elsewhere),
                'call model.to_device(device) before the first update',
            )
        growth = [b - a for a, b in itertools.pairwise(self._n_kernels)]
        late = growth[len(growth) // 2 :]
        if len(late) >= _LEAST_ITERATIONS and all(late):
            yield Finding(
                'kernels compiled in each iteration',
                f'{sum(late)} in the last {len(late)} iterations: {shorten(sorted(self._new))}',
                'give numbers that change as arguments, not in the text of a kernel; a text is '
                'compiled once for each dtype and kind of layout',
            )

    def hints(self) -> tp.Iterator[Finding]:
        """Return what costs time, but may be wanted, or cannot be avoided."""
        waits = [place for place in self._places_of_each('wait') if place.part]
        if waits:
            yield Finding(
                'extensions wait for the GPU',
                _text('in each iteration, at', waits),
                'let them be called less often, by trigger=(100, "iteration")',
            )
        writes = self._places_of_each('write')
        places = [p for p, amounts in writes.items() if sum(amounts) / len(amounts) >= _LEAST_BATCH]
        if places:
            lines = [f'{sum(writes[p]) / len(writes[p]) / 1024:.0f} KiB at {p}' for p in places]
            yield Finding(
                'batches are not sent ahead',
                _text('each iteration copies from pageable memory to the GPU', lines),
                'let chainer.iterators.DevicePrefetchIterator send the next batch meanwhile, keep '
                'data on the GPU if it fits, or copy from chainerx.cuda.pinned(x)',
            )
        yield from self._hints_of_kernels()

    def _hints_of_kernels(self) -> tp.Iterator[Finding]:
        rows = [(row, _n_numbers(row)) for row in self._rows]
        n_calls = sum(row.calls for row, _ in rows)
        per_iteration = n_calls / max(self._iterations, 1)
        n_small = sum(row.calls for row, numbers in rows if max(numbers, default=0) < _FEW_NUMBERS)
        if per_iteration >= _MANY_KERNELS and n_small >= 0.9 * n_calls:
            counts: collections.Counter[str] = collections.Counter()
            for row, _ in rows:
                counts[row.name] += row.calls
            names = [f'{n / self._iterations:.0f} {name}' for name, n in counts.most_common(5)]
            yield Finding(
                'many small kernels',
                f'an iteration calls {per_iteration:.0f}, of which {n_small / n_calls:.0%} have '
                f'fewer than {_FEW_NUMBERS:,} numbers: {", ".join(names)}; the host takes longer '
                'for them than the GPU',
                'use larger batches, and functions of whole sequences (NStepLSTM) for loops',
            )
        large = {
            row.name
            for row, numbers in rows
            if row.name.partition('[')[0] in _PRODUCTS
            and set(filter(None, row.dtypes)) == {'float32'}
            and math.prod(sorted(numbers)[-3:]) >= _LARGE_PRODUCT**2
        }
        if large and not cuda.allow_tf32():
            yield Finding(
                'float32 without TF32',
                f'large products are computed in full float32: {shorten(sorted(large))}',
                'call chainerx.cuda.allow_tf32(True) if ten bits of the operands are enough, or '
                'train with mixed precision (chainer.mixed16)',
            )


def _kernels() -> collections.Counter[str]:
    """Return the names of all kernels that were compiled so far, those of users included."""
    text = cuda._plugin().ChainerxCudaSources().decode(errors='replace')
    names = [one['kernel'] for one in json.loads(text)]
    return collections.Counter(names + cuda._kernels.compiled)


def _n_numbers(row: profiler.Row) -> list[int]:
    """Return the sizes of the arrays of a call."""
    return [math.prod(shape) for shape in row.shapes if shape is not None]


def _text(head: str, lines: tp.Sequence[object], most: int = 5) -> str:
    rest = [f'and {len(lines) - most} more'] if len(lines) > most else []
    return '\n'.join([head, *map(str, lines[:most]), *rest])


def explain(error: BaseException) -> Finding | None:
    """Return the finding about arrays on different devices, if an error is about that.

    Args:
        error (Exception): What the program raised.
    """
    text = str(error)
    if not isinstance(error, TypeError | chainerx.DeviceError) or not (
        'move one with ' in text
        or 'convert with chainerx.array' in text
        or ', but the model on ' in text
    ):
        return None
    place = None
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        if not frame.f_code.co_filename.startswith((*PACKAGES, '<')):
            place = Place(frame.f_code.co_filename, traceback.tb_lineno, '')
        traceback = traceback.tb_next
    return Finding(
        'arrays on different devices',
        text if place is None else f'{text}\n{place}',
        'send each batch to the device of the model: x = model.device.send(x); updaters and '
        'evaluators do it, given device=',
    )
