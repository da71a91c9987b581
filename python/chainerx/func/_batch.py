"""Batches: the objects that represent the examples of vmap, and the dispatch of calls to rules.

A batch is an array, or another batch, of one more axis at its front, which the function does not
see. Levels number the vmaps that lie inside one another; the batch of the innermost is outside.
"""

from __future__ import annotations

import collections.abc as c
import inspect
import threading
import typing as tp

import numpy as np

import chainerx
from chainerx import _core
from chainerx.func import _tree

if tp.TYPE_CHECKING:
    from chainerx._typing import Argument, Index, Operand, Routine, Tree


class Observer:
    """Sees each call with batches of a level, in the place of batching rules.

    Batches of the level have one example each, and no axis for it. `chainerx.onnx.export` finds in
    this way what a function does.
    """

    #: What errors call it.
    name = ''
    #: What they call a batch.
    what = ''

    def call(self, name: str, function: Routine, args: Argument, kwargs: Argument) -> tp.Any:
        """Calls a routine; an array among the results is a batch of the level."""
        raise NotImplementedError

    def write(self, x: Batched, name: str, function: Routine, other: Operand) -> None:
        """Runs an operator such as ``+=``, that of a routine, which writes to a batch."""
        raise NotImplementedError

    def shape(self, x: Batched) -> tuple[int, ...]:
        """The shape that the function sees."""
        raise NotImplementedError

    def refuse(self, what: str, instead: str) -> tp.NoReturn:
        """Raises the error of a value that a function asks for."""
        raise NotImplementedError


class Level:
    """One vmap that is running.

    Where a function is called at one point for many directions, as for a matrix of derivatives, it
    is `uniform`: examples are all equal, and their values are known.
    """

    __slots__ = ('active', 'afterwards', 'number', 'observer', 'randomness', 'size', 'uniform')

    def __init__(
        self,
        number: int,
        size: int,
        randomness: str,
        uniform: bool,
        observer: Observer | None = None,
    ) -> None:
        self.number = number
        self.size = size
        self.randomness = randomness
        self.uniform = uniform
        self.active = True
        self.observer = observer
        self.afterwards: list[c.Callable[[], object]] = []  # run once the function has returned


class _State(threading.local):
    def __init__(self) -> None:
        self.levels: list[Level] = []


state = _State()


def _refuse(x: Batched, what: str, instead: str) -> tp.NoReturn:
    if x.level.observer is not None:
        x.level.observer.refuse(what, instead)
    raise TypeError(
        f'vmap: {what} of a batch is not known while the function runs, as each example has its '
        f'own; {instead}'
    )


_CONTROL = 'use chainerx.where in the place of Python control flow'


class Batched:
    """Represents an array for each example; looks like the array of one example."""

    __slots__ = ('__weakref__', 'array', 'level', 'note')

    def __init__(self, array: Operand, level: Level) -> None:
        self.array = array
        self.level = level
        self.note: tp.Any = None  # an observer's

    # isinstance(x, chainerx.ndarray) holds, as for an example.
    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return chainerx.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        if self.level.observer is not None:
            return self.level.observer.shape(self)
        return tuple(self.array.shape[1:])

    @property
    def ndim(self) -> int:
        return int(self.array.ndim) - (self.level.observer is None)

    @property
    def size(self) -> int:
        n = 1
        for length in self.shape:
            n *= length
        return n

    @property
    def nbytes(self) -> int:
        return self.size * int(self.array.itemsize)

    @property
    def dtype(self) -> Operand:
        return self.array.dtype

    @property
    def itemsize(self) -> int:
        return int(self.array.itemsize)

    @property
    def device(self) -> chainerx.Device:
        return tp.cast(chainerx.Device, self.array.device)

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError('len() of a 0-dimensional chainerx.ndarray')
        return self.shape[0]

    def __iter__(self) -> c.Iterator[Operand]:
        if self.ndim == 0:
            raise TypeError('iteration over a 0-dimensional chainerx.ndarray')
        return (self[i] for i in range(len(self)))  # type: ignore[index]

    def __str__(self) -> str:
        x = example(self)
        return repr(self) if x is self else str(x)

    def __repr__(self) -> str:
        x = example(self)
        if x is not self:
            return repr(x)
        if (observer := self.level.observer) is not None:
            return f'<{observer.what} of shape {tuple(self.array.shape)}, dtype {self.dtype}>'
        return (
            f'<batch of {self.level.size} arrays of shape {self.shape}, dtype {self.dtype}, '
            f'at level {self.level.number} of vmap>'
        )

    # Routines call these, too, before they detect batches: they must raise, or derivatives are
    # lost.
    def __bool__(self) -> bool:
        _refuse(self, 'the truth value', _CONTROL)

    def __int__(self) -> int:
        _refuse(self, 'the integer', _CONTROL)

    def __index__(self) -> int:
        _refuse(
            self, 'the integer', 'index with the batch itself, as in x[i] or chainerx.take(x, i)'
        )

    def __float__(self) -> float:
        _refuse(self, 'the number', _CONTROL)

    def __complex__(self) -> complex:
        _refuse(self, 'the number', _CONTROL)

    def __contains__(self, value: Operand) -> bool:
        _refuse(self, 'what is in it', _CONTROL)

    def __array__(self, *_: object, **__: object) -> Operand:
        _refuse(self, 'the NumPy array', 'compute with chainerx')

    def _known(self, what: str, instead: str) -> Operand:
        """The array of one example, if all are equal; raises otherwise."""
        x = example(self)
        if x is self:
            _refuse(self, what, instead)
        return x

    def __format__(self, spec: str) -> str:
        return format(self._known('the text', 'print it as it is'), spec) if spec else str(self)

    def item(self, *args: Argument) -> Operand:
        """The number, if it is the same for all examples."""
        return self._known('the number', _CONTROL).item(*args)

    def tolist(self) -> Operand:
        """The numbers, if they are the same for all examples."""
        return self._known('the list', _CONTROL).tolist()

    def __reduce__(self) -> Operand:
        _refuse(self, 'a copy outside', 'return it from the function')

    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Operand:
        if hasattr(chainerx.ndarray, name) and not name.startswith('__'):
            if self.level.observer is not None:
                _refuse(self, f'the attribute {name}', 'it is no routine')
            raise chainerx.ChainerxError(
                f'vmap: ndarray.{name} is not there for a batch; grad, vjp and jvp take '
                'derivatives of functions inside of vmap'
            )
        raise AttributeError(f"'ndarray' object has no attribute '{name}'")


Rule = c.Callable[..., tp.Any]
# Keys are names of routines, with their module: 'sum', 'linalg.inv', 'ndarray.astype'.
RULES: dict[str, Rule] = {}
# The fallback for routines without a rule: (name, level, function, args, kwargs). Set by _loop.py.
WITHOUT_RULE: list[Rule] = []
# Implements `x.at[index]` if the index or the values are batches. Set by _rules_index.py.
AT: list[Routine] = []
# Rules of routines that draw random numbers, called with the level, the function and its arguments.
# Those without their own rule use that of 'any', and some do not draw at all.
DRAWS: dict[str, Rule] = {}
NO_DRAWS: set[str] = set()
# Rules that handle `out`; it is hidden from the others.
WRITING: set[Rule] = set()
# Methods that call a routine with the array first; the values adapt parameters that differ.
MIRRORS: dict[str, Routine] = {}


def rule(*names: str) -> c.Callable[[Rule], Rule]:
    """Registers a batching rule.

    It is called with the level, the routine and the arguments, in which batches of the level are
    still `Batched`, and returns arrays whose first axis is the batch.
    """

    def register(function: Rule) -> Rule:
        for name in names:
            RULES[name] = function
        return function

    return register


# The order of Binding::Kind, in cpp/chainerx/python/bind.h.
_PREFIXES = ('', 'ndarray.', 'random.', 'random.', 'random.', 'linalg.', 'special.', 'fft.')


def full_name(kind: int, name: str) -> str:
    """The name of a routine with its module, derived from the kind of its binding."""
    return _PREFIXES[kind] + name


def _find(kind: int, name: str) -> tuple[str, Routine]:
    prefix = _PREFIXES[kind]
    owner: tp.Any = _core
    if prefix:
        owner = chainerx.ndarray if prefix == 'ndarray.' else getattr(_core, prefix[:-1])
    return full_name(kind, name), getattr(owner, name)


def innermost(*trees: Tree) -> Level | None:
    """The level that a call with these arguments belongs to."""
    found: Level | None = None
    for tree in trees:
        kind = type(tree)
        level: Level | None
        if kind is Batched:
            level = tree.level
            if not level.active:
                name = 'vmap' if level.observer is None else level.observer.name
                raise chainerx.ChainerxError(
                    f'{name}: a batch is used outside of the function that {name} has called; '
                    'return it from there'
                )
        elif kind is tuple or kind is list:
            level = innermost(*tree)
        elif kind is slice:
            level = innermost(tree.start, tree.stop, tree.step)
        else:
            continue
        if level is not None and (found is None or level.number > found.number):
            found = level
    return found


def call(name: str, function: Routine, args: Argument, kwargs: Argument) -> Operand:
    """Calls a routine by the rule for its innermost level."""
    level = innermost(*args, *kwargs.values()) if kwargs else innermost(*args)
    if level is None:
        return function(*args, **kwargs)
    if level.observer is not None:
        return level.observer.call(name, function, args, kwargs)
    batching = RULES.get(name)
    if batching is None:
        return WITHOUT_RULE[0](name, level, function, args, kwargs)
    if batching not in WRITING:
        args, kwargs = _without_out(name, function, args, kwargs)
    try:
        result = batching(level, function, *args, **kwargs)
    except _OF_ARGUMENTS as error:
        plain = of_example(error, level, function, args, kwargs)
        if plain is error:
            raise
        raise plain from None
    return wrap(result, level)


_OF_ARGUMENTS = (chainerx.ChainerxError, IndexError, TypeError, ValueError)


def of_example(
    error: Exception, level: Level, function: Routine, args: Argument, kwargs: Argument
) -> Exception:
    """The error of a call with batches as that of one example, whose shapes the user knows."""
    # User functions are not called again, and errors that depend on values name no shapes.
    if str(error).startswith('vmap: ') or any(callable(x) for x in (*args, *kwargs.values())):
        return error
    for i in range(min(level.size, 16)):
        try:
            function(*pick(args, level, i, True), **pick(kwargs, level, i, True))
        except _OF_ARGUMENTS as plain:
            return plain
    return error


def pick(x: Operand, level: Level, i: int, copy: bool = False) -> Operand:
    """The arguments of one example; with `copy`, as copies that a call may write to."""
    if is_batch(x, level):
        y = x.array if level.observer is not None else x.array[i]
        return y.copy() if copy else y
    if copy and is_array(x):
        return x.copy()
    if type(x) in (list, tuple):
        return type(x)([pick(y, level, i, copy) for y in x])
    if type(x) is dict:
        return {k: pick(v, level, i, copy) for k, v in x.items()}
    if type(x) is slice:
        return slice(*[pick(y, level, i, copy) for y in (x.start, x.stop, x.step)])
    return x


def _without_out(name: str, function: Routine, args: Argument, kwargs: Argument) -> Operand:
    """The arguments without `out`, which must be None; those after it become keywords."""
    at, behind = _place_of_out(name, function)
    out = None
    if 'out' in kwargs:
        kwargs = dict(kwargs)
        out = kwargs.pop('out')
    elif at is not None and len(args) > at:
        out = args[at]
        kwargs = {**dict(zip(behind, args[at + 1 :], strict=False)), **kwargs}
        args = args[:at]
    if out is not None:
        raise chainerx.NotImplementedError(
            f'vmap: {name} of a batch does not write to `out`, expected None'
        )
    return args, kwargs


_places_of_out: dict[str, tuple[int | None, list[str]]] = {}


def _place_of_out(name: str, function: Routine) -> tuple[int | None, list[str]]:
    """The index of `out` among the positional arguments, and the parameters after it."""
    if name not in _places_of_out:
        try:
            parameters = inspect.signature(function).parameters.values()
        except ValueError:  # not a routine of the library
            parameters = {}.values()
        names = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        at = names.index('out') if 'out' in names else None
        _places_of_out[name] = (at, [] if at is None else names[at + 1 :])
    return _places_of_out[name]


def wrap(result: Tree, level: Level) -> Operand:
    """Wraps the result of a rule in batches."""
    if isinstance(result, (list, tuple)):
        return _tree.make(type(result), [wrap(y, level) for y in result])
    return Batched(result, level) if is_array(result) else result


def unwrap(result: Tree, level: Level) -> Operand:
    """Undoes `wrap`: arrays as rules return them; values equal for all examples are broadcast."""
    if isinstance(result, (list, tuple)):
        return _tree.make(type(result), [unwrap(y, level) for y in result])
    return full(result, level) if is_array(result) else result


def composed(*names: str) -> c.Callable[[Rule], Rule]:
    """Registers a function of the routine's own arguments that is composed of other routines."""

    def register(function: Rule) -> Rule:
        def batching(level: Level, _: object, *args: Argument, **kwargs: Argument) -> Operand:
            return unwrap(function(*args, **kwargs), level)

        rule(*names)(batching)
        return function

    return register


def by_examples(
    name: str, level: Level, function: Routine, args: Argument, kwargs: Argument
) -> Operand:
    """Runs example by example, with the warning: for arguments that a rule does not support."""
    return unwrap(WITHOUT_RULE[0](name, level, function, args, kwargs), level)


def _call(kind: int, name: str, owner: object, args: Argument, kwargs: Argument) -> Operand:
    full, function = _find(kind, name)
    if full.startswith('ndarray.'):
        if name in MIRRORS:
            return MIRRORS[name](owner, *args, **kwargs)
        args = (owner, *args)
    return call(full, function, args, kwargs)


def _draw(kind: int, name: str, generator: object, args: Argument, kwargs: Argument) -> Operand:
    levels = state.levels
    full = full_name(kind, name)
    by_key = kwargs.get('key') is not None or (full == 'dropout' and args[2:] not in ((), (None,)))
    if not levels or full in NO_DRAWS or by_key:
        return NotImplemented
    # A function of chainerx.random, or a method of a Generator.
    function = getattr(generator, name) if generator is not None else _find(kind, name)[1]
    level = levels.pop()  # draws by the rule belong to the outer levels
    try:
        if level.observer is not None:
            level.observer.refuse(
                f'what {full} draws', 'draw outside of the function, and give it as an argument'
            )
        if level.randomness == 'error':
            raise chainerx.ChainerxError(
                f'vmap: {full} draws random numbers; say randomness="different" for other ones in '
                'each example, or randomness="same"'
            )
        return DRAWS.get(full, DRAWS['any'])(level, function, *args, **kwargs)
    finally:
        levels.append(level)


# ---- for rules ----------------------------------------------------------------------------------


def is_batch(x: Operand, level: Level) -> bool:
    """Whether it is a batch of exactly this level; batches of others are treated as arrays."""
    return type(x) is Batched and x.level is level


def need_batch(op: str, x: Operand, level: Level) -> None:
    """Raises if the array that is written to is the same for all examples."""
    if not is_batch(x, level):
        raise chainerx.ChainerxError(_WRITE.format(op))


_WRITE = (
    'vmap: {} would write other values for each example into an array that is the same for all of '
    'them; compute a new one, or write to a copy that is a batch'
)


def _refuse_write(op: str, value: Operand) -> tp.NoReturn:
    level = innermost(value)
    if level is not None and level.observer is not None:
        what = level.observer.what
        raise chainerx.ChainerxError(
            f'{level.observer.name}: {op} would write a {what} into an array that does not depend '
            'on them; compute a new one, as chainerx.concatenate and x.at[index].set(value) do'
        )
    raise chainerx.ChainerxError(_WRITE.format(op))


def example(x: Operand) -> Operand:
    """One example of a batch whose examples are all equal; other values unchanged."""
    while type(x) is Batched and x.level.uniform and x.level.size:
        x = x.array[0]
    return x


def is_array(x: Operand) -> bool:
    """Whether it is an array or a batch."""
    return type(x) is Batched or type(x) is chainerx.ndarray


def conditions(x: Operand, others: tp.Any) -> Operand:
    """`x`; a list or NumPy array beside others becomes an array, since its axes count."""
    if not isinstance(x, (list, tuple, np.ndarray)):
        return x
    return chainerx.asarray(x, device=next(y.device for y in others if is_array(y)))


def spread(x: Operand, n: int, at: int = 0) -> Operand:
    """Repeats it `n` times along a new axis; a view."""
    shape = x.shape
    return chainerx.broadcast_to(chainerx.expand_dims(x, at), (*shape[:at], n, *shape[at:]))


def full(x: Operand, level: Level) -> Operand:
    """The value with the batch axis in front, whether it is a batch or the same for all."""
    return x.array if is_batch(x, level) else spread(x, level.size)


def lift(x: Operand, level: Level, ndim: int) -> Operand:
    """The array of a batch, with axes of length 1 inserted so that each example has `ndim` axes."""
    if type(x) is not Batched or x.level is not level:
        return x
    array = x.array
    missing = ndim + 1 - array.ndim
    if missing <= 0:
        return array
    size, *shape = array.shape
    return chainerx.reshape(array, (size, *(1,) * missing, *shape))


# ---- for the other transforms -------------------------------------------------------------------


def active_levels() -> list[Level]:
    """The vmaps that this thread is in, the outermost first."""
    return list(state.levels)


def observer() -> Observer | None:
    """The innermost observer of what this thread does."""
    for level in reversed(state.levels):
        if level.observer is not None:
            return level.observer
    return None


class at_levels:
    """Runs code as if in these vmaps, which were running when it was first called."""

    def __init__(self, levels: list[Level]) -> None:
        self.levels = levels

    def __enter__(self) -> None:
        self.saved = state.levels
        self.active = [level.active for level in self.levels]
        state.levels = list(self.levels)
        for level in self.levels:
            level.active = True
        _core._count_vmaps(len(self.levels))

    def __exit__(self, *_: object) -> None:
        _core._count_vmaps(-len(self.levels))
        for level, active in zip(self.levels, self.active, strict=True):
            level.active = active
        state.levels = self.saved


def lower(x: Operand, levels: list[Level]) -> Operand:
    """The plain array of a value, with one axis for each level, the outermost first."""
    for level in reversed(levels):
        x = full(x, level)
    return x


def raise_(x: Operand, levels: list[Level]) -> Operand:
    """Undoes `lower`."""
    for level in levels:
        x = Batched(x, level)
    return x


def lower_all(xs: list[Operand], levels: list[Level]) -> list[Operand]:
    """`lower` of each; the same list where there is no vmap."""
    return [lower(x, levels) for x in xs] if levels else xs


def raise_all(xs: list[Operand], levels: list[Level]) -> list[Operand]:
    """Undoes `lower_all`."""
    return [raise_(x, levels) for x in xs] if levels else xs


def flatten_arrays(tree: Tree, what: str, *names: object) -> tuple[list[Operand], _tree.Structure]:
    """The leaves, each of which must be an array; `what` is a format of `names`."""
    if type(tree) is chainerx.ndarray:
        return [tree], _tree.LEAF
    leaves, structure = _tree.flatten(tree)
    for leaf in leaves:
        if not is_array(leaf):
            raise TypeError(
                f'{what.format(*names)} has a leaf of type {type(leaf).__name__}, expected a '
                'chainerx.ndarray, or tuples, lists and dicts of them'
            )
    return leaves, structure


@rule('to_numpy')
def _to_numpy(
    level: Level, function: Routine, x: Operand, *args: Argument, **kwargs: Argument
) -> Operand:
    return function(x._known('the NumPy array', 'compute with chainerx'), *args, **kwargs)


def _at(x: Operand, index: Index) -> Operand:
    return AT[0](x, index)


_core._set_batching(Batched, _call, _draw, _at, _refuse_write)
