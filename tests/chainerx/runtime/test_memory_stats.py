"""Current and peak memory of devices."""

import os
import subprocess
import sys
import textwrap
import threading

import chainerx as chx
import numpy as np
import pytest

KEYS = {
    *('in_use', 'peak_in_use', 'workspace', 'peak_workspace'),
    *('allocations', 'cached', 'limit'),
}
UNTOLD = 64 << 10  # error of a peak by small arrays, per thread


def run(body, **environment):
    done = subprocess.run(
        [sys.executable, '-c', textwrap.dedent(body)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
        env={**os.environ, **environment},
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def small(device, n=1):
    """Arrays that come from the small pool: 64 bytes of header, 400 of data, rounded up."""
    return [chx.empty(100, 'float32', device=device) for _ in range(n)]


BLOCK = 512


@pytest.fixture
def spare():
    """A device that nothing else uses."""
    device = chx.get_device('native:3')
    chx.reset_peak_memory_stats(device)
    return device


def stats(device):
    return chx.memory_stats(device)


def test_keys_and_devices(device):
    assert set(chx.memory_stats()) == KEYS
    assert set(chx.memory_stats(device)) == set(chx.memory_stats(device.name)) == KEYS
    with pytest.raises(chx.BackendError):
        chx.memory_stats('none:0')
    with pytest.raises(TypeError):
        chx.reset_peak_memory_stats(1.5)


@pytest.mark.parametrize('n', [1, 3, 1000])
def test_small_arrays(spare, n):
    before = stats(spare)
    arrays = small(spare, n)
    now = stats(spare)
    assert now['allocations'] == before['allocations'] + n
    assert now['in_use'] == before['in_use'] + n * BLOCK
    assert now['peak_in_use'] >= now['in_use']
    views = [x[::2] for x in arrays] + [x.reshape(10, 10) for x in arrays]
    assert stats(spare)['allocations'] == now['allocations']
    del arrays
    assert stats(spare)['in_use'] == now['in_use']  # views hold it
    del views
    after = stats(spare)
    assert (after['in_use'], after['allocations']) == (before['in_use'], before['allocations'])
    assert after['peak_in_use'] == now['peak_in_use']


@pytest.mark.parametrize('nbytes', [0, 1, 895, 896, 897, 960, 961, 5000, 1 << 20, 5 << 20])
def test_sizes(spare, nbytes):
    before = stats(spare)
    x = chx.empty(nbytes, 'int8', device=spare)
    used = stats(spare)['in_use'] - before['in_use']
    assert nbytes + 64 <= used <= max(1.25 * nbytes + 400, 64)
    assert stats(spare)['peak_in_use'] == stats(spare)['in_use']
    del x
    assert stats(spare)['in_use'] == before['in_use']
    assert stats(spare)['allocations'] == before['allocations']


def test_peaks_and_reset(spare):
    base = stats(spare)['in_use']
    x = chx.empty(1 << 20, 'int8', device=spare)
    y = chx.empty(1 << 20, 'int8', device=spare)
    both = stats(spare)['in_use']
    del x
    assert stats(spare)['peak_in_use'] == both
    chx.reset_peak_memory_stats(spare)
    assert stats(spare)['peak_in_use'] == stats(spare)['in_use'] < both
    del y
    assert stats(spare)['in_use'] == base
    assert stats(spare)['peak_in_use'] > base
    chx.reset_peak_memory_stats(spare)
    assert stats(spare)['peak_in_use'] == base


def test_small_arrays_are_part_of_peaks_of_large_ones(spare):
    arrays = small(spare, 50)
    chx.reset_peak_memory_stats(spare)
    base = stats(spare)['in_use']
    more = small(spare, 20)  # too few to be reported individually
    x = chx.empty(1 << 20, 'int8', device=spare)
    peak = stats(spare)['in_use']
    del more, x, arrays
    assert stats(spare)['peak_in_use'] == peak > base


def test_peak_of_small_arrays_alone(spare):
    base = stats(spare)['in_use']
    arrays = small(spare, 2000)
    del arrays
    peak = stats(spare)['peak_in_use'] - base
    assert 2000 * BLOCK - UNTOLD <= peak <= 2000 * BLOCK


def test_devices_are_apart():
    names = [f'native:{i}' for i in range(4)]
    before = [stats(d) for d in names]
    arrays = [a for i, d in enumerate(names) for a in small(d, i + 1)]
    large = [chx.empty((i + 1) << 20, 'int8', device=d) for i, d in enumerate(names)]
    for i, d in enumerate(names):
        now = stats(d)
        assert now['allocations'] == before[i]['allocations'] + i + 2
        assert now['in_use'] - before[i]['in_use'] >= (i + 1) * (BLOCK + (1 << 20))
        assert now['in_use'] - before[i]['in_use'] <= (i + 1) * (BLOCK + (5 << 18))
    # Frees them alternately, from a thread that uses another device.
    chx.empty(1, device='native:0')
    while arrays or large:
        arrays[:1] = large[:1] = []
    for i, d in enumerate(names):
        assert stats(d)['in_use'] == before[i]['in_use']
        assert stats(d)['allocations'] == before[i]['allocations']


def test_contexts_are_apart():
    context = chx.Context()
    other = context.get_device('native:0')
    with chx.context_scope(context):
        arrays = [chx.empty(100, 'float32') for _ in range(5)]
    assert stats(other)['allocations'] == 5
    assert stats(other)['in_use'] == 5 * BLOCK
    del arrays
    assert stats(other)['allocations'] == stats(other)['in_use'] == 0


def test_memory_of_others_is_not_counted(spare):
    before = stats(spare)
    with chx.using_device(spare):
        x = chx.array(np.ones(1000, 'float32'), copy=False)
        assert stats(spare)['allocations'] - before['allocations'] <= 1
        y = chx.from_dlpack(np.ones(1 << 20, 'int8'))
    assert stats(spare)['in_use'] - before['in_use'] < 1 << 19
    del x, y


def test_threads_hold_memory(spare):
    """Memory that they allocate is counted at once; memory that they leave stays counted."""
    before = stats(spare)
    kept, ready, go = [], threading.Barrier(4), threading.Event()

    def work():
        arrays = small(spare, 10)
        kept.append(arrays)
        ready.wait()
        go.wait()
        arrays.clear()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
    ready.wait()
    try:
        now = stats(spare)
        assert now['allocations'] == before['allocations'] + 30
        assert now['in_use'] == before['in_use'] + 30 * BLOCK
        assert now['peak_in_use'] >= now['in_use']
    finally:
        go.set()
        for t in threads:
            t.join()
    assert stats(spare)['in_use'] == before['in_use']


def test_freed_by_another_thread(spare):
    before = stats(spare)
    arrays = []
    for _ in range(5):
        t = threading.Thread(target=lambda: arrays.extend(small(spare, 300)))
        t.start()
        t.join()
    assert stats(spare)['allocations'] == before['allocations'] + 1500
    t = threading.Thread(target=arrays.clear)
    t.start()
    t.join()
    after = stats(spare)
    assert (after['in_use'], after['allocations']) == (before['in_use'], before['allocations'])
    assert after['peak_in_use'] - before['in_use'] >= 1500 * BLOCK - 2 * UNTOLD


def test_peak_of_several_threads(spare):
    """All hold their large array at the same time: that is the peak."""
    base, n = stats(spare)['in_use'], 4
    together = threading.Barrier(n)

    def work():
        for _ in range(5):
            x = chx.empty(1 << 20, 'int8', device=spare)
            together.wait()
            del x
            together.wait()

    one = chx.empty(1 << 20, 'int8', device=spare)
    size = stats(spare)['in_use'] - base
    del one
    chx.reset_peak_memory_stats(spare)
    threads = [threading.Thread(target=work) for _ in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    # Up to small arrays of earlier tests, which this thread has not reported.
    assert abs(stats(spare)['peak_in_use'] - (base + n * size)) <= UNTOLD
    assert stats(spare)['in_use'] == base


def test_threads_change_devices():
    devices = [f'native:{i}' for i in range(4)]
    before = [stats(d) for d in devices]

    def work(seed):
        rng = np.random.default_rng(seed)
        arrays = []
        for _ in range(2000):
            device = devices[rng.integers(4)]
            arrays.append(chx.empty(int(rng.integers(1, 3000)), 'int8', device=device))
            if len(arrays) > 20:
                del arrays[rng.integers(20)]
            if rng.integers(100) == 0:
                assert stats(device)['allocations'] >= 0
                chx.reset_peak_memory_stats(device)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for d, b in zip(devices, before, strict=True):
        now = stats(d)
        assert (now['in_use'], now['allocations']) == (b['in_use'], b['allocations'])
        assert now['peak_in_use'] >= now['in_use']


def test_fork():
    """A child continues with the parent's counts, including unreported ones of its threads."""
    run("""
    import os, threading
    import chainerx as chx
    ready, end = threading.Barrier(4), threading.Event()
    def work():
        arrays = [chx.empty(100, 'float32') for _ in range(7)]
        ready.wait()
        end.wait()
    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
    ready.wait()
    mine = [chx.empty(100, 'float32') for _ in range(5)]
    before = chx.memory_stats()
    assert before['allocations'] == 26, before
    child = os.fork()
    if child == 0:
        now = chx.memory_stats()
        assert now == before, (now, before)
        del mine[2:]
        assert chx.memory_stats()['allocations'] == 23
        def more():  # may lie where a thread of the parent lay
            x = chx.empty(100, 'float32')
            assert chx.memory_stats()['allocations'] == 24
        for _ in range(5):
            t = threading.Thread(target=more)
            t.start()
            t.join()
        assert chx.memory_stats()['allocations'] == 23
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    end.set()
    for t in threads:
        t.join()
    assert chx.memory_stats()['allocations'] == 5
    """)


def test_out_of_memory_counts_nothing(spare):
    before = stats(spare)
    with pytest.raises(MemoryError):
        chx.empty(1 << 50, 'int8', device=spare)
    assert stats(spare) == before


def test_cached_and_limit_are_those_of_the_process(spare):
    info = chx.get_memory_info()
    assert stats(spare)['limit'] == info['limit']
    assert stats(spare)['cached'] == info['cached']
    assert info['in_use'] <= sum(stats(f'native:{i}')['in_use'] for i in range(4))


def test_a_product_works_in_memory_of_the_device():
    out = run(
        """
    import chainerx as chx
    for threads in (1, 2):
        chx.set_num_threads(threads)
        for device in ('native:0', 'native:1'):
            x = chx.ones((500, 500), 'float32', device=device)
            chx.reset_peak_memory_stats(device)
            before = chx.memory_stats(device)
            with chx.profile() as profile:
                y = x @ x
            after = chx.memory_stats(device)
            assert after['workspace'] == before['workspace'] == before['peak_workspace'] == 0
            assert after['peak_workspace'] > 1 << 16, after
            assert after['allocations'] == before['allocations'] + 1
            assert after['peak_in_use'] >= after['in_use'] + after['peak_workspace']
            assert chx.memory_stats('native:2')['peak_in_use'] == 0
            (row,) = profile.rows
            assert row.bytes > 500 * 500 * 4 + (1 << 16), row
            del x, y
    print('good')
    """,
        CHAINERX_BLAS='own',
    )
    assert out == 'good\n'


def test_a_backend_that_does_not_count(build_backend):
    library = build_backend('toy')
    out = run(
        """
    import chainerx as chx
    x = chx.ones(3, device='toy:0')
    for f in (chx.memory_stats, chx.reset_peak_memory_stats):
        try:
            f('toy:0')
        except chx.NotImplementedError as e:
            print(e)
    with chx.profile() as profile:  # counts buffers by itself
        y = x + x
    assert {r.name: r.bytes for r in profile.rows}['Add'] == 12
    """,
        CHAINERX_PATH=str(library.parents[1]),
    )
    assert 'memory_stats: device toy:0 does not count its memory' in out
    assert 'reset_peak_memory_stats: device toy:0 does not' in out


def test_a_device_with_streams(async_toy):
    device = 'async_toy:1'
    before = stats(device)
    chx.reset_peak_memory_stats(device)
    x = chx.empty(1000, 'int8', device=device)
    y = chx.empty(1000, 'int8', device=device)
    now = stats(device)
    assert now['allocations'] == before['allocations'] + 2
    assert now['in_use'] == before['in_use'] + 2048
    assert now['limit'] is None
    del x, y
    after = stats(device)
    assert after['in_use'] == before['in_use']
    assert after['peak_in_use'] == before['in_use'] + 2048
    assert after['cached'] >= 2048
    chx.reset_peak_memory_stats(device)
    assert stats(device)['peak_in_use'] == before['in_use']
