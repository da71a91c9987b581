"""Ctrl-C during long work: KeyboardInterrupt soon, and the state is unchanged."""

import os
import select
import signal
import subprocess
import sys
import textwrap
import time

import chainerx as chx
import numpy as np
import pytest

# Far below the time of the work, far above the latency of a busy machine.
SOON = 5.0

PRELUDE = """
import os, signal, sys, time
import chainerx as chx
import numpy as np

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it

def interrupted(work):
    print('start', flush=True)
    try:
        work()
    except KeyboardInterrupt:
        print('interrupted', flush=True)
        return
    print('finished', flush=True)

def check():
    assert float(chx.arange(1000).sum()) == 499500
    x = chx.ones((200, 200), 'float32')
    assert float((x @ x).sum()) == 200 ** 3
    g = chx.array([2.0]).require_grad()
    (g * g).backward()
    assert float(g.grad[0]) == 4.0
    print('computes', flush=True)
"""


def run_interrupted(body, *, delay=0.3, signals=signal.SIGINT, environment=()):
    """Runs `body` in a child that gets a signal `delay` after it says start.

    Returns what it printed and the seconds from the signal to the next line.
    """
    child = subprocess.Popen(
        [sys.executable, '-c', PRELUDE + textwrap.dedent(body)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **dict(environment)},
        start_new_session=True,
    )
    try:
        ready, _, _ = select.select([child.stdout], [], [], 300)
        assert ready, 'the child does not start'
        first = child.stdout.readline()
        time.sleep(delay)
        begin = time.monotonic()
        child.send_signal(signals)
        ready, _, _ = select.select([child.stdout], [], [], 60)
        took = time.monotonic() - begin
        assert ready, 'the child does not stop'
        out, err = child.communicate(timeout=120)
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    assert child.returncode == 0, first + out + err
    return (first + out).split(), took


def stops(body, **options):
    """Checks that `body` is interrupted soon, and computes afterwards."""
    lines, took = run_interrupted(body, **options)
    assert lines == ['start', 'interrupted', 'computes']
    assert took < SOON


WORK = {
    'reduction': (
        "x = chx.broadcast_to(chx.ones(1 << 10, 'float32'), (1 << 24, 1 << 10))",
        'x.sum()',
    ),
    'reduction of columns': (
        "x = chx.broadcast_to(chx.ones(1 << 10, 'float32'), (1 << 24, 1 << 10))",
        'x.sum(axis=0)',
    ),
    'reduction of integers': (
        "x = chx.broadcast_to(chx.ones(1, 'int32'), (1 << 34,))",
        'x.max()',
    ),
    'argmax of columns': (
        "x = chx.broadcast_to(chx.ones(100, 'float32'), (1 << 28, 100))",
        'x.argmax(axis=0)',
    ),
    'argmax': (
        "x = chx.broadcast_to(chx.ones(1, 'float32'), (1 << 34,))",
        'x.argmax()',
    ),
    'product': (
        "x = chx.ones((6000, 6000), 'float64')",
        'while True: x @ x',
    ),
    'product of integers': (
        "x = chx.ones((6000, 6000), 'int64')",
        'x @ x',
    ),
    'convolution of integers with a long window': (
        "x, w = chx.ones((1, 1, 1 << 21), 'int64'), chx.ones((1, 1, 1 << 20), 'int64')",
        'chx.conv(x, w)',
    ),
    'convolution with a long window': (
        "x, w = chx.ones((1, 1, 1 << 22), 'float64'), chx.ones((1, 1, 1 << 21), 'float64')",
        'chx.conv(x, w)',
    ),
    'pooling of long windows': (
        "x = chx.ones((1, 1, 1 << 24), 'float32')",
        'chx.max_pool(x, 1 << 20, 1)',
    ),
    'averages of long windows': (
        "x = chx.ones((1, 1, 1 << 24), 'float32')",
        'chx.average_pool(x, 1 << 20, 1)',
    ),
    'pooling of very many windows': (
        "x = chx.ones((1, 1, 1 << 24), 'float64')",
        'while True: chx.max_pool(x, 1000, 1)',
    ),
    'averages of very many windows': (
        "x = chx.ones((1, 1, 1 << 26), 'float64')",
        'while True: chx.average_pool(x, 1000, 1)',
    ),
    'gradient of averages of long windows': (
        "x = chx.ones((1, 1, 1 << 16), 'float32')",
        'chx.unpool(x, 1 << 22, 1 << 8)',
    ),
    'many operations': (
        "x = chx.ones((3000, 1000), 'float32')",
        'while True: y = chx.tanh(x.T) + x.T',
    ),
    'scan': (
        "x = chx.broadcast_to(chx.ones((1, 1), 'float32'), (1, 1 << 27))",
        'while True: chx.cumsum(x, axis=1)',
    ),
    'permutation': ('', 'while True: chx.random.permutation(1 << 25)'),
    'random numbers': ('', 'while True: chx.random.normal(size=1 << 25)'),
    'range': ('', "while True: chx.arange(1 << 25, dtype='int32')"),
    'fill': ("x = chx.empty(1 << 28, 'int8')", 'while True: x.fill(1)'),
    'take': (
        "x, i = chx.ones(1 << 20, 'float32'), chx.zeros(1 << 24, 'int64')",
        'while True: chx.take(x, i, axis=0)',
    ),
    'take of long rows': (
        "x = chx.broadcast_to(chx.ones(1, 'int8'), (1 << 30, 1 << 30))",
        'while True: x[[0, 1], ::-1]',
    ),
    'iteration': (
        'import collections; x = chx.broadcast_to(chx.ones(1), (1 << 40, 1))',
        'collections.deque(x, maxlen=0)',
    ),
    'long rows are set': (
        "x = chx.zeros((1, 1 << 28), 'int8')",
        'while True: x[[0]] = 1',
    ),
    'keys of lexsort': (
        'x = chx.broadcast_to(chx.ones(()), (1 << 26,))',
        'while True: chx.lexsort(x)',
    ),
    'columns of unique': (
        'x = chx.broadcast_to(chx.ones(()), (2, 1 << 26))',
        'while True: chx.unique(x, axis=0)',
    ),
    'lists': ('x = chx.broadcast_to(chx.ones(()), (1 << 14, 1 << 10))', 'while True: x.tolist()'),
    'polyval': ('p = chx.broadcast_to(chx.ones(()), (1 << 50,))', 'chx.polyval(p, 1.0)'),
    'poly': ('p = chx.broadcast_to(chx.ones(()), (1 << 50,))', 'chx.poly(p)'),
    'polydiv': ('p = chx.broadcast_to(chx.ones(()), (1 << 24,))', 'chx.polydiv(p, chx.ones(2))'),
    'add_at': (
        'x, i, gy = chx.ones(8).require_grad(), chx.zeros(1 << 24, int), chx.ones(1 << 24)',
        'while True: chx.grad([chx.take(x, i, axis=0)], [x], grad_outputs=[gy])',
    ),
}


@pytest.mark.parametrize('name', WORK)
@pytest.mark.parametrize('threads', ['1', '2'])
def test_kernels_stop(name, threads):
    setup, work = WORK[name]
    body = f"""
    {setup}
    def work():
        {work}
    interrupted(work)
    check()
    """
    stops(body, environment={'CHAINERX_NUM_THREADS': threads})


def test_signals_are_checked_throughout_a_sort():
    """64-bit keys in pairs that differ in their last bit, which is sorted after the upper bits."""
    keys = np.random.default_rng(0).integers(0, 1 << 62, 1 << 21)
    keys[::2] = keys[1::2] ^ 1
    x = chx.array(keys)
    times = []
    old = signal.signal(signal.SIGALRM, lambda *_: times.append(time.perf_counter()))
    try:
        longest = []
        for _ in range(5):  # a busy machine may spoil some attempts
            signal.setitimer(signal.ITIMER_REAL, 1e-3, 1e-3)
            times[:] = [time.perf_counter()]
            chx.argsort(x)
            times.append(time.perf_counter())
            signal.setitimer(signal.ITIMER_REAL, 0)
            longest.append(np.diff(times).max() / (times[-1] - times[0]))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert min(longest) < 0.25


BACKWARD = """
x = chx.ones(1, 'float64').require_grad()
x.grad = chx.full(1, 5.0, 'float64')
y = x
for _ in range(1_000_000):
    y = -y
"""


def test_backward_stops_and_leaves_gradients():
    body = (
        BACKWARD
        + """
interrupted(y.backward)
assert float(x.grad[0]) == 5.0
z = x * 3.0
z.backward()
assert float(x.grad[0]) == 8.0
check()
"""
    )
    stops(body, delay=0.02)


def test_grad_stops_while_it_looks_for_the_way():
    body = (
        BACKWARD
        + """
def work():
    while True:
        chx.grad([y], [x], enable_double_backprop=True)
interrupted(work)
assert float(x.grad[0]) == 5.0
check()
"""
    )
    stops(body)


def test_a_graph_of_chainer_can_be_run_again():
    body = """
    import chainer
    x = chainer.Variable(np.ones(1, 'float32'))
    y = x
    for _ in range(200_000):
        y = -y
    def work():
        while True:
            y.backward()
            x.cleargrad()
    interrupted(work)
    x.cleargrad()
    y.backward()
    assert x.grad[0] == 1.0
    check()
    """
    stops(body)


def test_the_error_of_a_handler_comes_through():
    """Any handler of the user, not only that of Ctrl-C; without an error the work continues."""
    body = """
    calls = []
    def handler(number, frame):
        calls.append(number)
        if len(calls) == 2:
            raise TimeoutError('enough')
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
    x = chx.broadcast_to(chx.ones(1 << 10, 'float32'), (1 << 26, 1 << 10))
    print('start', flush=True)
    try:
        x.sum()
    except TimeoutError as e:
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(e, len(calls), flush=True)
    check()
    """
    lines, _ = run_interrupted(body, signals=0)
    assert lines == ['start', 'enough', '2', 'computes']


def test_a_handler_may_compute():
    body = """
    seen = []
    def handler(number, frame):
        seen.append(float(chx.ones((300, 300)).sum()))
        check()
    signal.signal(signal.SIGINT, handler)
    x = chx.broadcast_to(chx.ones(1 << 10, 'float32'), (1 << 20, 1 << 10))
    print('start', flush=True)
    while not seen:
        assert float(x.sum()) == 2.0 ** 30
    assert seen == [90000.0]
    """
    lines, _ = run_interrupted(body)
    assert lines == ['start', 'computes']


def test_in_place_writes_are_partly_done():
    body = """
    x = chx.zeros((1 << 26,), 'float32')
    def work():
        global x
        while True:
            x += 1
    interrupted(work)
    n = chx.to_numpy(x)
    assert set(np.unique(n)) <= {n.min(), n.min() + 1}
    check()
    """
    stops(body)


def test_threads_that_python_did_not_choose_are_not_stopped():
    """Signals are handled on the main thread; work of others continues to its end."""
    body = """
    import threading
    result = []
    x = chx.broadcast_to(chx.ones(1 << 10, 'float32'), (1 << 20, 1 << 10))
    def work():
        for _ in range(3):
            result.append(float(x.sum()))
        done.set()
    done = threading.Event()
    thread = threading.Thread(target=work)
    thread.start()
    interrupted(done.wait)  # an interrupted join() takes a thread for ended
    done.wait()
    assert result == [2.0 ** 30] * 3
    check()
    """
    lines, _ = run_interrupted(body, delay=0.1)
    assert lines[-1] == 'computes'


def test_a_forked_child_is_interrupted():
    """Also a child that was forked by another thread, which is its main thread."""
    body = """
    import threading
    def fork():
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGALRM, signal.default_int_handler)
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            x = chx.broadcast_to(chx.ones(1 << 10, 'float32'), (1 << 26, 1 << 10))
            try:
                x.sum()
            except KeyboardInterrupt:
                os._exit(7)
            os._exit(1)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 7
    print('start', flush=True)
    fork()
    thread = threading.Thread(target=fork)
    thread.start()
    thread.join()
    check()
    """
    lines, _ = run_interrupted(body, signals=0)
    assert lines == ['start', 'computes']
