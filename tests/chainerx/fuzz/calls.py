"""Draws the call for a seed and a number, and makes it in either arena."""

import dataclasses
import inspect
import operator
import random
import typing as tp
from collections.abc import Callable

import chainerx as chx
import numpy as np

from fuzz import hostile
from fuzz.arenas import DTYPES, FLOATS, View, count, draw_shape, draw_view, stretched

# Not called: they change state that later calls depend on, or read files.
SKIPPED = """
    set_default_device set_default_context set_global_default_context context_scope set_num_threads
    fromfile loadtxt fromfunction set_memory_cache_limit check_backward check_double_backward
    backward grad value_and_grad get_default_context get_global_default_context random.set_state
"""

ARRAYS = ('x', 'a', 'x1', 'x2', 'array', 'b', 'm', 'v', 'ary', 'slope', 'beta', 'condition', 'y')
ARRAYS += ('w', 'dst', 'src', 'mean', 'ln_var', 'A', 'where', 'object')
# Parameters whose arrays have the shape of the first, or one that broadcasts to it.
ELASTIC = ('x1', 'x2', 'slope', 'beta', 'condition', 'y', 'dst', 'src', 'mean', 'ln_var', 'where')
AXES = ('axis', 'axis1', 'axis2', 'source', 'destination', 'axes')
MODES = {
    'take': ['raise', 'wrap', 'clip'],
    'pad': ['constant', 'edge', 'reflect', 'symmetric', 'wrap'],
    'meshgrid': ['xy', 'ij'],
    'copyto': ['no', 'same_kind', 'unsafe'],
}
UNARY = {
    name: getattr(operator, name) for name in ('neg', 'pos', 'abs', 'invert', 'index', 'truth')
}
UNARY |= {'int': int, 'float': float, 'complex': complex, 'len': len, 'repr': repr, 'list': list}
BINARY = 'add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift matmul'
COMPARE = 'eq ne lt le gt ge'
IN_PLACE = 'iadd isub imul itruediv ifloordiv imod iand ior ixor ilshift irshift'


@dataclasses.dataclass
class Make:
    """An argument constructed separately for each arena."""

    maker: Callable

    def __str__(self):
        return repr(self.maker())


@dataclasses.dataclass
class Many:
    """A list or tuple of arguments."""

    type: type
    items: list

    def __str__(self):
        return f'{self.type.__name__}({", ".join(map(str, self.items))})'


@dataclasses.dataclass
class Draft:
    """One call, before it is made in an arena."""

    name: str
    function: Callable  # of the module, followed by the arguments
    args: list
    kwargs: dict[str, tp.Any]
    blocks: list
    twin: Callable | None = None  # NumPy's counterpart, if it is not `function`
    has_twin: bool = True
    exact: bool = True  # whether the written values are determined

    def run(self, arena):
        args = [resolve(arena, a) for a in self.args]
        kwargs = {k: resolve(arena, a) for k, a in self.kwargs.items()}
        function = self.function if arena.xp is chx else self.twin or self.function
        return function(arena.xp, *args, **kwargs)

    def __str__(self):
        words = [*map(str, self.args), *(f'{k}={a}' for k, a in self.kwargs.items())]
        blocks = ''.join(f'\n  block{k}: {b}' for k, b in enumerate(self.blocks))
        return f'{self.name}({", ".join(words)}){blocks}'


def resolve(arena, leaf):
    if isinstance(leaf, View):
        return arena.array(leaf)
    if isinstance(leaf, Make):
        return resolve(arena, leaf.maker())
    if isinstance(leaf, np.generic) and arena.xp is np:
        return leaf.item()  # with chainerx, scalars of NumPy are as weak as Python's
    if isinstance(leaf, Many):
        return leaf.type(resolve(arena, x) for x in leaf.items)
    return leaf


class Drawer:
    """Arguments for one call: most of its arrays have the same shape and dtype."""

    def __init__(self, rng):
        self.rng = rng
        self.blocks: list = []
        self.shape = draw_shape(rng)
        self.dtype = rng.choice(DTYPES)
        self.hostility = rng.choice([0, 0, 0, 0.1, 0.4])

    def array(self, shape=None, dtype=None):
        rng = self.rng
        if dtype is None:
            dtype = self.dtype if rng.random() < 0.75 else rng.choice(DTYPES)
        shape = self.shape if shape is None else shape
        return stretched(rng, draw_view(rng, self.blocks, dtype, shape), shape)

    def elastic(self, dtype=None):
        """An array whose shape broadcasts with the others."""
        rng = self.rng
        roll = rng.random()
        if roll < 0.6:
            shape = self.shape
        elif roll < 0.9:
            shape = self.shape[rng.randrange(len(self.shape) + 1) :]
            shape = tuple(d if rng.random() < 0.7 else 1 for d in shape)
        else:
            shape = draw_shape(rng)
        return self.array(shape, dtype)

    def indices(self, n, shape=None):
        """An array of integers, most of them in [-n, n)."""
        rng = self.rng
        dtype = rng.choice(['int64', 'int64', 'int32', 'int8', 'uint8'])
        shape = rng.choice([(), (1,), (3,), (2, 2), (0,), (513,)]) if shape is None else shape
        view = draw_view(rng, self.blocks, dtype, shape)
        low = 0 if dtype == 'uint8' else -n
        if n > 0 and not (rng.random() < 0.1):
            block = self.blocks[view.block]
            numbers = np.random.default_rng(rng.getrandbits(64))
            block.values[...] = numbers.integers(low, min(n, 127), block.values.size)
        return view

    def axis(self, several=True):
        rng, n = self.rng, len(self.shape)
        if several and rng.random() < 0.25:
            axes = rng.sample(range(n), rng.randrange(n + 1))
            return tuple(a - n * rng.randrange(2) for a in axes)
        return rng.randrange(-n, n) if n and rng.random() < 0.9 else rng.choice([0, None, 1, -1])

    def other_shape(self):
        """A shape of as many elements, or some other."""
        rng = self.rng
        n, roll = count(self.shape), rng.random()
        if roll < 0.6:
            parts = list(self.shape)
            rng.shuffle(parts)
            if len(parts) > 1 and rng.random() < 0.5:
                parts[:2] = [parts[0] * parts[1]]
            if parts and rng.random() < 0.3 and n:
                parts[rng.randrange(len(parts))] = -1
            return tuple(parts)
        return rng.choice([(-1,), (n,), (1, n), n, list(self.shape), draw_shape(rng)])

    def number(self):
        rng = self.rng
        numbers = [0, 1, 2, -1, 3, 0.5, -1.5, 2.0, 100, True, 1e-3, np.float32(2), np.int64(3)]
        return rng.choice(numbers) if rng.random() < 0.9 else rng.choice(hostile.NUMBERS)

    def key(self):
        """An index of any form."""
        rng = self.rng
        items: list = []
        axis = 0
        while axis < len(self.shape) + (rng.random() < 0.03):
            n = self.shape[axis] if axis < len(self.shape) else 1
            roll = rng.random()
            if roll < 0.3:
                ends = [None, 0, 1, n, -1, -n, n + 3, -n - 3, 100, -100]
                steps = [None, 1, 2, -1, -2, 2**62, -(2**62)]
                items.append(slice(rng.choice(ends), rng.choice(ends), rng.choice(steps)))
            elif roll < 0.55:
                items.append(rng.randrange(-n, n) if n and rng.random() < 0.95 else n)
            elif roll < 0.7:
                items.append(self.indices(n, rng.choice([(), (2,), (3,), (2, 1)])))
            elif roll < 0.75:
                items.append(Many(list, [rng.randrange(-n, n) if n else 0 for _ in range(2)]))
            elif roll < 0.8:
                items.append(None)
                continue
            elif roll < 0.85 and Ellipsis not in items:
                items.append(Ellipsis)
                axis += rng.randrange(len(self.shape) + 1)
            elif roll < 0.92:
                items.append(draw_view(rng, self.blocks, 'bool', (n,)))
            else:
                break
            axis += 1
        if rng.random() < self.hostility:
            items.append(Make(hostile.draw(rng)))
        if len(items) == 1 and rng.random() < 0.6:
            return items[0]
        if not items and rng.random() < 0.3:
            return draw_view(rng, self.blocks, 'bool', self.shape)
        return Many(tuple, items)

    def argument(self, function, name):
        rng = self.rng
        if rng.random() < self.hostility:
            return Make(hostile.draw(rng))
        if (function == 'where' and name == 'condition') or (
            name == 'where' and function != 'copyto'
        ):
            return self.elastic('bool')
        if name == 'out':
            return self.array()
        if function == 'prelu' or (function == 'swish' and name == 'beta'):
            return self.elastic()
        if name in ELASTIC and function != 'softplus':
            return self.elastic()
        if name in ARRAYS and function not in ('softplus', 'leaky_relu'):
            return self.array()
        if name == 'indices':
            return self.indices(self.shape[0] if self.shape else 1)
        if name == 't':
            return self.indices(self.shape[-1] if self.shape else 1, self.shape[:1])
        if name in AXES or (function == 'rollaxis' and name == 'start'):
            return self.axis(function not in ('take', 'swapaxes', 'argmax', 'argmin'))
        if name in ('shape', 'newshape', 'size', 'reps'):
            return self.other_shape()
        if name == 'dtype':
            return rng.choice([d for d in DTYPES if d != 'bfloat16'])
        if name in ('keepdims', 'endpoint', 'copy'):
            return rng.random() < 0.5
        if name in ('mode', 'indexing', 'casting'):
            return rng.choice(MODES.get(function, ['x']))
        if name in ('k', 'N', 'M', 'n', 'num', 'repeats', 'shift', 'n_batch_axes', 'count'):
            return rng.choice([0, 1, 2, 3, -1])
        if name == 'pad_width':
            return rng.choice([0, 1, (1, 2), ((1, 2),) * len(self.shape)])
        if name == 'indices_or_sections':
            return rng.choice([1, 2, 3, [1], [0, 2], [2, 1], (), [1, -1]])
        if name == 'arrays':
            items = [self.elastic() if rng.random() < 0.3 else self.array() for _ in range(3)]
            items = items[: rng.randrange(1, 4)]
            if rng.random() < self.hostility:
                items.append(Make(hostile.draw(rng)))
            return Many(list, items)
        return self.number()


def functions():
    found = {}
    modules = {'': chx, 'random.': chx.random, 'linalg.': chx.linalg, 'special.': chx.special}
    for prefix, module in modules.items():
        for name in dir(module):
            value = getattr(module, name)
            public = not name.startswith('_') and callable(value) and not inspect.isclass(value)
            if public and prefix + name not in SKIPPED.split():
                found[prefix + name] = parameters(value)
    return found


def parameters(function):
    try:
        return list(inspect.signature(function).parameters.values())
    except ValueError:
        return [inspect.Parameter('argument', inspect.Parameter.POSITIONAL_ONLY)]


FUNCTIONS = functions()
METHODS = {
    name: parameters(getattr(chx.ndarray, name))[1:]
    for name in dir(chx.ndarray)
    if not name.startswith('_') and callable(getattr(chx.ndarray, name))
}
PROPERTIES = [
    name
    for name in dir(chx.ndarray)
    if not name.startswith('_') and not callable(getattr(chx.ndarray, name))
]


def find(xp, name):
    for part in name.split('.'):
        xp = getattr(xp, part)
    return xp


def given(drawer, name, params):
    """Arguments for all required parameters, and for some of the others."""
    args, kwargs = [], {}
    by_name = False
    for p in params:
        if p.kind is p.VAR_POSITIONAL:
            args += [drawer.elastic() for _ in range(drawer.rng.randrange(4))]
            by_name = True
            continue
        if p.kind is p.VAR_KEYWORD or p.name == 'device':
            continue
        needed = p.default is p.empty
        if not needed and drawer.rng.random() < 0.5:
            by_name = True
            continue
        value = drawer.argument(name, p.name)
        by_name |= p.name == 'keepdims'  # at another position in NumPy
        if by_name or p.kind is p.KEYWORD_ONLY:
            kwargs[p.name] = value
        else:
            args.append(value)
    if drawer.rng.random() < 0.01:
        args.append(Make(hostile.draw(drawer.rng)))
    return args, kwargs


def of_function(drawer):
    name = drawer.rng.choice(sorted(FUNCTIONS))
    args, kwargs = given(drawer, name, FUNCTIONS[name])

    def run(xp, *args, **kwargs):
        return find(xp, name)(*args, **kwargs)

    return Draft(name, run, args, kwargs, drawer.blocks)


def of_method(drawer):
    name = drawer.rng.choice(sorted(METHODS))
    args, kwargs = given(drawer, name, METHODS[name])

    def run(xp, x, *args, **kwargs):
        return getattr(x, name)(*args, **kwargs)

    return Draft(f'ndarray.{name}', run, [drawer.array(), *args], kwargs, drawer.blocks)


def of_operator(drawer):
    rng = drawer.rng
    if rng.random() < 0.15:
        name = rng.choice(sorted(UNARY))
        return Draft(name, lambda xp, x: UNARY[name](x), [drawer.array()], {}, drawer.blocks)
    if rng.random() < 0.05:
        name = rng.choice(sorted(PROPERTIES))
        args = [drawer.array()]
        return Draft(name, lambda xp, x: getattr(x, name), args, {}, drawer.blocks)
    name = rng.choice(f'{BINARY} {COMPARE}'.split())
    x = drawer.elastic()
    roll = rng.random()
    other = drawer.elastic() if roll < 0.65 else drawer.number()
    if roll > 0.98 - drawer.hostility / 2:
        other = Make(hostile.draw(rng))
    pair = [x, other] if rng.random() < 0.7 else [other, x]
    function = getattr(operator, name)
    return Draft(name, lambda xp, a, b: function(a, b), pair, {}, drawer.blocks)


def of_in_place(drawer):
    rng = drawer.rng
    name = rng.choice(IN_PLACE.split())
    roll = rng.random()
    other = drawer.elastic() if roll < 0.75 else drawer.number()
    if roll > 0.98 - drawer.hostility / 2:
        other = Make(hostile.draw(rng))
    function = getattr(operator, name)
    args = [drawer.array(), other]
    return Draft(name, lambda xp, a, b: function(a, b), args, {}, drawer.blocks)


def of_getitem(drawer):
    args = [drawer.array(), drawer.key()]
    return Draft('getitem', lambda xp, x, k: x[k], args, {}, drawer.blocks)


def of_setitem(drawer):
    rng = drawer.rng
    x, key = drawer.array(), drawer.key()
    roll = rng.random()
    value = drawer.number() if roll < 0.4 else drawer.elastic()
    if roll > 0.95 - drawer.hostility / 2:
        value = Make(hostile.draw(rng))
    name, function = 'setitem', operator.setitem
    in_place = rng.random() < 0.25
    if in_place:
        name = rng.choice(IN_PLACE.split())
        update = getattr(operator, name)

        def function(x, k, v):
            x[k] = update(x[k], v)

    # If an index occurs twice, it is unspecified which of the values is kept.
    items = key.items if isinstance(key, Many) else [key]
    plain = not any(isinstance(item, View | Many) for item in items)
    exact = plain or (not in_place and not isinstance(value, View | Make))
    return Draft(
        f'setitem, {name}', lambda xp, x, k, v: function(x, k, v), [x, key, value], {},
        drawer.blocks, exact=exact,
    )  # fmt: skip


def of_backward(drawer):
    """A function of floats, perhaps followed by a write to its inputs, then backward or grad."""
    rng = drawer.rng
    drawer.dtype = rng.choice(FLOATS)
    while True:
        name = rng.choice(sorted(FUNCTIONS))
        if any(p.name in ARRAYS for p in FUNCTIONS[name]):
            break
    args, kwargs = given(drawer, name, FUNCTIONS[name])
    views = [a for a in args if isinstance(a, View)]
    for view in views:
        view.grad = rng.random() < 0.8
    written = rng.choice(views) if views and rng.random() < 0.3 else None
    how = rng.choice(['backward', 'backward', 'grad', 'twice', 'double'])

    def run(xp, *args, **kwargs):
        ys = find(xp, name)(*args, **kwargs)
        ys = [y for y in (ys if isinstance(ys, list | tuple) else [ys])]
        ys = [y for y in ys if isinstance(y, chx.ndarray) and y.is_backprop_required()]
        xs = [x for x in args if isinstance(x, chx.ndarray) and x.is_backprop_required()]
        if written is not None:
            for x in xs[:1]:
                data = x.as_grad_stopped()
                data += 1
        if not ys or not xs:
            return None
        if how == 'grad':
            return chx.grad(ys, xs)
        double = how == 'double'
        chx.backward(ys, enable_double_backprop=double)
        if how == 'twice':
            chx.backward(ys)
        gxs = [x.get_grad() for x in xs]
        if double:
            more = [g for g in gxs if g is not None and g.is_backprop_required()]
            if more:
                chx.backward(more)
        for x, g in zip(xs, gxs, strict=True):
            if g is not None and (g.shape != x.shape or g.dtype != x.dtype):
                raise AssertionError(f'gradient of {x.shape} {x.dtype} is {g.shape} {g.dtype}')
        return None

    title = f'{how} of {name}{", written to between" if written else ""}'
    return Draft(title, run, args, kwargs, drawer.blocks, has_twin=False, exact=False)


KINDS: list[Callable] = [of_function] * 9 + [of_method] * 3 + [of_operator] * 4
KINDS += [of_in_place] * 3 + [of_getitem] * 2 + [of_setitem] * 3 + [of_backward] * 3


def draw_call(seed, number):
    rng = random.Random(f'{seed}:{number}')
    return rng.choice(KINDS)(Drawer(rng))
