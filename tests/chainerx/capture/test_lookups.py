"""What a step finds by other ways than a global, a closure or an attribute of its own."""

import array
import contextvars
import functools
import gc
import os
import sys
import threading
import types
import weakref

import chainerx as chx
import numpy as np
import pytest

CONTEXT = contextvars.ContextVar('context', default=1.0)
NAME = 'CHAINERX_TEST_OF_LOOKUPS'


class Base:
    rate = 1.0

    def scale(self, x):
        return x * 1.0


class Derived(Base):
    pass


class Other(Base):
    def scale(self, x):
        return x * 7.0


def scale(x, rate=1.0, *, other=1.0):
    return x * rate * other


def scale_twice(x, rate=1.0, *, other=1.0):
    return x * 2.0


CASES = {}


def case(make):
    CASES[make.__name__.replace('_', ' ').strip()] = make
    return make


def function_of(code=scale):
    return types.FunctionType(code.__code__, globals(), 'f', (1.0,))


def with_defaults():
    f = function_of()
    f.__kwdefaults__ = {'other': 1.0}
    return f


@case
def defaults():
    f = with_defaults()
    return f, lambda: setattr(f, '__defaults__', (2.0,))


@case
def keyword_defaults():
    f = with_defaults()
    return lambda x: f(x), lambda: f.__kwdefaults__.update(other=2.0)


@case
def other_keyword_defaults():
    f = with_defaults()
    return lambda x: f(x), lambda: setattr(f, '__kwdefaults__', {'other': 3.0})


@case
def code():
    f = with_defaults()
    return lambda x: f(x), lambda: setattr(f, '__code__', scale_twice.__code__)


@case
def attribute_of_a_function():
    f = with_defaults()
    f.rate = 1.0
    return lambda x: x * f.rate, lambda: setattr(f, 'rate', 2.0)


@case
def parts_of_a_partial():
    f = functools.partial(with_defaults(), rate=1.0)
    return lambda x: f(x), lambda: f.keywords.update(rate=2.0)


@case
def other_parts_of_a_partial():
    f = functools.partial(with_defaults(), rate=1.0)
    return lambda x: f(x), lambda: f.__setstate__((f.func, (), {'rate': 3.0}, {}))


@case
def method_of_a_class(cls=Base):
    cls = type('Class', (Base,), {'scale': Base.scale})
    o = cls()
    return lambda x: o.scale(x), lambda: setattr(cls, 'scale', Other.scale)


@case
def method_of_an_instance():
    o = type('Class', (Base,), {})()
    return lambda x: o.scale(x), lambda: setattr(o, 'scale', lambda x: x * 3.0)


@case
def attribute_that_hides_that_of_a_base():
    cls = type('Class', (Derived,), {})
    o = cls()
    return lambda x: x * o.rate, lambda: setattr(cls, 'rate', 2.0)


@case
def class_of_an_object():
    o = Derived()
    return lambda x: o.scale(x), lambda: setattr(o, '__class__', Other)


@case
def special_method():
    cls = type('Class', (), {'__mul__': lambda self, x: x * 1.0})
    o = cls()
    return lambda x: o * x, lambda: setattr(cls, '__mul__', lambda self, x: x * 2.0)


@case
def special_name():
    cls = type('Class', (), {'__rate__': 1.0})
    return lambda x: x * cls.__rate__, lambda: setattr(cls, '__rate__', 2.0)


@case
def attribute_of_a_metaclass():
    meta = type('Meta', (type,), {'rate': 1.0})
    cls = meta('Class', (), {})
    return lambda x: x * cls.rate, lambda: setattr(meta, 'rate', 2.0)


@case
def attribute_whose_name_is_put_together():
    o = types.SimpleNamespace(rate_1=1.0, rate_2=1.0)

    def f(x):
        for i in range(1, 3):
            x = x * getattr(o, f'rate_{i}')
        return x

    return f, lambda: setattr(o, 'rate_2', 2.0)


@case
def attribute_that_is_new():
    o = Base()
    o.first = 1.0

    def f(x):
        for value in vars(o).values():
            x = x * value
        return x

    return f, lambda: setattr(o, 'second', 2.0)


@case
def name_of_a_builtin():
    return lambda x: x * len('ab'), lambda: globals().update(len=lambda s: 5.0)


@case
def module_that_the_step_imports():
    module = sys.modules['chainerx_test_module'] = types.ModuleType('chainerx_test_module')
    module.rate = 1.0

    def f(x):
        import chainerx_test_module

        return x * chainerx_test_module.rate

    return f, lambda: setattr(module, 'rate', 2.0)


@case
def variable_of_the_environment():
    os.environ[NAME] = '1'
    return lambda x: x * float(os.environ[NAME]), lambda: os.environ.update({NAME: '2'})


@case
def variable_that_is_not_set():
    os.environ.pop(NAME, None)
    return lambda x: x * float(os.getenv(NAME, '1')), lambda: os.environ.update({NAME: '2'})


@case
def context_variable():
    return lambda x: x * CONTEXT.get(), lambda: CONTEXT.set(2.0)


@case
def what_a_thread_has():
    local = threading.local()
    local.rate = 1.0
    return lambda x: x * local.rate, lambda: setattr(local, 'rate', 2.0)


@case
def object_behind_a_weak_reference():
    o = Base()
    ref, held = weakref.ref(o), [o]
    return lambda x: x * ref().rate, lambda: setattr(held[0], 'rate', 2.0)


@case
def object_that_has_gone():
    held = [Base()]
    ref = weakref.ref(held[0])
    return lambda x: x * (ref() or Other).rate * (2.0 if ref() is None else 1.0), held.clear


@case
def value_in_a_cache():
    held = [1.0]
    cached = functools.cache(lambda: held[0])

    def change():
        held[0] = 2.0
        cached.cache_clear()

    return lambda x: x * cached(), change


@case
def item_of_an_array_of_numpy():
    array = np.ones(2, 'float32')
    return lambda x: x * array[0], lambda: array.__setitem__(0, 2.0)


@case
def bytes_in_place():
    data = bytearray(b'\1')
    return lambda x: x * data[0], lambda: data.__setitem__(0, 2)


@case
def numbers_in_place():
    data = array.array('f', [1.0])
    return lambda x: x * data[0], lambda: data.__setitem__(0, 2)


@case
def item_behind_a_proxy():
    held = {'rate': 1.0}
    proxy = types.MappingProxyType(held)
    return lambda x: x * proxy['rate'], lambda: held.update(rate=2.0)


@case
def item_with_a_key_of_another_kind():
    table = {(1, 2): 1.0, 0.5: 1.0}
    return lambda x: x * table[1, 2] * table[0.5], lambda: table.update({0.5: 2.0})


@case
def function_for_a_type():
    @functools.singledispatch
    def f(x):
        return x * 1.0

    return lambda x: f(x), lambda: f.register(chx.ndarray, lambda x: x * 2.0)


@case
def function_of_chainerx():
    return lambda x: chx.tanh(x), lambda: setattr(chx, 'tanh', chx.exp)


@pytest.fixture
def restored(monkeypatch):
    # What changes are told to is put back by these.
    monkeypatch.setattr(chx, 'tanh', chx.tanh)
    monkeypatch.setitem(globals(), 'len', len)
    del globals()['len']
    monkeypatch.setenv(NAME, '')
    monkeypatch.setitem(sys.modules, 'chainerx_test_module', sys)
    token = CONTEXT.set(1.0)
    yield
    CONTEXT.reset(token)


@pytest.mark.parametrize('name', CASES)
def test_a_change_is_seen(name, restored):
    f, change = CASES[name]()
    x = chx.full((2,), 3, 'float32')
    step = chx.capture(f)
    before = f(x).tolist()
    for _ in range(5):
        assert step(x).tolist() == before
    assert step.info()[0].replays == 2
    change()
    expected = f(x).tolist()
    assert expected != before
    for _ in range(5):
        assert step(x).tolist() == expected
    assert step.info()[0].replays == 4
    assert 'has changed' in step.info()[0].reason


def test_another_thread_has_its_own_values():
    local = threading.local()
    local.rate = 1.0
    step = chx.capture(lambda x: x * local.rate)
    for _ in range(5):
        assert step(chx.ones(2)).tolist() == [1, 1]
    seen = []

    def run():
        local.rate = 2.0
        seen.append(step(chx.ones(2)).tolist())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [[2, 2]]


def test_objects_are_not_kept_alive():
    class Model(Base):
        @chx.capture
        def step(self, x):
            return self.scale(x)

    m = Model()
    ref = weakref.ref(m)
    for _ in range(5):
        m.step(chx.ones(2))
    assert m.step.info()[0].replays == 2
    del m
    gc.collect()
    assert ref() is None


def test_what_a_captured_function_reads_inside_of_another():
    held = [1.0]
    inner = chx.capture(lambda x: x * held[0])
    step = chx.capture(lambda x: inner(x) + 1)
    for i in range(10):
        held[0] = 1.0 if i < 5 else 3.0
        assert step(chx.ones(2)).tolist() == [1 + held[0]] * 2
    assert step.info()[0].replays == 4


def test_more_than_can_be_compared():
    tree = [[types.SimpleNamespace(rate=1.0) for _ in range(60)] for _ in range(60)]
    trees = [list(map(list, tree)) for _ in range(6)]
    step = chx.capture(lambda x: x * trees[0][0][0].rate)
    step(chx.ones(2))
    with pytest.raises(chx.CaptureError, match='variables of the program may be read'):
        step(chx.ones(2))
