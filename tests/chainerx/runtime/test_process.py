"""The process as a whole: out of memory, fork beside busy threads, exit beside busy threads."""

import os
import subprocess
import sys
import textwrap

import pytest

ASAN = 'libasan' in os.environ.get('LD_PRELOAD', '')


def run(body, *, timeout=240, **environment):
    done = subprocess.run(
        [sys.executable, '-c', textwrap.dedent(body)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, (done.returncode, done.stdout[-3000:])
    return done.stdout


@pytest.mark.skipif(ASAN, reason='the sanitizer needs the address space')
@pytest.mark.parametrize('elements', [300, 5000, 300_000])
def test_arrays_are_freed_when_memory_is_out(elements):
    body = f"""
    import resource
    import chainerx as chx
    chx.ones(3)
    kept = [None] * 200_000
    with open('/proc/self/statm') as f:
        used = int(f.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20), resource.RLIM_INFINITY))
    try:
        for i in range(len(kept)):
            kept[i] = chx.ones({elements})
    except MemoryError:
        pass
    else:
        raise AssertionError('there was memory for all')
    kept = None
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert chx.get_memory_info()['in_use'] == 0, chx.get_memory_info()
    assert float(chx.ones({elements}).sum()) == {elements}
    """
    run(body)


@pytest.mark.skipif(ASAN, reason='the sanitizer needs the address space')
@pytest.mark.parametrize('threads', ['1', '2'])
def test_a_product_finds_no_memory_to_work_in(threads):
    """OpenBLAS would end the process."""
    body = """
    import os, resource
    import chainerx as chx
    x = chx.ones((400, 400), 'float32')
    (x + 1).sum()
    with open('/proc/self/statm') as f:
        used = int(f.read().split()[0]) * resource.getpagesize()
    unlimited = resource.RLIM_INFINITY
    failed = 0
    for mb in range(20, 500, 30):
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_AS, (used + (mb << 20), unlimited))
            try:
                assert float((x @ x).sum()) == 400 ** 3
                status = 0
            except MemoryError:
                status = 7
            resource.setrlimit(resource.RLIMIT_AS, (unlimited, unlimited))
            assert float((x @ x).sum()) == 400 ** 3
            os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert status in (0, 7), (mb, status)
        failed += status == 7
    print(failed)
    """
    run(body, CHAINERX_NUM_THREADS=threads)


@pytest.mark.skipif(ASAN, reason='nothing is kept, so that the sanitizer sees every free')
def test_the_sizes_that_were_not_used_for_long_make_room():
    body = """
    import chainerx as chx

    MB = 1 << 20

    def use(n):
        chx.empty(n * MB, 'int8')

    def cached():
        return chx.get_memory_info()['cached']

    chx.free_memory_cache()
    chx.set_memory_cache_limit(40 * MB)
    use(10)
    use(20)
    both = cached()
    assert 30 * MB <= both <= 40 * MB
    use(10)             # now 20 is the one that was not used for the longest time
    use(12)             # and makes room
    assert 22 * MB <= cached() <= 40 * MB
    before = cached()
    use(10)             # still there: taken and given back
    assert cached() == before
    use(12)
    assert cached() == before
    use(60)             # more than the limit: not kept, and nothing goes for it
    assert cached() == before
    for n in range(1, 200):
        chx.empty(n * 100_000, 'int8')
        assert cached() <= 40 * MB
    chx.set_memory_cache_limit(5 * MB)
    assert cached() <= 5 * MB
    chx.set_memory_cache_limit(0)
    assert cached() == 0
    use(1)
    assert cached() == 0
    assert chx.get_memory_info()['in_use'] == 0
    """
    run(body)


FORK = """
import os, signal, sys, threading, time
import chainerx as chx
import numpy as np
{setup}
stop = False

def busy():
    while not stop:
        {work}

threads = [threading.Thread(target=busy) for _ in range(3)]
sys.setswitchinterval(1e-5)
for t in threads:
    t.start()
try:
    for i in range({count}):
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            {child}
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0, (i, status)
finally:
    stop = True
    for t in threads:
        t.join()
"""

CHILD = """
            for n in (10, 1000, 100_000, 2_000_000):
                assert float(chx.ones(n).sum()) == n
            x = chx.ones((64, 64), 'float32')
            assert float((x @ x).sum()) == 64 ** 3
            c = chx.Context()
            d = c.get_device('native:2')
            with chx.backprop_scope('child') as scope:
                g = chx.array([3.0]).require_grad(scope)
                (g * g).backward(scope)
                assert float(g.get_grad(scope)[0]) == 6.0
"""


@pytest.mark.parametrize(
    'work',
    [
        'chx.empty(5000); chx.empty(2000)',
        'x = chx.ones((400, 300)); (x + 1).sum()',
        "chx.Context().get_device('native:3'); time.sleep(0.001)",  # contexts are never freed
        "with chx.backprop_scope('s') as s: chx.ones(3).require_grad(s)",
        'x = np.ones(10); y = chx.array(x, copy=False); del x, y',
    ],
    ids=['allocate', 'compute', 'context', 'scope', 'foreign'],
)
def test_fork_beside_busy_threads(work):
    """In the child, locks that were held by threads that it lacks are free."""
    run(FORK.format(setup='', work=work, count=40, child=CHILD), CHAINERX_NUM_THREADS='2')


@pytest.mark.parametrize('threads', ['1', '2'])
@pytest.mark.parametrize(
    'work',
    [
        "chx.broadcast_to(chx.ones(1, 'float32'), (1 << 30,)).sum()",
        'x @ x',
        'chx.exp(x)',
        'chx.random.normal(size=1 << 22)',
    ],
)
def test_exit_while_a_daemon_thread_computes(work, threads):
    body = f"""
    import threading, time
    import chainerx as chx
    x = chx.ones((400, 400), 'float32')
    def busy():
        while True:
            {work}
    for _ in range(3):
        threading.Thread(target=busy, daemon=True).start()
    time.sleep(0.2)
    """
    for _ in range(3):
        assert run(body, CHAINERX_NUM_THREADS=threads) == ''


def test_exit_while_a_daemon_thread_runs_backward():
    body = """
    import threading, time
    import chainerx as chx
    def busy():
        x = chx.ones((300, 300), 'float32').require_grad()
        while True:
            y = x
            for _ in range(50):
                y = chx.tanh(y @ x)
            y.sum().backward()
            x.cleargrad()
    threading.Thread(target=busy, daemon=True).start()
    time.sleep(0.5)
    """
    assert run(body) == ''


def test_without_the_gil():
    """A free-threaded Python turns it on as it loads chainerx, unless it was told not to."""
    out = run("""
    import sys

    class Flags:
        gil = 0

        def __getattr__(self, name, flags=sys.flags):
            return getattr(flags, name)

    sys.flags = Flags()
    try:
        import chainerx
    except ImportError as error:
        print(error)
    """)
    assert out.startswith('chainerx needs the GIL of Python'), out
