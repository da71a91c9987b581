"""What a function of arrays does, as calls of routines in their order.

The function is called with traced arrays: batches of one example (`func._batch`), whose level has
this observer. So calls arrive here from wherever they come, whether as a routine, an operator or a
method; see docs/internals/onnx_export.md.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
import typing as tp
import weakref

import numpy as np

import chainerx
from chainerx import _core
from chainerx.func import _batch, _tree
from chainerx.onnx._symbols import Length
from chainerx.onnx._writer import NotInOnnxError

if tp.TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from chainerx.func._batch import Batched

    Routine = Callable[..., tp.Any]

_WRITERS = """
    copyto place putmask put put_along_axis fill_diagonal add_at ndarray.__setitem__ ndarray.fill
    ndarray.sort ndarray.partition
"""
#: Routines, and methods, that write to their first argument.
WRITERS: tp.Final = frozenset(_WRITERS.split())
_OF_VALUES = """
    nonzero argwhere flatnonzero bincount intersect1d setdiff1d setxor1d union1d trim_zeros unique
    unique_all unique_counts unique_inverse unique_values
"""
#: Routines whose results have lengths that depend on values.
OF_VALUES: tp.Final = frozenset(_OF_VALUES.split())


@dataclasses.dataclass(eq=False)
class Value:
    """An array that depends on the arguments.

    Attributes:
        is_of_values: Whether lengths of its axes depend on values, not on shapes alone.
    """

    number: int
    shape: tuple[int, ...]
    dtype: np.dtype
    is_of_values: bool = False


@dataclasses.dataclass(eq=False)
class Constant:
    """An array that does not, as it was when a routine had it."""

    array: np.ndarray
    key: tp.Any


@dataclasses.dataclass(eq=False)
class Call:
    """A call of a routine: what it had, and what it gave."""

    name: str
    args: tuple[tp.Any, ...]
    kwargs: dict[str, tp.Any]
    site: str
    results: list[Value] = dataclasses.field(default_factory=list)


#: Stands for the base among the arguments of what made a view.
_BASE: tp.Final = object()


class _Note:
    """What is known of a traced array: its value now, and which one it is a view of."""

    __slots__ = ('base', 'call', 'is_copy', 'stale', 'value')

    def __init__(self, value: Value) -> None:
        self.value = value
        self.base: weakref.ref[Batched] | None = None
        self.call: tuple[str, tp.Any, tp.Any] | None = None  # that made the view
        self.is_copy = False  # of elements that the routine itself shares with the base
        self.stale = ''


class Tracer(_batch.Observer):
    """Sees the calls of one function.

    Args:
        has_open_axes (bool): Whether lengths of axes are to be followed.
        compositions (dict): By the name of a routine, a function that calls others instead.
    """

    name = 'export'
    what = 'value that depends on the arguments'

    def __init__(self, has_open_axes: bool, compositions: tp.Mapping[str, Routine]) -> None:
        levels = _batch.state.levels
        number = levels[-1].number + 1 if levels else 1
        self.level = _batch.Level(number, 1, 'error', False, self)
        self.inputs: list[Value] = []
        self.calls: list[Call] = []
        self._has_open_axes = has_open_axes
        self._compositions = compositions
        self._n_values = 0
        self._live: list[weakref.ref[Batched]] = []
        self.constants: dict[tp.Any, list[Constant]] = {}

    def run(self, function: Routine, args: tp.Any, kwargs: tp.Any) -> tp.Any:
        """Calls the function with traced arrays (from `add_input`)."""
        levels = _batch.state.levels
        _core._count_vmaps(1)
        levels.append(self.level)
        try:
            return function(*args, **kwargs)
        finally:
            self.level.active = False
            levels.remove(self.level)
            _core._count_vmaps(-1)

    def add_input(self, array: chainerx.ndarray) -> Batched:
        """A traced array with the elements of an argument."""
        x = self._traced(array.as_grad_stopped(copy=True), False)
        self.inputs.append(x.note.value)
        return x

    def value_of(self, x: tp.Any) -> Value | Constant:
        """What a result of the function is.

        Raises:
            TypeError: If it is no array.
        """
        found = self._operand(x, _site())
        if not isinstance(found, (Value, Constant)):
            raise TypeError(
                f'export: the result of the function has a leaf of type {type(x).__name__}, '
                'expected a chainerx.ndarray, or tuples, lists and dicts of them'
            )
        return found

    # Of Observer

    def shape(self, x: Batched) -> tuple[int, ...]:
        value = self._value(x)
        if value.is_of_values and value.shape:
            raise NotInOnnxError(
                f'export: {_site()} asks for the shape of an array whose lengths depend on '
                'values; the graph may have others. Routines that need no shape, such as sum, '
                'may use it'
            )
        if not self._has_open_axes:
            return value.shape
        return tuple([Length(n, ('dim', value, i)) for i, n in enumerate(value.shape)])

    def refuse(self, what: str, instead: str) -> tp.NoReturn:
        raise TypeError(
            f'export: {_site()}: {what} is not known to the graph, whose values depend on the '
            f'arguments; {instead}'
        )

    def call(self, name: str, function: Routine, args: tp.Any, kwargs: tp.Any) -> tp.Any:
        site = _site()
        args, kwargs, out = _without_out(name, function, args, kwargs)
        if name in WRITERS:
            return self._write(name, function, args, kwargs, site)
        composition = self._compositions.get(name)
        y = NotImplemented
        if composition is not None:
            y = self._compose(name, function, composition, args, kwargs)
        if y is NotImplemented:
            y = self._record(name, function, args, kwargs, site)
        return y if out is None else self._put_out(name, out, y, site)

    def write(self, x: Batched, name: str, function: Routine, other: tp.Any) -> None:
        site = _site()
        call = self._called(name, (x, other), {}, site)
        array = function(x.array, _batch.pick(other, self.level, 0))
        value = self._new_value(array, any(v.is_of_values for v in _values(call)))
        call.results.append(value)
        self.calls.append(call)
        self._written(x, value, site)

    # Calls

    def _record(
        self, name: str, function: Routine, args: tp.Any, kwargs: tp.Any, site: str
    ) -> tp.Any:
        call = self._called(name, args, kwargs, site)
        picked = [_batch.pick(x, self.level, 0) for x in args]
        result = function(*picked, **_batch.pick(kwargs, self.level, 0))
        leaves, structure = _tree.flatten(result)
        of_values = any(v.is_of_values for v in _values(call)) or _picks(call)
        for i, y in enumerate(leaves):
            if not _batch.is_array(y):
                self.refuse(
                    f'the result of {name}, a {type(y).__name__},',
                    'use routines whose results are arrays',
                )
            leaves[i] = self._traced(y, of_values)
            call.results.append(leaves[i].note.value)
        self.calls.append(call)
        self._find_views(leaves, name, args, kwargs)
        return _tree.unflatten(structure, leaves)

    def _moved(self, x: tp.Any, site: str) -> tp.Any:
        if _batch.is_batch(x, self.level):
            x.note.stale = site
            return x.array.copy()
        return x.copy() if isinstance(x, chainerx.ndarray) else x

    def _compose(
        self, name: str, function: Routine, composition: Routine, args: tp.Any, kwargs: tp.Any
    ) -> tp.Any:
        """Runs the composition; the routine itself checks the arguments, and says the dtypes."""
        parameters = inspect.signature(composition)
        try:
            parameters.bind(*args, **kwargs)
        except TypeError as error:
            unknown = [k for k in kwargs if k not in parameters.parameters]
            what = f'its argument {unknown[0]}' if unknown else f'these arguments ({error})'
            raise NotInOnnxError(
                f'export: {name} ({_site()}): ONNX has no operators for {what}'
            ) from None
        if name == 'batch_norm':  # which moves running statistics; those of the user stay
            args = (*args[:3], *[self._moved(x, _site()) for x in args[3:5]], *args[5:])
        picked = [_batch.pick(x, self.level, 0) for x in args]
        expected = function(*picked, **_batch.pick(kwargs, self.level, 0))
        result = composition(*args, **kwargs)
        if result is NotImplemented:
            return result
        found, _ = _tree.flatten(result)
        leaves, as_expected = _tree.flatten(expected)
        for i, (y, e) in enumerate(zip(found, leaves, strict=True)):
            if tuple(y.note.value.shape if type(y) is _batch.Batched else y.shape) != e.shape:
                raise AssertionError(f'export: {name} has shape {y.shape}, expected {e.shape}')
            if y.dtype != e.dtype:
                found[i] = y.astype(e.dtype)
            self._find_copied(found[i], e, args)
        return _tree.unflatten(as_expected, found)

    def _write(
        self, name: str, function: Routine, args: tp.Any, kwargs: tp.Any, site: str
    ) -> tp.Any:
        target = args[0]
        if not _batch.is_batch(target, self.level):
            _batch._refuse_write(name, (args, *kwargs.values()))
        if name == 'ndarray.__setitem__' and self._is_own_view(target, args[1], args[2]):
            return None
        call = self._called(name, args, kwargs, site)
        picked = [_batch.pick(x, self.level, 0) for x in args]
        function(*picked, **_batch.pick(kwargs, self.level, 0))
        value = self._new_value(target.array, call.args[0].is_of_values)
        call.results.append(value)
        self.calls.append(call)
        self._written(target, value, site)
        return None

    def _put_out(self, name: str, out: tp.Any, y: tp.Any, site: str) -> tp.Any:
        outs = out if isinstance(out, tuple) else (out,)
        ys = y if isinstance(y, tuple) else (y,)
        for target, result in zip(outs, ys, strict=True):
            if target is None:
                continue
            if not _batch.is_batch(target, self.level):
                _batch._refuse_write(name, result)
            if result.dtype != target.dtype:
                result = result.astype(target.dtype)
            self._write('copyto', _core.copyto, (target, result), {}, site)
        return out

    def _called(self, name: str, args: tp.Any, kwargs: tp.Any, site: str) -> Call:
        args = tuple([self._operands(x, site) for x in args])
        return Call(name, args, {k: self._operands(x, site) for k, x in kwargs.items()}, site)

    def _operands(self, x: tp.Any, site: str) -> tp.Any:
        if type(x) in (list, tuple):
            return type(x)([self._operands(y, site) for y in x])
        if type(x) is slice:
            return slice(*[self._operands(y, site) for y in (x.start, x.stop, x.step)])
        return self._operand(x, site)

    def _operand(self, x: tp.Any, site: str) -> tp.Any:
        if _batch.is_batch(x, self.level):
            note = x.note
            if note.stale:
                raise NotInOnnxError(
                    f'export: {site} uses an array that shares memory with another one, to which '
                    f'{note.stale} has written; copy one of them before'
                )
            return note.value
        if isinstance(x, chainerx.ndarray):
            if type(x) is _batch.Batched:
                raise chainerx.ChainerxError(
                    f'export: {site} uses a batch of vmap that began outside of the function'
                )
            return self._constant(x)
        if isinstance(x, np.ndarray):
            return Constant(x.copy(), None)
        return x

    def _value(self, x: Batched) -> Value:
        return tp.cast(Value, self._operand(x, _site()))

    def _constant(self, x: chainerx.ndarray) -> Constant:
        key = key_of(x)
        array = chainerx.to_numpy(x)
        known = self.constants.setdefault(key, [])
        for constant in known:
            # It may have been written to since.
            if constant.array.tobytes() == array.tobytes():
                return constant
        # The array is kept, so that no other one gets its memory.
        known.append(Constant(array, (key, x)))
        return known[-1]

    # Arrays

    def _new_value(self, array: chainerx.ndarray, of_values: bool) -> Value:
        self._n_values += 1
        return Value(self._n_values, tuple(array.shape), array.dtype, of_values)

    def _traced(self, array: chainerx.ndarray, of_values: bool) -> Batched:
        x = _batch.Batched(array, self.level)
        x.note = _Note(self._new_value(array, of_values))
        self._live.append(weakref.ref(x))
        return x

    def _find_views(self, ys: list[Batched], name: str, args: tp.Any, kwargs: tp.Any) -> None:
        bases = [x for x in _arrays((args, *kwargs.values())) if _batch.is_batch(x, self.level)]
        for y in ys:
            for base in bases:
                if _overlap(y.array, base.array):
                    y.note.base = weakref.ref(base)
                    others = tuple([_BASE if x is base else x for x in args])
                    y.note.call = name, others, kwargs
                    break

    def _find_copied(self, y: tp.Any, expected: chainerx.ndarray, args: tp.Any) -> None:
        """Marks a result that is a copy, where that of the routine is a view."""
        for base in _arrays(args):
            if not _batch.is_batch(base, self.level) or not _batch.is_batch(y, self.level):
                continue
            if _overlap(expected, base.array) and not _overlap(y.array, base.array):
                y.note.base = weakref.ref(base)
                y.note.is_copy = True
                y.note.call = '', (), {}

    def _written(self, x: Batched, value: Value, site: str) -> None:
        """Follows a write to all arrays that share the memory."""
        x.note.value = value
        x.note.stale = ''
        known = {id(x)}
        self._live = [ref for ref in self._live if ref() is not None]
        others = [y for y in (ref() for ref in self._live) if y is not None and y is not x]
        others = [y for y in others if _overlap(x.array, y.array) or _is_copy_of(y, x)]
        base = None if x.note.base is None or not x.note.is_copy else x.note.base()
        others += [] if base is None or base in others else [base]
        self._update_bases(x, known, site)
        self._update_views(others, known, site)
        for y in others:
            if id(y) not in known:
                y.note.stale = site

    def _update_bases(self, x: Batched, known: set[int], site: str) -> None:
        note = x.note
        base = None if note.base is None else note.base()
        if base is None or id(base) in known or base.note.stale:
            return
        name, args, _ = note.call
        of_values = base.note.value.is_of_values
        perm = permutation_of(base.array, x.array)
        again: tuple[str, tuple[tp.Any, ...]] | None = None
        if name == 'ndarray.__getitem__':
            again = 'ndarray.__setitem__', (base, args[1], x)
        elif note.is_copy:
            return
        elif perm is not None:
            again = 'transpose', (x, tuple(int(i) for i in np.argsort(perm)))
        elif _place(base.array) == _place(x.array) and _are_whole(base.array, x.array):
            again = 'reshape', (x, self.shape(base))
        if again is None:
            return
        call = self._called(*again, {}, site)
        value = self._new_value(base.array, of_values)
        call.results.append(value)
        self.calls.append(call)
        base.note.value = value
        known.add(id(base))
        self._update_bases(base, known, site)

    def _update_views(self, others: list[Batched], known: set[int], site: str) -> None:
        is_new = True
        while is_new:
            is_new = False
            for y in others:
                base = None if y.note.base is None else y.note.base()
                if id(y) in known or base is None or id(base) not in known:
                    continue
                name, args, kwargs = y.note.call
                if not any(x is _BASE for x in args):
                    continue
                again = tuple([base if x is _BASE else x for x in args])
                call = self._called(name, again, kwargs, site)
                y.note.value = self._new_value(y.array, y.note.value.is_of_values)
                call.results.append(y.note.value)
                self.calls.append(call)
                known.add(id(y))
                is_new = True

    def _is_own_view(self, x: Batched, index: tp.Any, value: tp.Any) -> bool:
        """Whether this is the last step of ``x[i] += y``, which has written to x already."""
        if not _batch.is_batch(value, self.level) or value.note.base is None:
            return False
        if value.note.base() is not x or value.note.call[0] != 'ndarray.__getitem__':
            return False
        return bool(key_of(x.array[index]) == key_of(value.array)) and not x.note.stale


def _site() -> str:
    """The line of the user's that runs, or that of the library's caller."""
    frame: tp.Any = sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame):
        frame = frame.f_back
    return f'{frame.f_code.co_filename}:{frame.f_lineno}'


def _is_ours(frame: tp.Any) -> bool:
    name = str(frame.f_globals.get('__name__'))
    return name == 'chainerx' or name.startswith('chainerx.')


def _arrays(tree: tp.Any) -> Iterable[tp.Any]:
    if isinstance(tree, (list, tuple)):
        for x in tree:
            yield from _arrays(x)
    elif isinstance(tree, dict):
        yield from _arrays(list(tree.values()))
    elif isinstance(tree, slice):
        yield from _arrays((tree.start, tree.stop, tree.step))
    elif isinstance(tree, (Value, Constant)) or _batch.is_array(tree):
        yield tree


def operands_of(call: Call) -> list[Value | Constant]:
    """The values and constants among the arguments of a call."""
    return list(_arrays((call.args, call.kwargs)))


def _values(call: Call) -> list[Value]:
    return [x for x in operands_of(call) if isinstance(x, Value)]


def _picks(call: Call) -> bool:
    """Whether lengths of the results depend on values of the arguments."""
    if call.name == 'ndarray.__getitem__':
        index = call.args[1] if isinstance(call.args[1], tuple) else (call.args[1],)
        return any(isinstance(i, Value) and i.dtype == bool for i in index)
    if call.name == 'where':
        return len(call.args) + len(call.kwargs) == 1
    if call.name in ('compress', 'extract'):
        return isinstance(call.args[0], Value)
    if call.name in ('delete', 'repeat'):
        return any(isinstance(x, Value) for x in (*call.args[1:], *call.kwargs.values()))
    return call.name in OF_VALUES


def key_of(array: chainerx.ndarray) -> tuple[tp.Any, ...]:
    """What arrays have in common that are the same elements of the same memory."""
    shape, strides = tuple(array.shape), tuple(array.strides)
    return (array.device.name, _place(array), shape, strides, array.dtype.name)


def _place(array: chainerx.ndarray) -> int:
    """The address of the first element."""
    return array.data_ptr + array.offset


def permutation_of(base: chainerx.ndarray, view: chainerx.ndarray) -> list[int] | None:
    """The order of axes that makes a view of an array, None if it is no transpose."""
    if _place(base) != _place(view) or base.ndim != view.ndim or base.dtype != view.dtype:
        return None
    axes = list(zip(base.shape, base.strides, strict=True))
    found: list[int] = []
    for pair in zip(view.shape, view.strides, strict=True):
        place = next((i for i, p in enumerate(axes) if p == pair and i not in found), None)
        if place is None:
            return None
        found.append(place)
    return found


def _are_whole(a: chainerx.ndarray, b: chainerx.ndarray) -> bool:
    both = a.is_contiguous and b.is_contiguous
    return bool(both and a.size == b.size and a.dtype == b.dtype)


def _is_copy_of(y: Batched, x: Batched) -> bool:
    return bool(y.note.is_copy and y.note.base() is x)


def _range(array: chainerx.ndarray) -> tuple[int, int]:
    if array.size == 0:
        return (0, 0)
    steps = [(n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)]
    low, high = sum(min(s, 0) for s in steps), sum(max(s, 0) for s in steps)
    return _place(array) + low, _place(array) + high + array.itemsize


def _overlap(a: chainerx.ndarray, b: chainerx.ndarray) -> bool:
    (a0, a1), (b0, b1) = _range(a), _range(b)
    return a.device is b.device and a0 < b1 and b0 < a1


_signatures: dict[str, inspect.Signature | None] = {}


def signature_of(name: str, function: Routine) -> inspect.Signature | None:
    """The parameters of a routine; None for methods and operators."""
    if name not in _signatures:
        try:
            found = None if name.startswith('ndarray.') else inspect.signature(function)
        except ValueError:
            found = None
        _signatures[name] = found
    return _signatures[name]


def _without_out(
    name: str, function: Routine, args: tp.Any, kwargs: tp.Any
) -> tuple[tp.Any, tp.Any, tp.Any]:
    """The arguments without `out`, those that are required by position, others by name.

    Those that are what they are by default are left out.
    """
    signature = signature_of(name, function)
    if signature is None:
        return args, kwargs, None
    bound = signature.bind(*args, **kwargs)
    kinds = signature.parameters
    found: dict[str, tp.Any] = {}
    positional: list[tp.Any] = []
    for key, value in bound.arguments.items():
        kind, default = kinds[key].kind, kinds[key].default
        if kind is inspect.Parameter.VAR_POSITIONAL:
            positional += [*found.values(), *value]  # all before it are needed by position
            found.clear()
        elif kind is inspect.Parameter.VAR_KEYWORD:
            found.update(value)
        elif default is inspect.Parameter.empty and kind is not inspect.Parameter.KEYWORD_ONLY:
            positional.append(value)
        elif not _is_default(value, default):
            found[key] = value
    out = found.pop('out', None)
    return tuple(positional), found, out


def _is_default(value: tp.Any, default: tp.Any) -> bool:
    if value is default:
        return True
    simple = (bool, int, float, str)
    return type(value) is type(default) and isinstance(value, simple) and value == default
