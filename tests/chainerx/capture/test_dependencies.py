"""What a step reads of the program, and what changes after it was recorded."""

import argparse
import collections
import functools
import gc
import importlib
import operator
import os
import queue
import types
import weakref

import chainerx as chx
import numpy as np
import pytest
from chainerx import _dependencies

RATE = 1.0
ACTIVATION = chx.tanh
STEPS = [1.0, 2.0]
UNIT = int


def scaled(x):
    return x * RATE


def replays(step):
    return sum(v.replays for v in step.info())


class Settings:
    rate = 1.0

    def __init__(self):
        self.w = chx.ones(2)
        self.inner = types.SimpleNamespace(rate=1.0)
        self.layers = [types.SimpleNamespace(rate=1.0)]

    def scale(self, x):
        return x * self.rate

    def by_inner(self, x):
        return x * self.inner.rate * self.layers[0].rate

    def by_array(self, x):
        return x * self.w

    def __call__(self, x):
        return self.scale(x)

    @property
    def twice(self):
        return 2 * self.rate

    @staticmethod
    def by_global(x):
        return scaled(x) * STEPS[0]


def closure(values):
    rate = values[0]

    def change(new):
        nonlocal rate
        rate = new

    return lambda x: x * rate, change


def check(f, change):
    """Changes something after recordings; an array that it replaces is kept elsewhere."""
    x = chx.full((2,), 3, 'float32')
    step = chx.capture(f)
    for _ in range(5):
        np.testing.assert_array_equal(chx.to_numpy(step(x)), chx.to_numpy(f(x)))
    assert replays(step) == 2
    before = f(x).tolist()
    change()
    expected = f(x).tolist()
    assert expected != before
    for _ in range(5):
        assert step(x).tolist() == expected
    assert replays(step) == 4
    assert 'has changed' in step.info()[0].reason


@pytest.mark.parametrize('name', ['RATE', 'ACTIVATION', 'STEPS'])
def test_a_global(monkeypatch, name):
    values = {'RATE': 2.0, 'ACTIVATION': chx.exp, 'STEPS': [3.0]}

    def f(x):
        return ACTIVATION(x) * scaled(x) * STEPS[0]

    check(f, lambda: monkeypatch.setitem(globals(), name, values[name]))


def test_an_item():
    items, table = [1.0, (2.0, [3.0])], {'a': {'b': chx.ones(2)}}
    kept = table['a']['b']
    check(lambda x: x * items[0], lambda: items.__setitem__(0, 2.0))
    check(lambda x: x * items[1][1][0], lambda: items[1][1].__setitem__(0, 2.0))
    check(lambda x: x * len(items), lambda: items.append(0))
    check(lambda x: x * table['a']['b'], lambda: table['a'].update(b=chx.zeros(2)))
    check(lambda x: x * table['a'].get('c', 1.0), lambda: table['a'].update(c=4.0))
    assert kept.tolist() == [1, 1]


def test_a_variable_of_a_closure():
    f, change = closure([1.0])
    check(f, lambda: change(2.0))


def test_attributes(monkeypatch):
    s = Settings()
    old = s.w
    check(s.scale, lambda: setattr(s, 'rate', 2.0))
    check(s, lambda: setattr(s, 'rate', 3.0))
    check(lambda x: x * s.twice, lambda: setattr(s, 'rate', 4.0))
    check(s.by_array, lambda: setattr(s, 'w', chx.zeros(2)))
    check(s.by_inner, lambda: setattr(s.inner, 'rate', 2.0))
    check(s.by_inner, lambda: setattr(s.layers[0], 'rate', 5.0))
    check(s.by_global, lambda: monkeypatch.setitem(globals(), 'RATE', 7.0))
    check(Settings().scale, lambda: monkeypatch.setattr(Settings, 'rate', 9.0))
    assert old.tolist() == [1, 1]


def test_attributes_of_arguments_and_namespaces():
    args = argparse.Namespace(rate=1.0)
    check(lambda x: x * args.rate, lambda: setattr(args, 'rate', 2.0))
    check(lambda x: x * operator.attrgetter('rate')(args), lambda: setattr(args, 'rate', 3.0))
    s = Settings()
    check(functools.partial(lambda s, x: s.scale(x), s), lambda: setattr(s, 'rate', 2.0))
    step = chx.capture(lambda x, s: s.scale(x))
    for _ in range(5):
        assert step(chx.ones(2), s).tolist() == [2, 2]
    s.rate = -0.0
    assert str(step(chx.ones(2), s)[0].item()) == '-0.0'
    s.rate = 0.0
    assert str(step(chx.ones(2), s)[0].item()) == '0.0'


class WithSlots:
    __slots__ = '__weakref__', 'later', 'rate'

    def __init__(self):
        self.rate = 1.0


class Table(dict):
    """Whose own methods must not be called."""

    def __len__(self):
        raise RuntimeError

    __iter__ = items = keys = values = __len__


def test_other_objects():
    s = WithSlots()
    check(lambda x: x * s.rate, lambda: setattr(s, 'rate', 2.0))
    check(lambda x: x * operator.attrgetter('rate')(s), lambda: setattr(s, 'rate', 3.0))
    for make in (collections.OrderedDict, collections.Counter, Table):
        table = make(a=1.0)
        check(lambda x, table=table: x * table['a'], functools.partial(dict.update, table, a=2.0))
    counts = collections.defaultdict(float, a=1.0)
    check(lambda x: x * counts['a'], lambda: counts.update(a=2.0))


class Wrapped(collections.UserDict):
    pass


def test_containers_without_keys():
    queue, chosen = collections.deque([1.0, 2.0]), {1.0}
    check(lambda x: x * queue[1], lambda: queue.__setitem__(1, 3.0))
    check(lambda x: x * queue[1], lambda: queue.rotate(1))
    check(lambda x: x * len(queue), lambda: queue.append(0))
    check(lambda x: x * sum(chosen), lambda: chosen.add(3.0))
    check(lambda x: x * sum(chosen), lambda: (chosen.remove(3.0), chosen.add(5.0)))
    inner = collections.deque([types.SimpleNamespace(rate=1.0)])
    check(lambda x: x * inner[0].rate, lambda: setattr(inner[0], 'rate', 2.0))


def test_containers_that_are_written_in_python():
    table = collections.UserDict(a=1.0)
    check(lambda x: x * table['a'], lambda: table.update(a=2.0))
    check(lambda x: x * table.get('b', 1.0), lambda: table.update(b=3.0))
    items = collections.UserList([1.0])
    check(lambda x: x * items[0], lambda: items.__setitem__(0, 2.0))
    own = Wrapped(a=1.0)
    check(lambda x: x * own['a'], lambda: own.update(a=2.0))
    first = {}
    chain = collections.ChainMap(first, {'a': 1.0})
    check(lambda x: x * chain['a'], lambda: first.update(a=2.0))


def test_the_environment(monkeypatch):
    monkeypatch.setenv('TESTED_RATE', '2')
    change = functools.partial(monkeypatch.setenv, 'TESTED_RATE')
    check(lambda x: x * float(os.environ['TESTED_RATE']), lambda: change('3'))
    check(lambda x: x * float(os.getenv('TESTED_RATE', '1')), lambda: change('4'))
    name = 'TESTED_' + 'NEW'
    check(lambda x: x * float(os.environ.get(name, '1')), lambda: monkeypatch.setenv(name, '5'))


@pytest.mark.parametrize('n', [65, 1024])
def test_long_containers(n):
    items = [float(i) for i in range(n)]
    check(lambda x: x * items[n - 1], lambda: items.__setitem__(n - 1, -1.0))
    check(lambda x: x * len(items), items.pop)
    table = {str(i): float(i) for i in range(n)}
    check(lambda x: x * table['64'], lambda: table.update({'64': -1.0}))
    check(lambda x: x * table.get('a', 3.0), lambda: (table.pop('0'), table.update(a=2.0)))
    mixed = [types.SimpleNamespace(rate=i) for i in range(n)]
    check(lambda x: x * mixed[60].rate, lambda: mixed.__setitem__(60, mixed[1]))


def test_items_of_long_containers_are_not_kept_alive():
    items = [WithSlots() for _ in range(100)]
    step = chx.capture(lambda x: x * items[3].rate)
    for _ in range(5):
        step(chx.ones(2))
    gone = weakref.ref(items[3])
    items[3] = types.SimpleNamespace(rate=1.0)
    assert gone() is None
    assert step(chx.ones(2)).tolist() == [1, 1]


def test_long_containers_that_change_in_each_call():
    seen = [0] * 100
    step = chx.capture(lambda x: x * seen[0] + 1)
    for _ in range(6):
        assert step(chx.ones(2)).tolist() == [1, 1]
        seen.append(0)
    assert replays(step) == 3


@pytest.mark.parametrize(('first', 'second'), [(1, True), (True, 1.0), (1.0, 1)])
def test_equal_numbers_of_other_types(first, second):
    s = Settings()
    s.rate = first
    seen = queue.SimpleQueue()
    step = chx.capture(lambda x: (seen.put(s.rate), s.scale(x))[1])
    x = chx.arange(2)
    for i in range(8):
        if i == 5:
            s.rate = second
        y = step(x)
        assert y.dtype == (x * s.rate).dtype
    types = [type(seen.get()) for _ in range(seen.qsize())]
    assert types == [type(first)] * 3 + [type(second)] * 3


def test_methods_that_are_captured():
    class Model(Settings):
        @chx.capture
        def step(self, x):
            return x * self.rate + self.w

    m, x = Model(), chx.ones(2)
    for i in range(10):
        if i == 5:
            m.rate, m.old, m.w = 5.0, m.w, chx.zeros(2)
        assert m.step(x).tolist() == [2 if i < 5 else 5] * 2
    assert replays(m.step) == 4
    gone = weakref.ref(m)
    del m
    gc.collect()
    assert gone() is None


def test_a_capture_in_the_model_that_it_captures_is_collected():
    class Model(Settings):
        def __init__(self):
            super().__init__()
            self.step = chx.capture(self.by_array)

    m = Model()
    for _ in range(5):
        m.step(chx.ones(2))
    assert replays(m.step) == 2
    gone = weakref.ref(m)
    del m
    gc.collect()
    assert gone() is None


def test_what_the_program_changes_in_each_call_without_other_kernels():
    s = Settings()

    def f(x):
        s.last = x
        return x * s.rate + 0 * bool(s.round)

    step = chx.capture(f)
    for i in range(1, 11):
        s.round = i
        step(chx.ones(2))
    assert replays(step) == 7


def test_equal_values_are_not_told_apart():
    s = Settings()
    step = chx.capture(s.scale)
    for text in ['1.5'] * 8:
        s.rate = float(text)
        step(chx.ones(2))
    assert replays(step) == 5


class Hostile:
    def __getattribute__(self, name):
        raise RuntimeError(name)

    def __eq__(self, other):
        raise RuntimeError

    __hash__ = None


def test_objects_of_the_program_are_not_called():
    hostile, table = Hostile(), {Hostile: 1, (1, 2): 3}
    step = chx.capture(lambda x: x + len((hostile,)) + table[1, 2])
    for i in range(6):
        if i == 5:
            hostile = Hostile()
        assert step(chx.ones(2)).tolist() == [5, 5]
    assert replays(step) == 2


def test_annotations_are_not_read(monkeypatch):
    """Python 3.14 evaluates those of a class when they are asked for, and keeps them then."""

    class Layer:
        rate: UNIT = 2

        def scale(self, x):
            return x * self.rate

    layer = Layer()
    step = chx.capture(lambda x: layer.scale(x))
    for i in range(6):
        if i == 3:
            monkeypatch.setitem(globals(), 'UNIT', float)
        if i == 4:
            assert 'rate' in Layer.__annotations__
        assert step(chx.ones(2)).tolist() == [2, 2]
    assert replays(step) == 3


def test_recursive_structures():
    tree = {}
    tree['self'] = [tree]
    tree['rate'] = 1.0

    def f(x, depth=3):
        return f(x, depth - 1) if depth else x * tree['self'][0]['rate']

    check(f, lambda: tree.update(rate=2.0))


@pytest.mark.parametrize('knows', [False, True])
def test_installed_packages_without_arrays_of_chainerx(knows, tmp_path, monkeypatch):
    """What PyTorch or pandas keep is not looked at before each replay."""
    folder = tmp_path / 'site-packages'
    folder.mkdir()
    name = f'installed_{knows}'
    source = 'rate = 1.0\ndef scale(x):\n    return x * rate\n'
    (folder / f'{name}.py').write_text('import chainerx as chx\n' * knows + source)
    monkeypatch.syspath_prepend(str(folder))
    module = importlib.import_module(name)
    found = _dependencies.find(lambda x: module.scale(x), ()).dependencies
    assert knows == any(entry[1] == 'rate' for entry in found)
