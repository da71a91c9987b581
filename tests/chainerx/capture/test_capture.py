"""A captured function does what the function does, call by call."""

import collections
import gc
import multiprocessing
import queue
import threading
import weakref

import chainerx as chx
import numpy as np
import pytest


def same(a, b):
    np.testing.assert_array_equal(chx.to_numpy(a), chx.to_numpy(b))
    assert a.dtype == b.dtype


def replays(step):
    return sum(v.replays for v in step.info())


def numbers(*shape, seed=0, dtype='float32'):
    return chx.array(np.random.default_rng(seed).normal(size=shape).astype(dtype))


def test_results_are_those_of_the_function():
    w = numbers(4, 3)

    def f(x):
        return chx.tanh(x.dot(w)) * 2 + x.sum()

    step = chx.capture(f)
    for seed in range(8):
        x = numbers(5, 4, seed=seed)
        same(step(x), f(x))
    assert replays(step) == 5
    (row,) = step.info()
    assert row.arguments == 'float32[5,4]'
    assert row.kernels > 3
    assert row.nbytes > 0
    assert row.reason == ''
    assert row.graph is False


def test_arguments_without_elements():
    w = numbers(3, 2).require_grad()

    def f(x):
        w.cleargrad()
        y = chx.tanh(x).dot(w) * 2
        (y.sum() + 1).backward()
        return y, x[:, :0], y.sum()

    step = chx.capture(f)
    for _ in range(6):
        for y, e in zip(step(chx.zeros((0, 3))), f(chx.zeros((0, 3))), strict=True):
            same(y, e)
            assert y.shape == e.shape
        same(w.grad, chx.zeros((3, 2)))
    assert replays(step) == 3


def test_results_are_new_arrays():
    step = chx.capture(lambda x: x + 1)
    ys = [step(chx.full((3,), i, 'float32')) for i in range(6)]
    assert [float(y[0]) for y in ys] == [1, 2, 3, 4, 5, 6]
    for y in ys[3:]:
        y += 100
    assert float(step(chx.full((3,), 6, 'float32'))[0]) == 7


Point = collections.namedtuple('Point', 'x y')


def test_results_come_in_their_containers():
    @chx.capture
    def step(x):
        return {'a': x * 2, 'rest': [x + 1, (None, 'text', 3)], 'point': Point(x, 0.5)}

    for i in range(6):
        x = chx.full((2,), i, 'float32')
        y = step(x)
        assert list(y) == ['a', 'rest', 'point']
        same(y['a'], x * 2)
        same(y['rest'][0], x + 1)
        assert y['rest'][1] == (None, 'text', 3)
        assert isinstance(y['point'], Point)
        same(y['point'].x, x)
        assert y['point'].y == 0.5


def test_views_of_one_result_share_memory():
    @chx.capture
    def step(x):
        y = x + 1
        return y, y[1:]

    for i in range(5):
        y, tail = step(chx.full((4,), i, 'float32'))
        tail += 10
        assert y.tolist() == [i + 1, i + 11, i + 11, i + 11]


def test_arguments_of_all_kinds():
    def f(x, pair, *, scale, table):
        return x * scale + pair[0] - pair[1]['b'] + chx.array(table)

    step = chx.capture(f)
    for seed in range(6):
        x, a, b = (numbers(3, 2, seed=seed * 3 + i) for i in range(3))
        table = np.random.default_rng(seed).normal(size=(3, 2)).astype('f')
        y = step(x.T.copy().T, (a, {'b': b}), scale=2.5, table=table)
        same(y, f(x, (a, {'b': b}), scale=2.5, table=table))
    assert replays(step) == 3


@pytest.mark.parametrize(
    ('first', 'second'),
    [
        (1, 2),
        (1, 1.0),
        (0.0, -0.0),
        (True, 1),
        ('a', 'b'),
        (None, False),
        ((1, 2), (1, 3)),
        ({'a': 1}, {'a': 2}),
        ({'a': 1}, {'b': 1}),
    ],
)
def test_values_of_python_are_told_apart(first, second):
    calls = queue.SimpleQueue()  # a list that grows would be seen

    def f(x, value):
        calls.put(value)
        return x + 1

    step = chx.capture(f)
    x = chx.ones(2)
    for _ in range(5):
        step(x, first)
    assert [calls.get() for _ in range(calls.qsize())] == [first] * 3
    step(x, second)
    assert calls.qsize() == 1
    assert calls.get() == second
    assert len(step.info()) == 2


def test_layouts_dtypes_and_shapes_are_told_apart():
    step = chx.capture(lambda x: x * x)
    base = numbers(6, 4)
    for x in (base, base.T, base[::-1], base[:, ::2], base.astype('float64'), base[0], base[:0]):
        for _ in range(5):
            same(step(x), x * x)
    assert len(step.info()) == 7
    assert {v.replays for v in step.info()} == {2}


def test_the_variant_least_used_is_thrown_out():
    step = chx.capture(lambda x: x + 1, variants=2)
    for n in (1, 2, 1, 3, 1):
        for _ in range(4):
            same(step(chx.zeros(n)), chx.ones(n))
    assert sorted(v.arguments for v in step.info()) == ['float32[1]', 'float32[3]']
    assert replays(step) == 1 + 4 + 4 + 1  # of (1,) and of (3,)


def test_gradients_of_leaves_are_set():
    w = numbers(3, 2).require_grad()

    def f(x):
        w.cleargrad()
        loss = (chx.tanh(x.dot(w)) ** 2).sum()
        loss.backward()
        return loss

    step = chx.capture(f)
    kept = []
    for seed in range(7):
        x = numbers(4, 3, seed=seed)
        loss = step(x)
        got = w.grad
        kept.append((got, chx.to_numpy(got, copy=True)))
        expected = f(x)
        same(loss, expected)
        same(got, w.grad)
        assert not loss.is_backprop_required()
    assert replays(step) == 4
    for grad, numpy in kept:  # none was overwritten
        np.testing.assert_array_equal(chx.to_numpy(grad), numpy)


def test_gradients_of_arguments_are_set():
    def f(x):
        y = (x * x * x).sum()
        y.backward()
        return y

    step = chx.capture(f)
    for seed in range(6):
        x = numbers(5, seed=seed).require_grad()
        step(x)
        same(x.grad, 3 * chx.square(x.as_grad_stopped()))


def test_gradients_that_add_up():
    w = chx.ones(3).require_grad()
    step = chx.capture(lambda x: (w * x).sum().backward())
    total = np.zeros(3, 'f')
    for i in range(8):
        step(chx.full((3,), i, 'float32'))
        total += i
        np.testing.assert_array_equal(chx.to_numpy(w.grad), total)
        if i == 5:
            w.cleargrad()
            total[:] = 0


def test_arrays_written_in_place():
    state = chx.zeros(3)

    def f(x):
        state[...] = state * 0.5 + x
        x += 1
        return state * 2

    step = chx.capture(f)
    expected = np.zeros(3, 'f')
    for i in range(8):
        x = chx.full((3,), i, 'float32')
        y = step(x)
        expected = expected * np.float32(0.5) + i
        np.testing.assert_array_equal(chx.to_numpy(state), expected)
        np.testing.assert_array_equal(chx.to_numpy(y), expected * 2)
        assert x.tolist() == [i + 1] * 3
        if i == 5:
            state.fill(7)
            expected[:] = 7


def test_an_array_that_is_replaced_is_found():
    weights = [chx.ones(2), *range(100)]  # too long for each item to be looked at
    step = chx.capture(lambda x: x * weights[0])
    x = chx.full((2,), 3, 'float32')
    for i in range(12):
        if i == 6:
            weights[0] = chx.full((2,), 5, 'float32')
        assert step(x).tolist() == [15 if i >= 6 else 3] * 2
    assert replays(step) == 3 + 3
    assert 'replaced' in step.info()[0].reason


def test_arguments_that_are_the_same_array():
    def f(x, y):
        x += 1
        return x * y

    step = chx.capture(f)
    for i in range(5):
        a, b = chx.full((2,), i, 'float32'), chx.full((2,), 10, 'float32')
        assert step(a, b).tolist() == [(i + 1) * 10] * 2
        assert step(a, a).tolist() == [(i + 2) ** 2] * 2
    assert [v.replays for v in step.info()] == [2, 2]


def test_arguments_that_overlap_run_as_they_are():
    def f(x, y):
        x += 1
        return y * 1

    step = chx.capture(f)
    for _ in range(6):
        base = chx.arange(5, dtype='float32')
        assert step(base[:4], base[1:]).tolist() == [2, 3, 4, 4]
    assert replays(step) == 0


def test_arguments_that_the_step_also_uses_by_itself():
    w = chx.full((2,), 2, 'float32')

    def f(x):
        w[...] = w + 1
        return x * w

    step, value = chx.capture(f), 2
    others = [chx.full((2,), i, 'float32') for i in range(20)]
    order = [w, w, w, w, others[0], others[1], w, others[2], w, *others[3:], w, w]
    for x in order:
        value += 1
        expected = value * value if x is w else float(x[0]) * value
        assert step(x).tolist() == [expected] * 2
    assert replays(step) > 8


def test_arguments_that_are_parts_of_what_the_step_uses():
    w = chx.zeros(4)

    def f(x):
        w[...] = w + 1
        return x * 2

    step = chx.capture(f)
    for i in range(6):
        assert step(w[:2]).tolist() == [2 * i + 2] * 2
    assert replays(step) == 0


def test_random_numbers_go_on():
    def f(x):
        return x + chx.random.normal(size=3) + chx.random.uniform(size=3)

    step = chx.capture(f)
    x = chx.zeros(3, 'float64')
    chx.random.seed(4)
    expected = [f(x) for _ in range(8)]
    state = chx.random.get_state()
    chx.random.seed(4)
    for e in expected:
        same(step(x), e)
    assert chx.random.get_state() == state
    chx.random.seed(4)
    same(step(x), expected[0])
    chx.random.uniform(size=2, device='native:1')  # moves the state there
    same(step(x), f_at(f, x, 4, 2))


def f_at(f, x, seed, draws):
    chx.random.seed(seed)
    for _ in range(draws + 1):
        chx.random.uniform(size=2)
    return f(x)


def test_methods_are_captured_by_instance():
    class Model:
        def __init__(self, w):
            self.w = chx.full((2,), w, 'float32')

        @chx.capture(variants=3)
        def scale(self, x):
            """Scales."""
            return x * self.w

    a, b = Model(2), Model(3)
    for i in range(6):
        x = chx.full((2,), i, 'float32')
        assert a.scale(x).tolist() == [2 * i] * 2
        assert b.scale(x).tolist() == [3 * i] * 2
    assert replays(a.scale) == replays(b.scale) == 3
    assert a.scale.__doc__ == 'Scales.'
    assert Model.scale.__name__ == 'scale'
    gone = weakref.ref(a)
    del a
    gc.collect()
    assert gone() is None


def test_errors_of_the_function_pass():
    fail = [False]

    def f(x):
        y = x + 1
        if fail[0]:
            raise KeyError('mine')
        return y * 2

    step = chx.capture(f)
    x = chx.ones(2)
    for _ in range(3):
        fail[0] = True
        with pytest.raises(KeyError, match='mine'):
            step(x)
        fail[0] = False
        assert step(x).tolist() == [4, 4]
    fail[0] = True
    for _ in range(2):
        with pytest.raises(KeyError, match='mine'):
            step(x)
    fail[0] = False
    for _ in range(4):
        assert step(x).tolist() == [4, 4]
    assert replays(step) == 1


def test_errors_of_values_leave_it_usable():
    table = numbers(5, 2)
    step = chx.capture(lambda i: chx.take(table, i, axis=0, mode='raise'))
    good, bad = chx.array([0, 4]), chx.array([0, 5])
    for _ in range(5):
        same(step(good), table[np.array([0, 4])])
    with pytest.raises(IndexError):
        step(bad)
    same(step(good), table[np.array([0, 4])])


def test_modes_and_devices_are_told_apart():
    w = numbers(2).require_grad()

    @chx.capture
    def step(x):
        y = (x * w).sum()
        if y.is_backprop_required():
            y.backward()
        return y + chx.zeros(())

    for _ in range(5):
        step(numbers(2))
        with chx.no_backprop_mode():
            step(numbers(2))
        with chx.using_device('native:1'), pytest.raises(chx.DeviceError):
            step(numbers(2))
    assert [v.replays for v in step.info()[:2]] == [2, 2]


def test_memory_is_given_back():
    w = numbers(100, 100)
    step = chx.capture(lambda x: (x.dot(w) + 1).sum())
    for _ in range(5):
        step(numbers(100, 100))
    held = weakref.ref(step)
    del step
    gc.collect()
    assert held() is None


def test_captures_in_cycles_leave_nothing():
    class Model:
        def __init__(self):
            self.w = numbers(3, 3).require_grad()
            self.steps = chx.capture(self.forward), chx.capture(self.train)

        def forward(self, x):
            return chx.tanh(x.dot(self.w)) * 2

        def train(self, x):
            self.w.cleargrad()
            (x.dot(self.w) ** 2).sum().backward()

    def count():
        gc.collect()
        return chx._core._live_counts()

    chx._core._set_leak_tracking(True)
    try:
        before = count()
        for _ in range(20):
            model = Model()
            for step in model.steps * 5:
                step(numbers(2, 3))
            assert [replays(step) for step in model.steps] == [2, 2]
        del model, step
        assert count() == before
    finally:
        chx._core._set_leak_tracking(False)


def test_temporaries_share_memory():
    def f(x):
        for _ in range(20):
            x = chx.exp(x * 0.5) - 1
        return x

    step = chx.capture(f)
    x = numbers(1000)
    for _ in range(4):
        same(step(x), f(x))
    assert step.info()[0].nbytes <= 3 * x.nbytes


def test_several_threads():
    w = numbers(64, 64)

    def f(x):
        return chx.tanh(x.dot(w)).sum(axis=0)

    step = chx.capture(f)
    wrong = []

    def run(seed):
        for i in range(40):
            x = numbers(8, 64, seed=seed * 100 + i)
            if not np.array_equal(chx.to_numpy(step(x)), chx.to_numpy(f(x))):
                wrong.append((seed, i))

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
    assert replays(step) > 50


def test_a_forked_process_goes_on():
    step = chx.capture(lambda x: x.dot(x) + 1)
    x = numbers(16, 16)
    for _ in range(4):
        expected = step(x)

    def run(queue):
        queue.put(np.array_equal(chx.to_numpy(step(x)), chx.to_numpy(expected)))

    context = multiprocessing.get_context('fork')
    queue = context.Queue()
    child = context.Process(target=run, args=(queue,))
    child.start()
    assert queue.get(timeout=30)
    child.join()


def test_info_may_be_asked_at_any_time():
    seen = queue.SimpleQueue()
    inside, leave = threading.Event(), threading.Event()

    def f(x):
        seen.put(step.info())
        if waits:
            inside.set()
            assert leave.wait(30)
        return x + 1

    def call_three_times():  # in one thread, whose settings are part of the key
        nonlocal waits
        for i in range(3):
            waits = i == 2
            step(chx.ones(2))

    step, waits = chx.capture(f), False
    thread = threading.Thread(target=call_three_times)
    thread.start()
    assert inside.wait(30)
    assert len(step.info()) == 1
    leave.set()
    thread.join()
    assert [len(seen.get()) for _ in range(seen.qsize())] == [0, 1, 1]
    assert step.info()[0].kernels == 1


def test_a_call_beside_another_one_waits_for_nobody():
    inside, leave = threading.Event(), threading.Event()

    def f(x):
        if threading.current_thread() is thread:
            inside.set()
            assert leave.wait(30)
        return x + 1

    step = chx.capture(f)
    thread = threading.Thread(target=step, args=(chx.ones(2),))
    thread.start()
    assert inside.wait(30)
    for _ in range(5):
        assert step(chx.ones(2)).tolist() == [2, 2]
    leave.set()
    thread.join()
    for _ in range(5):
        assert step(chx.ones(2)).tolist() == [2, 2]
    assert max(row.replays for row in step.info()) > 0


def test_profiles_show_replays():
    step = chx.capture(lambda x: chx.exp(x))
    x = numbers(3)
    for _ in range(4):
        step(x)
    with chx.profile() as profile:
        step(x)
    assert [row.name for row in profile.rows] == ['Exp']


@pytest.mark.parametrize('bad', [0, -1])
def test_bad_options(bad):
    with pytest.raises(ValueError, match=f'capture: variants is {bad}, expected at least 1'):
        chx.capture(abs, variants=bad)
    for option in ('variants', 'verify'):
        with pytest.raises(TypeError, match=f"capture: {option} is 'a', expected an int"):
            chx.capture(abs, **{option: 'a'})
    with pytest.raises(TypeError, match='capture: step is a int, expected a function'):
        chx.capture(3)
