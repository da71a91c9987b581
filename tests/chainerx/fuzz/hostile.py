"""Arguments that no sane program passes, constructed for each arena: some change themselves."""

import numpy as np

HUGE = 2**62


class Index:
    """An integer whose conversion has side effects."""

    def __init__(self, value, bite=None):
        self.value = value
        self.bite = bite

    def __index__(self):
        if self.bite is not None:
            self.bite()
        if isinstance(self.value, Exception):
            raise self.value
        return self.value

    def __repr__(self):
        return f'Index({self.value!r}{", bites" if self.bite else ""})'


class Float:
    def __init__(self, value, bite=None):
        self.value = value
        self.bite = bite

    def __float__(self):
        if self.bite is not None:
            self.bite()
        if isinstance(self.value, Exception):
            raise self.value
        return self.value

    def __repr__(self):
        return f'Float({self.value!r}{", bites" if self.bite else ""})'


class Sequence:
    """A sequence that claims a wrong length."""

    def __init__(self, items, length):
        self.items = items
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, i):
        return self.items[i]

    def __repr__(self):
        return f'Sequence({self.items!r}, {self.length})'


class Protocol:
    """An object that claims to be an array, and describes invalid memory."""

    def __init__(self, interface):
        self.__array_interface__ = interface

    def __repr__(self):
        return f'Protocol({self.__array_interface__!r})'


def list_that(bite, values=(0, 1, 1)):
    """A list whose element in the middle changes the list when it is converted."""
    items = list(values)
    actions = {
        'clears': items.clear,
        'grows': lambda: items.extend([0] * 100),
        'shrinks': lambda: items and items.pop(),
        'replaces': lambda: items.__setitem__(slice(None), [HUGE] * len(items)),
        'nests': lambda: items.append(items),
    }
    items[len(items) // 2] = Index(items[len(items) // 2], actions[bite])
    return items


BITES = ('clears', 'grows', 'shrinks', 'replaces', 'nests')


def ring():
    items = [0]
    items.append(items)
    return items


NUMBERS = [0, 1, -1, 2, 3, 127, 128, -128, 255, 256, 2**31, -(2**31), 2**53 + 1, HUGE, -HUGE]
NUMBERS += [2**63 - 1, -(2**63), 2**63, 2**64, 2**70, -(2**70)]
NUMBERS += [0.0, -0.0, 0.5, 1.5, -2.5, 1e30, float('nan'), float('inf'), -float('inf'), 1j, 2 + 0j]
NUMBERS += [True, False, np.float32(1.5), np.int8(-3), np.uint64(2**63), np.bool_(True)]

MAKERS = [lambda value=value: value for value in NUMBERS]
MAKERS += [lambda b=bite: list_that(b) for bite in BITES]
MAKERS += [lambda b=bite: (list_that(b), list_that(b)) for bite in BITES]
MAKERS += [
    lambda: None,
    lambda: 'x',
    lambda: 'float32',
    lambda: b'\0',
    object,
    lambda: [],
    lambda: (),
    lambda: [[]],
    lambda: {},
    lambda: {1, 2},
    lambda: [None],
    lambda: [0, 0],
    lambda: (0, 1),
    lambda: (-1, -2),
    lambda: (HUGE, HUGE),
    lambda: (0, HUGE, HUGE),
    lambda: (1,) * 11,
    lambda: (2**31, 2**31),
    lambda: range(3),
    lambda: iter([1, 0]),
    lambda: (i for i in (1, 0)),
    lambda: slice(None, None, -1),
    lambda: slice(HUGE, -HUGE, -HUGE),
    lambda: Ellipsis,
    lambda: len,
    lambda: type,
    lambda: np.array([0, 1]),
    lambda: np.array([[0.5, np.nan]]),
    lambda: np.array(1),
    lambda: np.array(['a']),
    lambda: np.array([None, 1], object),
    lambda: np.zeros(2, [('a', 'i4')]),
    lambda: np.broadcast_to(np.float32(1), (2**40,)),
    lambda: np.array([1, 2, 255], 'u1').view(bool),
    lambda: np.frombuffer(b'abcdefgh', '>f4'),
    lambda: np.frombuffer(b'abcdefghi', 'u1')[1:].view('f4'),
    lambda: memoryview(b'abcd'),
    lambda: bytearray(8),
    lambda: Index(1),
    lambda: Index(HUGE),
    lambda: Index(2**70),
    lambda: Index(ValueError('mine')),
    lambda: Index('x'),
    lambda: Float(1.5),
    lambda: Float(ValueError('mine')),
    lambda: Float('x'),
    lambda: Sequence([1, 2], 5),
    lambda: Sequence([1, 2], HUGE),
    lambda: Protocol({'data': None, 'shape': (-3,), 'typestr': '<f4', 'version': 3}),
    lambda: Protocol({'shape': (HUGE,), 'typestr': '<f4', 'version': 3}),
    ring,
]


def draw(rng):
    """A constructor of a hostile argument, described by its result."""
    return rng.choice(MAKERS)
