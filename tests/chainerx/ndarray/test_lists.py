"""Lists that change while a routine reads them: by an element's own methods, or by a thread."""

import gc
import sys
import threading

import chainer
import chainerx as chx
import numpy as np
import pytest


class Biter:
    """An integer that empties the list it is in when it is read."""

    def __init__(self, value, victim):
        self.value = value
        self.victim = victim

    def __index__(self):
        self.victim.clear()
        gc.collect()
        # Reuses memory that has just been freed.
        self.fresh = [object() for _ in range(1000)]
        return self.value


def bitten(values):
    """A list whose first element empties it; the others die with it."""
    victim = []
    victim.append(Biter(values[0], victim))
    victim.extend(Biter(v, []) for v in values[1:])
    return victim


X = chx.arange(24).reshape(2, 3, 4)

READERS = {
    'zeros': (lambda v: chx.zeros(v), [2, 3]),
    'ones': (lambda v: chx.ones(v), [2, 3]),
    'full': (lambda v: chx.full(v, 1), [2, 3]),
    'empty': (lambda v: chx.empty(v), [2, 3]),
    'ndarray': (lambda v: chx.ndarray(v, 'int8'), [2, 3]),
    'reshape': (lambda v: X.reshape(v), [4, 6]),
    'routine reshape': (lambda v: chx.reshape(X, v), [4, 6]),
    'broadcast_to': (lambda v: chx.broadcast_to(chx.ones(3), v), [2, 3]),
    'transpose': (lambda v: chx.transpose(X, v), [2, 0, 1]),
    'method transpose': (lambda v: X.transpose(v), [2, 0, 1]),
    'sum': (lambda v: X.sum(axis=v), [0, 2]),
    'max': (lambda v: chx.max(X, axis=v), [0, 2]),
    'mean': (lambda v: chx.mean(X, axis=v), [0, 2]),
    'squeeze': (lambda v: chx.squeeze(chx.ones((1, 2, 1)), v), [0, 2]),
    'expand_dims': (lambda v: chx.expand_dims(X, v[0]), [0]),
    'moveaxis': (lambda v: chx.moveaxis(X, v, (1, 2)), [0, 1]),
    'flip': (lambda v: chx.flip(X, v), [0, 1]),
    'pad': (lambda v: chx.pad(X, v), [1, 2]),
    'pad nested': (lambda v: chx.pad(chx.ones((2, 2)), [v, (1, 1)]), [1, 2]),
    'tile': (lambda v: chx.tile(X, v), [1, 2]),
    'roll': (lambda v: chx.roll(X, v, (0, 1)), [1, 2]),
    'roll axis': (lambda v: chx.roll(X, (1, 2), v), [0, 1]),
    'split': (lambda v: chx.split(chx.arange(10), v)[1], [2, 5]),
    'array_split': (lambda v: chx.array_split(chx.arange(10), v)[1], [2, 5]),
    'repeat': (lambda v: chx.repeat(chx.arange(2), v), [2, 5]),
    'normal': (lambda v: chx.random.normal(size=v), [2, 3]),
    'uniform': (lambda v: chx.random.uniform(size=v), [2, 3]),
}


@pytest.mark.parametrize('name', READERS)
def test_an_element_empties_its_list(name):
    call, values = READERS[name]
    expected = call(list(values))
    actual = call(bitten(values))
    assert actual.shape == expected.shape
    if 'normal' not in name and name not in ('uniform', 'empty', 'ndarray'):
        np.testing.assert_array_equal(chx.to_numpy(actual), chx.to_numpy(expected))


class Raiser:
    def __init__(self, error):
        self.error = error

    def __index__(self):
        raise self.error


@pytest.mark.parametrize('error', [KeyboardInterrupt, MemoryError, ZeroDivisionError])
@pytest.mark.parametrize('name', READERS)
def test_an_element_raises(name, error):
    """An error that stops a conversion is not reported as a TypeError."""
    call, values = READERS[name]
    with pytest.raises(error):
        call([Raiser(error()), *values[1:]])


def test_a_list_of_pairs_is_emptied():
    pairs = []

    class Pair(list):
        pass

    first = Pair()
    first.extend([Biter(1, pairs), Biter(2, [])])
    pairs.extend([first, [3, 4]])
    del first
    assert chx.pad(chx.ones((2, 2)), pairs).shape == (5, 9)


JOINERS = {
    'concatenate': lambda v: chx.concatenate(v),
    'stack': lambda v: chx.stack(v),
    'hstack': lambda v: chx.hstack(v),
    'vstack': lambda v: chx.vstack(v),
    'dstack': lambda v: chx.dstack(v),
    'broadcast_arrays': lambda v: chx.broadcast_arrays(*v)[0],
}


@pytest.mark.parametrize('name', JOINERS)
def test_a_thread_empties_the_list(name):
    """Large enough to be computed without the GIL, which the other thread waits for."""
    call = JOINERS[name]
    stop = threading.Event()
    current = [[]]

    def empty():
        while not stop.is_set():
            current[0].clear()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    thread = threading.Thread(target=empty)
    thread.start()
    seen = 0
    try:
        for _ in range(40):
            arrays = [chx.full((300, 300), i, 'float32') for i in range(4)]
            current[0] = arrays
            try:
                y = call(arrays)
            except (chx.DimensionError, ValueError, IndexError, TypeError):
                continue  # the list was empty before the call
            seen += 1
            assert set(np.unique(chx.to_numpy(y))) <= {0.0, 1.0, 2.0, 3.0}
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval)


def test_an_axis_empties_the_list_of_arrays():
    arrays = [chx.ones((2, 2)), chx.zeros((2, 2))]
    y = chx.concatenate(arrays, Biter(0, arrays))
    assert y.shape == (4, 2)
    arrays = [chx.ones((2, 2)), chx.zeros((2, 2))]
    assert chx.stack(arrays, Biter(0, arrays)).shape == (2, 2, 2)


# ---- chainer: what the collector runs while the engine allocates ---------------------------------


def make_garbage(action):
    """A cycle that calls `action` when the collector finds it."""

    class Ring:
        def __del__(self):
            action()

    ring = Ring()
    ring.self = ring


class Many(chainer.FunctionNode):
    def __init__(self, n):
        self.n = n

    def forward(self, inputs):
        (x,) = inputs
        return tuple(x + i for i in range(self.n))

    def backward(self, indexes, grads):
        total = None
        for g in grads:
            if g is not None:
                total = g if total is None else total + g
        return (total,)


@pytest.mark.parametrize('attribute', ['outputs', 'inputs'])
def test_a_function_is_applied_again_while_its_nodes_are_listed(attribute):
    x = chainer.Variable(np.ones(3, 'float32'))
    threshold = gc.get_threshold()
    try:
        for _ in range(30):
            f = Many(25)
            f.apply((x,))
            calls = []

            def again(f=f, calls=calls):
                calls.append(0)
                f.apply((chainer.Variable(np.ones(3, 'float32')),))

            make_garbage(again)
            gc.set_threshold(1, 1, 1)
            nodes = getattr(f, attribute)
            gc.set_threshold(*threshold)
            gc.collect()
            assert calls
            if attribute == 'outputs':
                assert len(nodes) == 25
                [node() for node in nodes]
            else:
                assert len(nodes) == 1
    finally:
        gc.set_threshold(*threshold)


def test_an_array_is_assigned_while_it_is_made():
    """`y.array` allocates, which collects, which assigns `y.array`."""
    threshold = gc.get_threshold()
    try:
        for _ in range(100):
            x = chainer.Variable(np.ones(3, 'float32'))
            y = x + 1
            make_garbage(lambda y=y: setattr(y, 'array', np.zeros(3, 'float32')))
            gc.set_threshold(1, 1, 1)
            a = y.array
            gc.set_threshold(*threshold)
            gc.collect()
            assert a.tolist() in ([2, 2, 2], [0, 0, 0])
            assert y.array.tolist() == [0, 0, 0]
    finally:
        gc.set_threshold(*threshold)


def test_gradients_come_in_a_list_that_is_emptied():
    class Square(chainer.FunctionNode):
        def forward(self, inputs):
            self.retain_inputs((0, 1))
            return (inputs[0] * inputs[1],)

        def backward_accumulate(self, indexes, grads, no_grads):
            a, b = self.get_retained_inputs()
            given.extend([grads[0] * b, grads[0] * a])
            return given

        def backward(self, indexes, grads):
            raise AssertionError

    given = []
    n = np.arange(300000, dtype='float32')
    x, y = chainer.Variable(n), chainer.Variable(n + 1)
    stop = threading.Event()

    def empty():
        while not stop.is_set():
            if len(given) == 2:
                given.clear()

    thread = threading.Thread(target=empty)
    thread.start()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for _ in range(20):
            x.cleargrad()
            y.cleargrad()
            (z,) = Square().apply((x, y))
            z.grad = np.ones_like(n)
            try:
                z.backward()
            except ValueError:  # the list was empty when it was returned
                continue
            finally:
                given.clear()
            np.testing.assert_array_equal(x.grad, n + 1)
            np.testing.assert_array_equal(y.grad, n)
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval)


@pytest.mark.parametrize('name', ['zeros', 'reshape', 'sum', 'broadcast_to', 'transpose'])
def test_an_element_is_no_integer(name):
    """A bool is refused, as by NumPy; other errors of an element reach the caller."""
    read, values = READERS[name]
    with pytest.raises(TypeError, match='bool'):
        read([True, *values[1:]])
    with pytest.raises(KeyboardInterrupt, match='in __index__'):
        read([Raiser(KeyboardInterrupt('in __index__')), *values[1:]])
