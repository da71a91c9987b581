"""What a replay can't repeat is an error that says what, and where."""

import collections
import functools
import gc
import re
import sys
import threading
import time
import warnings
import weakref

import chainer
import chainerx as chx
import numpy as np
import pytest


def call(step, n=3, x=None):
    for _ in range(n):
        y = step(chx.ones(3) if x is None else x)
    return y


READS = {
    'float': lambda x: x * float(x.sum()),
    'item': lambda x: x * x[0].item(),
    'bool': lambda x: x if x.sum() > 0 else -x,
    'tolist': lambda x: x + x.tolist()[0],
    'numpy': lambda x: x + np.asarray(x)[0],
    'to_numpy': lambda x: x + chx.to_numpy(x)[0],
    'buffer': lambda x: x + memoryview(x)[0],
    'dlpack': lambda x: x + np.from_dlpack(x)[0],
    'nonzero': lambda x: x + chx.nonzero(x)[0].shape[0],
    'mask': lambda x: x[x > 0],
    'repr': lambda x: x + len(repr(x)),
    'to_device': lambda x: x.to_device('native:1'),
    'synchronize': lambda x: chx.get_default_device().synchronize() or x + 1,
}


@pytest.mark.parametrize('name', READS)
def test_values_that_the_host_reads(name):
    f = READS[name]
    step = chx.capture(f)
    x = chx.arange(3, dtype='float32')
    expected = chx.to_numpy(f(x))
    np.testing.assert_array_equal(chx.to_numpy(step(x)), expected)
    for _ in range(2):
        line = f.__code__.co_firstlineno
        with pytest.raises(chx.CaptureError, match=rf'^capture: .* \(test_refusals.py:{line}\), '):
            step(x)
    loose = chx.capture(f, strict=False)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter('always')
        for _ in range(5):
            np.testing.assert_array_equal(chx.to_numpy(loose(x)), expected)
    assert len(found) == 1
    assert "can't repeat" in loose.info()[0].reason


def test_memory_that_nothing_has_written():
    step = chx.capture(lambda x: x + chx.empty(3))
    call(step, 1)
    with pytest.raises(chx.CaptureError, match='an array is read that nothing has written'):
        call(step, 1)
    step = chx.capture(lambda x: chx.concatenate([x, chx.empty(0)]))
    call(step, 5)
    assert step.info()[0].replays == 2


def test_numbers_that_differ_are_named():
    rate = [0.1]

    def f(x):
        rate[0] *= 0.5
        return x * rate[0]

    step = chx.capture(f)
    call(step, 3)
    line = f.__code__.co_firstlineno + 2
    with pytest.raises(
        chx.CaptureError,
        match=rf'Multiply.* \(test_refusals.py:{line}\): x2 was 0.0125, now 0.00625; pass it as',
    ):
        call(step, 1)


def test_arrays_of_numpy_that_differ_are_named():
    step = chx.capture(lambda x: x + chx.array(np.arange(3, dtype='f')))
    with pytest.raises(chx.CaptureError, match='array of NumPy'):
        call(step, 5)


def test_numbers_in_arrays_that_differ_are_named():
    count = [0]

    def f(x):
        count[0] += 1
        return x + chx.array([count[0], 0, 0])

    with pytest.raises(chx.CaptureError, match=r'test_refusals\.py'):
        call(chx.capture(f), 5)


def test_kernels_that_differ_are_named():
    count = [0]

    def f(x):
        count[0] += 1
        return chx.exp(x) if count[0] % 2 else chx.log(x)

    with pytest.raises(chx.CaptureError, match=r'Exp.*: was Log|Log.*: was Exp'):
        call(chx.capture(f), 5)

    def g(x):
        count[0] += 1
        for _ in range(count[0]):
            x = x + 1
        return x

    with pytest.raises(chx.CaptureError, match=r'is called only now, as call \d+ of the step'):
        call(chx.capture(g), 5)


class Counter:
    total = 0

    def __init__(self):
        self.n = 0
        self.seen = [0]
        self.names = {}
        self.slow = collections.deque([1], maxlen=9)


def count_attribute(c, x):
    c.n += 1
    return x * (2 if c.n % 100 else 3)


def count_of_class(c, x):
    type(c).total += 1
    return x + 1


def count_globally(c, x):
    global calls
    calls += 1
    return x + 1


def flip(c, x):
    c.flag = not getattr(c, 'flag', False)
    return x + 1


def keep_a_tuple(c, x):
    c.n = (c.n, 1)[:1] if isinstance(c.n, int) else (c.n[0] + 1,)
    return x + 1


def append(c, x):
    c.seen.append(x.shape)
    return x + 1


def put(c, x):
    c.names[len(c.names)] = 'a name'
    return x + 1


def push(c, x):
    c.slow.append(0)
    return x + 1


def set_item(c, x):
    c.seen[0] += 0.5
    return x + 1


calls = 0


@pytest.mark.parametrize(
    ('step', 'what'),
    [
        (count_attribute, 'Counter.n was 3 before the step, and is 4 after it'),
        (count_of_class, r'Counter.total was \d+ before the step, and is \d+ after it'),
        (count_globally, r'test_refusals.calls was \d+ before the step'),
        (flip, 'Counter.flag was True before the step, and is False after it'),
        (keep_a_tuple, r'Counter.n was \(2,\) before the step, and is \(3,\) after it'),
        (append, 'a list had 4 items before the step, and has 5'),
        (put, 'a dict had 3 items before the step, and has 4'),
        (push, 'a deque had 4 items before the step, and has 5'),
        (set_item, 'item 0 of a list was 1.5 before the step, and is 2.0 after it'),
    ],
    ids=lambda value: getattr(value, '__name__', ''),
)
def test_what_only_python_changes_is_named(step, what):
    counter = Counter()
    captured = chx.capture(lambda x: step(counter, x))
    call(captured, 3)
    with pytest.raises(chx.CaptureError, match=f'{what}.*a replay would leave that out'):
        call(captured, 1)
    loose = chx.capture(functools.partial(step, Counter()), strict=False)
    with pytest.warns(RuntimeWarning, match='a replay would leave that out'):
        call(loose, 6)
    assert loose.info()[0].replays == 0


def test_what_is_as_before_after_the_step_is_replayed():
    counter = Counter()

    def f(x):
        counter.n, n = counter.n + 1, counter.n
        counter.seen.append(3)
        counter.size = len(x), x.dtype.name, float('nan')  # another one each time, that is equal
        counter.seen.pop()
        counter.n = n
        return x + 1

    step = chx.capture(f)
    call(step, 6)
    assert step.info()[0].replays == 3


def test_what_changes_only_once_is_replayed():
    counter = Counter()
    counter.late = None

    def f(x):
        counter.n = min(counter.n + 1, 3)  # in the first recording, and not in the next two
        return x + 1

    step = chx.capture(f)
    call(step, 7)
    assert step.info()[0].replays == 3


def test_what_is_called_in_replays_may_count():
    counter = Counter()

    @chainer.static_code
    def count(x):
        counter.n += 1
        counter.seen.append(float(x.sum()))

    def f(x):
        count(x)
        return x + 1

    step = chx.capture(f)
    call(step, 7)
    assert step.info()[0].replays == 4
    assert counter.n == 7
    assert len(counter.seen) == 8


@pytest.mark.parametrize('between', [False, True])
def test_what_is_the_same_after_each_call_is_set(between):
    counter = Counter()
    counter.names['phase'] = 'none'

    def f(x):
        counter.n = len(x)
        counter.names['phase'] = 'trained', x.shape
        counter.seen[0] = 0.5 * len(x)
        return x + 1

    step = chx.capture(f)
    for i in range(16):
        n = 2 + i % 2
        if between:
            counter.n, counter.names['phase'], counter.seen[0] = None, 'none', 0
        step(chx.ones(n))
        assert counter.n == n
        assert counter.names['phase'] == ('trained', (n,))
        assert counter.seen == [0.5 * n]
    assert [row.replays for row in step.info()] == [4, 4]


def test_what_code_of_the_program_would_not_see_is_refused():
    counter = Counter()
    note = chainer.static_code(lambda x: counter.seen.append(counter.n))

    def f(x):
        counter.n = len(x)
        note(x)
        return x + 1

    step = chx.capture(f)
    for _ in range(3):
        counter.n = 0
        call(step, 1)
    counter.n = 0
    with pytest.raises(chx.CaptureError, match=r'Counter\.n was 0 before the step, and is 3'):
        call(step, 1)
    assert set(counter.seen[1:]) == {3}


def test_a_model_whose_attributes_are_set_is_collected():
    class Model:
        n = 0

        @chx.capture
        def forward(self, x):
            self.n = len(x)
            return x + 1

    model = Model()
    for i in range(12):
        model.n = 0
        model.forward(chx.ones(2 + i % 2))
        assert model.n == 2 + i % 2
    assert [row.replays for row in model.forward.info()] == [2, 2]
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_what_another_thread_changes_meanwhile_is_replayed():
    counter, other = Counter(), Counter()
    is_over = threading.Event()

    def count():
        while not is_over.wait(0.0002):
            counter.n += 1

    def f(x):
        n = counter.n
        while counter.n == n:
            time.sleep(0.0002)
        return x + 1

    def g(x):
        other.n += 1
        return f(x)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        step = chx.capture(f)
        call(step, 6)
        assert step.info()[0].replays == 3
        with pytest.raises(chx.CaptureError, match=r'Counter\.n was 3 before the step, and is 4'):
            call(chx.capture(g), 4)
    finally:
        is_over.set()
        thread.join()


def test_containers_that_another_thread_changes_while_they_are_looked_at():
    counter = Counter()
    counter.found = set()
    counter.names.update(enumerate('abcdefghijklmnopqrstuvwxyz'))
    n = 0

    def f(x):
        return x * len(counter.names or counter.found or counter.seen or counter.slow or 'none')

    def trace(frame, event, _):  # between two instructions, as another thread would
        nonlocal n
        if not frame.f_code.co_filename.endswith(('_places.py', '_dependencies.py')):
            return None
        frame.f_trace_opcodes = True
        n += 1
        if event == 'opcode' and n % 3 == 0:
            for add in (counter.names.__setitem__, counter.__dict__.__setitem__):
                add(f'name {n % 30}', n)
            counter.found ^= {n % 29}
            counter.slow.append(n)
            counter.seen.append(n)
            del counter.seen[n % 30 + 1 :], counter.names[f'name {n % 30}']
        return trace

    step = chx.capture(f, strict=False)
    before = sys.gettrace()
    for _ in range(4):
        sys.settrace(trace)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')
                step(chx.ones(2))
        finally:
            sys.settrace(before)
    assert n > 1000


def test_shapes_that_differ_are_named():
    count = [0]

    def f(x):
        count[0] += 1
        return chx.zeros(count[0]) + 1

    with pytest.raises(chx.CaptureError, match=r'shape \(3,\).* now .*shape \(4,\)'):
        call(chx.capture(f), 5)


def test_results_that_differ_are_named():
    count = [0]

    def f(x):
        count[0] += 1
        return x + 1, count[0]

    with pytest.raises(chx.CaptureError, match=re.escape('was (array, 3), now (array, 4)')):
        call(chx.capture(f), 5)


def test_arrays_that_stay_in_use_are_named():
    kept = []

    def f(x):
        y = chx.exp(x)
        kept.append(y)
        return y + 1

    line = f.__code__.co_firstlineno + 1
    with pytest.raises(
        chx.CaptureError, match=rf'an array made by Exp \(test_refusals.py:{line}\) is still in use'
    ):
        call(chx.capture(f), 2)


def test_arrays_in_cycles_are_no_error():
    def f(x):
        y = [chx.exp(x)]
        y.append(y)
        return y[0] + 1

    step = chx.capture(f)
    call(step, 5)
    assert step.info()[0].replays == 2


def test_errors_that_are_caught_are_named():
    def f(x, i):
        try:
            return chx.take(x, i, axis=0, mode='raise')
        except IndexError:
            return x * 2

    step, bad = chx.capture(f), chx.array([7])
    assert step(chx.ones(3), bad).tolist() == [2, 2, 2]
    line = f.__code__.co_firstlineno + 2
    with pytest.raises(chx.CaptureError, match=rf'a kernel is caught \(test_refusals.py:{line}\)'):
        step(chx.ones(3), bad)


def test_results_in_graphs_are_no_arguments():
    x = chx.ones(2).require_grad()
    with pytest.raises(chx.CaptureError, match='argument 0 is a result in a graph'):
        chx.capture(lambda x: x + 1)(x * 2)


@pytest.mark.parametrize('value', [{1, 2}, bytearray(b'a'), np.array(['a', 'b']), [[], {3}]])
def test_arguments_that_can_not_be_compared(value):
    step = chx.capture(lambda x, value: x + 1)
    with pytest.raises(TypeError, match='capture: argument 1'):
        step(chx.ones(2), value)


def test_many_kinds_of_arguments_are_a_warning():
    step = chx.capture(lambda x, i: x + i, variants=3)
    x = chx.ones(2)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter('always')
        for i in range(250):
            assert step(x, i).tolist() == [i + 1] * 2
    (warning,) = found
    assert re.match(r'capture: of 100 calls only 0 were replays', str(warning.message))


def test_values_of_many_calls_are_not_kept():
    step = chx.capture(lambda x, value: x + 1, strict=True)
    x = chx.ones(2)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        value = _Value()
        alive = weakref.ref(value)
        step(x, value)
        del value
        assert alive() is not None
        for _ in range(5000):
            step(x, object())
    gc.collect()
    assert alive() is None


class _Value:
    pass


def test_a_failed_capture_leaves_everything_as_a_plain_call():
    w = chx.ones(2).require_grad()
    state = chx.zeros(2)

    def f(x):
        w.cleargrad()
        y = (w * x + chx.random.uniform(size=2).astype('float32')).sum()
        y.backward()
        state[...] = state + x
        float(y)
        return y

    step = chx.capture(f)
    x = chx.full((2,), 3, 'float32')
    chx.random.seed(1)
    step(x)
    with pytest.raises(chx.CaptureError):
        step(x)
    assert w.grad.tolist() == [3, 3]
    assert state.tolist() == [6, 6]
    assert chx.random.get_state() == (1, 2)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        f(x)
