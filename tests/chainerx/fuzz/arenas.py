"""Blocks of memory, and views of them that may overlap; twice, for chainerx and for NumPy."""

import dataclasses

import chainerx as chx
import numpy as np

DTYPES = ['bool', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64']
DTYPES += ['float16', 'float32', 'float64', 'complex64', 'complex128', 'bfloat16']
FLOATS = ['float16', 'float32', 'float64']
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, 1e30, 6e4]


def np_dtype(name):
    if name == 'bfloat16':
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


@dataclasses.dataclass
class Block:
    """One-dimensional memory.

    Attributes:
        kind: 'own' (of chainerx), 'wrap' (NumPy's), 'readonly' (NumPy's, not to be written),
            'bytes' (of bool, but with bytes other than 0 and 1; can't be wrapped).
    """

    values: np.ndarray
    kind: str
    device: str

    def __str__(self):
        values = self.values.view('u1') if self.values.dtype == bool else self.values
        return f'{self.kind} {self.values.dtype} on {self.device}: {values.tolist()}'


@dataclasses.dataclass
class View:
    """A view of a block: the operations on the whole of it, in order."""

    block: int
    steps: list
    grad: bool = False

    def of(self, xp, x):
        for name, argument in self.steps:
            if name == 'index':
                x = x[argument]
            elif name == 'broadcast_to':
                x = xp.broadcast_to(x, argument)
            else:
                x = getattr(x, name)(argument)
        return x

    def __str__(self):
        steps = ''.join(f'[{a}]' if name == 'index' else f'.{name}({a})' for name, a in self.steps)
        return f'block{self.block}{steps}{" with grad" if self.grad else ""}'


def draw_block(rng, dtype, size):
    numbers = np.random.default_rng(rng.getrandbits(64))
    if dtype == 'bool':
        values = numbers.integers(0, 2, size).astype(bool)
        if rng.random() < 0.3:  # bytes that are invalid as bools
            values = numbers.choice([0, 1, 2, 128, 255], size).astype('u1').view(bool)
    elif np_dtype(dtype).kind in 'iu':
        low = 0 if dtype.startswith('u') else -6
        values = numbers.integers(low, 12, size).astype(dtype)
        if rng.random() < 0.1 and size:
            values[rng.randrange(size)] = np.iinfo(dtype).max
            values[rng.randrange(size)] = np.iinfo(dtype).min
    else:
        values = numbers.integers(-8, 9, size) / 4
        if np_dtype(dtype).kind == 'c':
            values = values + 1j * numbers.integers(-8, 9, size) / 4
        with np.errstate(all='ignore'):
            values = values.astype(np_dtype(dtype))
            if rng.random() < 0.2 and size:
                values[rng.randrange(size)] = rng.choice(SPECIAL)
    kind = rng.choice(['own', 'own', 'own', 'wrap', 'wrap', 'readonly'])
    if dtype == 'bool' and (values.view('u1') > 1).any():
        kind = 'bytes'
    device = 'native:1' if kind == 'own' and rng.random() < 0.02 else 'native:0'
    return Block(values, kind, device)


class Arena:
    """The arrays of one side: `xp` is chainerx or NumPy."""

    def __init__(self, xp, blocks):
        self.xp = xp
        self.blocks = blocks
        self.memory = []  # memory owned by NumPy
        self.whole = []
        self.lists = {}  # lists that calls may change
        self.required = []
        for block in blocks:
            memory = block.values.copy()
            if block.kind == 'bytes' and xp is np:
                memory = memory.view('u1') != 0  # NumPy computes with the bytes
            self.memory.append(memory)
            if xp is np:
                if block.kind == 'readonly':
                    memory.flags.writeable = False
                self.whole.append(memory)
            elif block.kind in ('own', 'bytes'):
                self.whole.append(chx.array(memory, device=block.device))
            else:
                if block.kind == 'readonly':
                    memory.flags.writeable = False
                self.whole.append(chx.asarray(memory))

    def array(self, view):
        x = view.of(self.xp, self.whole[view.block])
        if view.grad and self.xp is chx and x.dtype.kind == 'f' and x.size < 1 << 20:
            # The array itself requires gradients: a graph of the view would not be that of the
            # array.
            x = x.as_grad_stopped().require_grad()
            self.required.append(x)
        return x

    def contents(self):
        """The bytes of all blocks."""
        return [chx.to_numpy(x).tobytes() if self.xp is chx else x.tobytes() for x in self.whole]


def draw_shape(rng, most=3, largest=4):
    if rng.random() < 0.03:
        return (1,) * rng.randrange(11)
    if rng.random() < 0.04:
        return rng.choice([(70,), (65, 3), (3, 65), (2, 33, 2), (1030,)])
    sizes = [1, 2, 2, 3, 3, largest, rng.choice([0, 5])]
    return tuple(rng.choice(sizes) for _ in range(rng.randrange(most + 1)))


def count(shape):
    n = 1
    for d in shape:
        n *= d
    return n


def draw_view(rng, blocks, dtype, shape):
    """A view of the given shape: of new memory, or of the memory of another view."""
    n = count(shape)
    stride = rng.choice([1, 1, 1, 2, -1, -2, 3])
    need = max(n - 1, 0) * abs(stride) + (n > 0)
    old = [k for k, b in enumerate(blocks) if b.values.size >= need]
    old = [k for k in old if blocks[k].values.dtype == np_dtype(dtype)]
    if old and rng.random() < 0.35:
        k = rng.choice(old)
    else:
        blocks.append(draw_block(rng, dtype, need + rng.choice([0, 0, 1, 3])))
        k = len(blocks) - 1
    spare = blocks[k].values.size - need
    first = rng.randrange(spare + 1)
    stop = first + need
    steps = []
    if stride > 0:
        steps.append(('index', slice(first, stop, stride)))
    else:
        last = first - 1
        steps.append(('index', slice(stop - 1, last if last >= 0 else None, stride) if n else
                      slice(0, 0)))  # fmt: skip
    order = list(range(len(shape)))
    rng.shuffle(order)
    if len(shape) > 1 and rng.random() < 0.4:  # axes in another memory order
        inverse = tuple(order.index(i) for i in range(len(shape)))
        steps += [('reshape', tuple(shape[i] for i in order)), ('transpose', inverse)]
    elif len(shape) != 1:
        steps.append(('reshape', tuple(shape)))
    return View(k, steps)


def stretched(rng, view, shape):
    """The view, or one of fewer elements that is broadcast to the shape."""
    if not shape or rng.random() < 0.85 or 0 in shape:
        return view
    if rng.random() < 0.15:
        huge = rng.choice([(2**62,), (2**31, 2**31), (2**20,), (3, 2**40)])
        one = [('index', (slice(0, 1),) * len(shape)), ('reshape', ())]
        return dataclasses.replace(view, steps=[*view.steps, *one, ('broadcast_to', huge)])
    axis = rng.randrange(len(shape))
    first = (*(slice(None),) * axis, slice(0, 1))
    return dataclasses.replace(
        view, steps=[*view.steps, ('index', first), ('broadcast_to', tuple(shape))]
    )
