"""chainerx.profile: what it counts, whose calls, and its output; test_kernels.py has hooks."""

import json
import math
import os
import subprocess
import sys
import textwrap
import threading
import time

import chainerx as chx
import numpy as np
import pytest


def by_name(profile, **options):
    return {r.name: r for r in profile.get_rows(**options)}


def run(body):
    done = subprocess.run(
        [sys.executable, '-c', textwrap.dedent(body)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def events(profile, folder):
    path = folder / 'trace.json'
    profile.export_trace(path)
    trace = json.loads(path.read_text())
    return trace, [e for e in trace['traceEvents'] if e['ph'] == 'X']


# ---- rows --------------------------------------------------------------------------------------


def test_names_are_one():
    assert chx.profile is chx.profiler.profile
    with chx.profile() as profile:
        pass
    assert isinstance(profile, chx.profiler.Profile)


def test_rows_by_shapes(device):
    x, y = chx.ones((2, 3), 'float32'), chx.ones(3, 'float64')
    with chx.profile(group_by='shapes') as profile:
        for _ in range(3):
            x + x
        x + y
        x * 2.0
    rows = profile.rows
    adds = sorted((r for r in rows if r.name == 'Add'), key=lambda r: r.calls)
    assert [r.calls for r in adds] == [1, 3]
    mixed, same = adds
    assert same.operands == ('x1', 'x2', 'out')
    assert same.shapes == ((2, 3),) * 3
    assert same.dtypes == ('float32',) * 3
    assert mixed.shapes == ((2, 3), (3,), (2, 3))
    assert mixed.dtypes[2] == 'float64'
    (scaled,) = (r for r in rows if r.name == 'Multiply')
    assert scaled.shapes == ((2, 3), None, (2, 3))
    assert scaled.dtypes == ('float32', None, 'float32')
    assert {r.device for r in rows} == {device.name}
    total = by_name(profile, group_by='kernel')
    assert total['Add'].calls == 4
    assert total['Add'].operands == total['Add'].shapes == ()
    assert math.isclose(total['Add'].self_time, sum(r.self_time for r in adds))


def test_empty_and_0d_and_lists(device):
    xs = [chx.ones((i, 2), 'float32') for i in range(6)]
    with chx.profile(group_by='shapes') as profile:
        chx.exp(chx.zeros((0, 3), 'float32'))
        chx.exp(chx.array(1.0, 'float32'))
        chx.concatenate(xs)
    rows = profile.rows
    assert {r.shapes[0] for r in rows if r.name == 'Exp'} <= {(0, 3), ()}
    assert any(r.name == 'Exp' and r.shapes == ((), ()) for r in rows)
    (joined,) = (r for r in rows if r.name == 'Concatenate')
    assert joined.operands == (*(f'arrays[{i}]' for i in range(4)), 'arrays[4:6]', 'out')
    assert joined.shapes == ((0, 2), (1, 2), (2, 2), (3, 2), None, (15, 2))


def test_share_and_order(device):
    x = chx.random.normal(size=(200, 200))
    with chx.profile() as profile:
        for _ in range(3):
            chx.tanh(x @ x)
    rows = profile.rows
    assert [r.self_time for r in rows] == sorted((r.self_time for r in rows), reverse=True)
    assert math.isclose(sum(r.share for r in rows), 1)
    for key in ('total', 'calls', 'bytes', 'peak'):
        values = [getattr(r, key) for r in profile.get_rows(sort_by=key)]
        assert values == sorted(values, reverse=True), key
    names = [r.name for r in profile.get_rows(sort_by='name')]
    assert names == sorted(names)


def test_bytes_and_peak(device):
    x = chx.ones((100, 100), 'float32')
    with chx.profile(group_by='shapes') as profile:
        a = chx.exp(x)
        b = chx.exp(a)
        c = a + b
        del a, b
        chx.tanh(c)
    rows = by_name(profile)
    assert rows['Exp'].bytes == 2 * 40_000
    assert rows['Add'].bytes == rows['Tanh'].bytes == 40_000
    assert rows['Exp'].peak == 80_000
    assert rows['Add'].peak == 120_000
    assert rows['Tanh'].peak == 120_000 or rows['Tanh'].peak == 80_000
    with chx.profile() as again:
        x += 1
    assert by_name(again)['Add'].bytes == 0


def test_memory_of_a_profile_inside_another():
    x = chx.ones(1000, 'float32')
    with chx.profile() as outer:
        y = chx.exp(x)
        with chx.profile() as inner:
            z = chx.tanh(y)
        w = chx.sin(z)
    assert by_name(inner)['Tanh'].bytes == 4000
    assert {r.name: r.bytes for r in outer.rows} == {'Exp': 4000, 'Tanh': 4000, 'Sin': 4000}
    # Each peak is above the memory in use when its profile began.
    assert by_name(inner)['Tanh'].peak == 4000
    assert {r.name: r.peak for r in outer.rows} == {'Exp': 4000, 'Tanh': 8000, 'Sin': 12_000}
    del w


def test_leaks_are_tracked_beside():
    """Both count buffers, by the same switch."""
    _core = chx._core
    _core._set_leak_tracking(True)
    try:
        with chx.profile() as profile:
            x = chx.ones(10, 'float32')
        y = chx.ones(20, 'float32')
        assert _core._live_counts()[2:] == (2, 120)
        with chx.profile():
            del x, y
        assert _core._live_counts()[2:] == (0, 0)
    finally:
        _core._set_leak_tracking(False)
    assert by_name(profile)['Fill'].bytes == 40


# ---- where it may be used ------------------------------------------------------------------------


def test_entered_again_and_inside_itself():
    x, profile = chx.ones(3), chx.profile()
    with profile:
        with profile:
            chx.exp(x)
        chx.exp(x)
    chx.exp(x)
    with profile:
        chx.exp(x)
    (row,) = profile.rows
    assert row.calls == 3
    with pytest.raises(RuntimeError, match='left but not entered'):
        profile.__exit__(None, None, None)
    profile.reset()
    assert profile.rows == []
    assert profile.dropped == 0


def test_after_an_exception():
    x, profile = chx.arange(3), chx.profile(trace=True)
    with pytest.raises(IndexError), profile, profile.region('block'):
        chx.take(x, chx.array([7]), axis=0, mode='raise')
    assert by_name(profile)['Take'].calls == 1  # it took some time
    with profile:
        chx.take(x, chx.array([1]), axis=0)
    assert by_name(profile)['Take'].calls == 2
    chx.take(x, chx.array([1]), axis=0)
    assert by_name(profile)['Take'].calls == 2


def test_exception_inside_a_nested_kernel_leaves_no_frame():
    """Times of later kernels do not depend on one that failed."""
    x = chx.arange(3)
    with chx.profile() as profile:
        for _ in range(3):
            with pytest.raises(IndexError):
                chx.take(x, chx.array([7]), axis=0, mode='raise')
            chx.exp(x)
    for row in profile.rows:
        assert 0 < row.self_time <= row.total


def test_bad_arguments():
    with pytest.raises(ValueError, match="group_by is 'shape', expected one of kernel, shapes"):
        chx.profile(group_by='shape')
    with pytest.raises(ValueError, match="sort_by is 'time', expected"):
        chx.profile(sort_by='time')
    with pytest.raises(ValueError, match='trace_limit is -1'):
        chx.profile(trace=True, trace_limit=-1)
    with pytest.raises(TypeError, match=r'trace_limit is 2.5, expected an integer'):
        chx.profile(trace=True, trace_limit=2.5)
    with pytest.raises(ValueError, match='limit is -1, expected at least 0'):
        chx.profile().table(limit=-1)
    chx.profile(trace=True, trace_limit=1 << 70)
    with pytest.raises(ValueError, match='sort_by'):
        chx.profile().get_rows(sort_by='x')
    with pytest.raises(RuntimeError, match='trace=True'):
        chx.profile().export_trace('x.json')
    with pytest.raises(TypeError):
        chx.profile(True)


def test_threads_that_end_are_counted():
    n, x = 50, chx.ones((3, 3))
    with chx.profile(trace=True) as profile:
        for _ in range(10):
            threads = [
                threading.Thread(target=lambda: [chx.exp(x) for _ in range(n)]) for _ in range(3)
            ]
            for t in threads:
                t.start()
            chx.tanh(x)
            for t in threads:
                t.join()
    rows = by_name(profile, group_by='shapes')
    assert rows['Exp'].calls == 30 * n
    assert rows['Exp'].bytes == 30 * n * 36
    assert rows['Tanh'].calls == 10


def test_rows_while_others_compute():
    x, stop = chx.ones((2, 2)), threading.Event()

    def work():
        while not stop.is_set():
            chx.exp(x) + x

    with chx.profile(trace=True, trace_limit=1000) as profile:
        threads = [threading.Thread(target=work) for _ in range(2)]
        for t in threads:
            t.start()
        for i in range(200):
            for r in profile.get_rows('shapes'):
                assert r.calls > 0
            if i % 50 == 0:
                profile.reset()
            with chx.profile() as other:
                chx.tanh(x)
            assert by_name(other)['Tanh'].calls == 1
        stop.set()
        for t in threads:
            t.join()


def test_two_threads_enter_the_same_profile():
    x, profile = chx.ones(3), chx.profile()
    barrier = threading.Barrier(4)

    def work():
        barrier.wait()
        for _ in range(100):
            with profile:
                chx.exp(x)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert 400 <= sum(r.calls for r in profile.rows) <= 400
    chx.exp(x)
    assert sum(r.calls for r in profile.rows) == 400


def test_fork_while_profiling():
    out = run("""
    import os, threading, warnings
    import chainerx as chx
    warnings.simplefilter('ignore', DeprecationWarning)  # Python 3.12: forks beside threads
    x = chx.ones((3, 3))
    stop = threading.Event()
    def work():
        while not stop.is_set():
            chx.exp(x)
    threads = [threading.Thread(target=work) for _ in range(2)]
    with chx.profile(trace=True) as profile:
        for t in threads:
            t.start()
        for _ in range(20):
            child = os.fork()
            if child == 0:
                before = {r.name: r.calls for r in profile.rows}.get('Tanh', 0)
                for _ in range(10):
                    chx.tanh(x)
                assert {r.name: r.calls for r in profile.rows}['Tanh'] == before + 10
                pids = {t[0] for t in profile._hook.threads()}
                assert pids == {os.getpid(), os.getppid()}, pids
                profile.__exit__(None, None, None)
                os._exit(0)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        stop.set()
        for t in threads:
            t.join()
    assert 'Tanh' not in {r.name for r in profile.rows}
    print('good')
    """)
    assert out == 'good\n'


@pytest.mark.parametrize('end', ['sys.exit(0)', 'pass', 'os._exit(0)'])
def test_the_interpreter_ends_inside(end):
    """While another thread computes."""
    run(f"""
    import os, sys, threading
    import chainerx as chx
    x = chx.ones((3, 3))
    def work():
        while True:
            chx.exp(x)
    threading.Thread(target=work, daemon=True).start()
    profile = chx.profile(trace=True).__enter__()
    for _ in range(1000):
        chx.tanh(x)
    {end}
    """)


def test_many_kinds_are_bounded():
    """Calls after the first kinds are merged into one row for each kernel."""
    out = run("""
    import chainerx as chx
    x = chx.zeros((11_000, 1), 'int8')
    with chx.profile() as profile:
        for n in range(11_000):
            chx.exp(x[:n])
        chx.exp(x[:5])
        chx.tanh(x[:5])
    rows = [r for r in profile.get_rows('shapes') if r.name == 'Exp']
    assert sum(r.calls for r in rows) in (11_000, 11_001), rows
    assert len(rows) <= 10_001
    (others,) = (r for r in rows if r.operands is None)
    assert others.calls > 900
    assert '(others)' in profile.table('shapes', 'calls')
    tanh = {r.name: r for r in profile.rows}['Tanh']
    assert tanh.calls == 1
    """)
    assert out == ''


def test_times_are_right(device):
    x = chx.random.normal(size=(300, 300))
    (x @ x).sum()
    chx.get_default_device().synchronize()
    start = time.perf_counter()
    with chx.profile(synchronize=True) as profile:
        for _ in range(5):
            x @ x
    elapsed = time.perf_counter() - start
    assert 0 < sum(r.self_time for r in profile.rows) <= elapsed


def test_two_profiles_of_nested_kernels():
    """Both time the same calls; neither is part of the other."""
    x = chx.ones((64, 64))[:, ::2]
    with chx.profile() as outer, chx.profile() as inner:
        chx.concatenate([x, x], axis=1)
    for rows in map(by_name, (outer, inner)):
        assert (rows['AsType'].calls, rows['Concatenate'].calls) == (2, 1)
        whole = rows['Concatenate']
        assert whole.self_time <= whole.total - rows['AsType'].total + 1e-9


# ---- shown ---------------------------------------------------------------------------------------


def test_table(device):
    x = chx.ones((20, 30), 'float32')
    with chx.profile() as profile:
        chx.exp(x)
        chx.exp(x)
        x * 2.0
    text = str(profile)
    assert text == profile.table()
    lines = text.splitlines()
    assert lines[0].split() == [
        'kernel',
        'calls',
        'total',
        'ms',
        'self',
        'ms',
        'share',
        'us/call',
        'memory',
        'peak',
    ]
    assert lines[-1].split()[:2] == ['all', '3']
    assert len(lines) == 4
    wide = profile.table(group_by='shapes', sort_by='calls')
    assert 'x float32[20,30], out float32[20,30]' in wide.splitlines()[1]
    assert 'x1 float32[20,30], x2, out float32[20,30]' in wide
    short = profile.table(limit=1)
    assert '(1 more)' in short
    assert len(short.splitlines()) == 4
    assert str(chx.profile()).count('\n') == 0


def test_trace(device, tmp_path):
    x = chx.ones((20, 30), 'float32').require_grad()
    with chx.profile(trace=True) as profile, profile.region('step', 'mine'):
        y = chx.tanh(x)
        y.sum().backward()
    trace, calls = events(profile, tmp_path)
    assert trace['otherData']['dropped'] == 0
    kernels = [e for e in calls if e['cat'] != 'mine']
    assert len(kernels) == sum(r.calls for r in profile.rows)
    (region,) = (e for e in calls if e['cat'] == 'mine')
    assert region['name'] == 'step'
    ends = region['ts'] + region['dur']
    for e in kernels:
        assert region['ts'] <= e['ts'] <= e['ts'] + e['dur'] <= ends
        assert (e['pid'], e['tid']) == (os.getpid(), threading.get_native_id())
        assert e['args']['device'] == device.name
    (tanh,) = (e for e in kernels if e['name'] == 'Tanh')
    assert tanh['args']['x'] == tanh['args']['out'] == 'float32[20,30]'
    assert tanh['args']['bytes'] == 2400
    names = {
        e['tid']: e['args']['name'] for e in trace['traceEvents'] if e['name'] == 'thread_name'
    }
    assert names[threading.get_native_id()] == threading.current_thread().name


def test_trace_of_threads_and_nesting(tmp_path):
    x = chx.ones((64, 64))[:, ::2]
    ids = []

    def work():
        ids.append(threading.get_native_id())
        chx.concatenate([x, x], axis=1)

    with chx.profile(trace=True) as profile:
        t = threading.Thread(target=work)
        t.start()
        t.join()
        chx.exp(x)
    _, calls = events(profile, tmp_path)
    inside = [e for e in calls if e['tid'] == ids[0]]
    assert sorted(e['name'] for e in inside) == ['AsType', 'AsType', 'Concatenate']
    (outer,) = (e for e in inside if e['name'] == 'Concatenate')
    for e in inside:
        assert outer['ts'] <= e['ts'] <= e['ts'] + e['dur'] <= outer['ts'] + outer['dur'] + 1e-2
    assert [e['name'] for e in calls if e['tid'] == threading.get_native_id()] == ['Exp']


def test_trace_limit_is_reported(tmp_path):
    x = chx.ones(3)
    with chx.profile(trace=True, trace_limit=10) as profile:
        for _ in range(25):
            chx.exp(x)
        for _ in range(12):
            with profile.region('r'):
                pass
    trace, calls = events(profile, tmp_path)
    assert len(calls) == 20
    assert profile.dropped == trace['otherData']['dropped'] == 17
    assert '17 calls were not kept' in str(profile)
    assert any('17 calls are missing' in str(e['args']) for e in trace['traceEvents'][:3])
    assert by_name(profile)['Exp'].calls == 25


def test_export_replaces_only_by_a_complete_file(tmp_path):
    path = tmp_path / 'trace.json'
    path.write_text('old')
    with chx.profile(trace=True) as profile:
        chx.ones(3)
    profile._regions.append((object(), 'x', 0, 1, 2))
    with pytest.raises(TypeError):
        profile.export_trace(path)
    assert path.read_text() == 'old'
    assert os.listdir(tmp_path) == ['trace.json']
    with pytest.raises(FileNotFoundError):
        profile.export_trace(tmp_path / 'none' / 'trace.json')
    profile._regions.clear()
    profile.export_trace(str(path))
    assert json.loads(path.read_text())['traceEvents']


def test_export_writes_to_existing_targets(tmp_path):
    """It writes to an existing pipe, and keeps a link; neither becomes a file."""
    with chx.profile(trace=True) as profile:
        chx.ones(3)
    pipe, link, target = tmp_path / 'pipe', tmp_path / 'link', tmp_path / 'target'
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        profile.export_trace(pipe)
        assert json.loads(os.read(reader, 1 << 20))['traceEvents']
    finally:
        os.close(reader)
    target.write_text('old')
    target.chmod(0o600)
    link.symlink_to(target)
    profile.export_trace(os.fsencode(link))
    assert link.is_symlink()
    assert pipe.is_fifo()
    assert json.loads(target.read_text())['traceEvents']
    assert target.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(
    'libasan' in os.environ.get('LD_PRELOAD', ''), reason='the sanitizer keeps what is freed'
)
def test_a_million_calls_stay_small():
    """Without a trace, memory depends on the kinds of calls, not on their number."""
    out = run("""
    import resource, time
    import chainerx as chx
    x = chx.ones(3)
    with chx.profile() as profile:
        for _ in range(10_000):
            x + x
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(990_000):
            x + x
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (row,) = profile.rows
    assert row.calls == 1_000_000, row
    print(after - before)
    """)
    assert int(out) < 4096


# ---- chainer -------------------------------------------------------------------------------------


def test_functions_of_chainer_are_regions(tmp_path):
    import chainer
    import chainer.functions as F

    net = chainer.Sequential(chainer.links.Linear(4, 3), F.relu, chainer.links.Linear(3, 2))
    optimizer = chainer.optimizers.MomentumSGD().setup(net)
    x, t = np.ones((5, 4), 'f'), np.zeros(5, 'i')
    with chainer.function_hooks.TimerHook() as timer, chx.profile(trace=True) as profile:
        optimizer.update(lambda: F.softmax_cross_entropy(net(x), t))
        assert len(chainer.get_function_hooks()) == 2
    assert not chainer.get_function_hooks()
    _, calls = events(profile, tmp_path)
    names = [e['name'] for e in calls if e['cat'] in ('forward', 'backward')]
    assert len(names) == len(timer.call_history) == 8
    for function in ('LinearFunction', 'ReLU', 'SoftmaxCrossEntropy'):
        assert f'{function} forward' in names
        assert f'{function} backward' in names
    (relu,) = (e for e in calls if e['name'] == 'ReLU backward')
    inside = [
        e['name']
        for e in calls
        if relu['ts'] <= e['ts'] and e['ts'] + e['dur'] <= relu['ts'] + relu['dur']
    ]
    assert 'RectifyGrad' in inside


def test_regions_are_of_the_thread_that_enters(tmp_path):
    """Entered twice, a profile sees a function once; threads come and go in any order."""
    import chainer
    import chainer.functions as F

    x = chainer.Variable(np.ones(3, 'f'))
    inside, leave = threading.Event(), threading.Event()
    profile = chx.profile(trace=True)

    def work():
        with profile:
            inside.set()
            leave.wait()
            F.exp(x)
        assert not chainer.get_function_hooks()

    thread = threading.Thread(target=work)
    with profile:
        thread.start()
        inside.wait()
        with profile:
            F.tanh(x)
        F.sin(x)
    assert not chainer.get_function_hooks()
    F.cos(x)
    leave.set()
    thread.join()
    names = [e['name'] for e in events(profile, tmp_path)[1] if e['cat'] == 'forward']
    assert sorted(names) == ['Exp forward', 'Sin forward', 'Tanh forward']
    assert by_name(profile)['Cos'].calls == 1  # it was still active


def test_a_function_that_fails_is_no_region(tmp_path):
    import chainer
    import chainer.functions as F

    class Bad(chainer.FunctionNode):
        def forward(self, inputs):
            raise ValueError('bad')

    x = chainer.Variable(np.ones(3, 'f'))
    with chx.profile(trace=True) as profile:
        with pytest.raises(ValueError, match='bad'):
            Bad().apply((x,))
        F.sum(F.exp(x)).backward()
    names = [e['name'] for e in events(profile, tmp_path)[1] if e['cat'] == 'forward']
    assert names == ['Exp forward', 'Sum forward']


def test_a_profile_without_trace_has_no_hooks():
    import chainer

    with chx.profile():
        assert not chainer.get_function_hooks()
