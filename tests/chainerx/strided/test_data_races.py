"""Kernels whose operands another thread writes to: any result is valid, memory stays intact.

Each runs in a process of its own, which it may bring down.
"""

import subprocess
import sys

import pytest

PROGRAM = """
import threading, time
import chainerx as chx, numpy as np

n = {n}
odd = np.arange(n) % 2

def flipping(*patterns, pauses=()):
    memory = patterns[0].copy()
    def flip():
        while not done:
            for i, pattern in enumerate(patterns):
                np.copyto(memory, pattern)
                if pauses:
                    time.sleep(pauses[i])
    threads.append(threading.Thread(target=flip))
    return chx.array(memory, copy=False)

done, threads = False, []
{arrays}
for thread in threads:
    thread.start()
try:
    end = time.monotonic() + {seconds}
    while time.monotonic() < end:
        try:
            {call}
        except {errors}:
            pass
finally:
    done = True
"""

ZEROS = """
zeros = np.where(odd, -0.0, 0.0).astype('f4')
x = flipping(zeros, np.ones(n, 'f4'), pauses=(7e-4, 3e-4))
"""
SIGNS = "x = flipping(np.where(odd, -0.0, 0.0).astype('f4'), np.ones(n, 'f4'), -np.ones(n, 'f4'))"
NANS = 'x = flipping(np.ones(n, {0!r}), np.where(odd, np.nan, 1).astype({0!r}))'
LABELS = """
import chainer.functions as F
xs = [chx.array(np.random.rand(64, 50).astype('f4')).require_grad() for _ in range(500)]
good = np.ones((64, 200), 'i8')
good[:, ::2] = 2
bad = np.where(good == 2, -(2**45), 2**40)
t = flipping(good, bad, good)
"""
PARAMETER = 'x = flipping(np.full(n, 30.0), np.full(n, np.nan), np.full(n, -1.0))'
CASES = {
    'argpartition': (SIGNS, 'chx.argpartition(x, 10)'),
    'partition': (ZEROS, 'chx.partition(x, n // 2)'),
    'sort': (ZEROS, 'chx.sort(x)'),
    'argpartition of short rows': (SIGNS, 'chx.argpartition(x.reshape(-1, 4), 1)'),
    'partition of short rows': (SIGNS, 'chx.partition(x.reshape(-1, 32), 10)'),
    'argsort of short rows': (SIGNS, 'chx.argsort(x.reshape(-1, 16))'),
    'sort of short rows': (ZEROS, 'chx.sort(x.reshape(-1, 8))'),
    'sort of complex64': (NANS.format('c8'), 'chx.sort(x)'),
    'argsort of complex128': (NANS.format('c16'), 'chx.argsort(x)'),
    'ctc': (LABELS, 'F.connectionist_temporal_classification(xs, t, 0).backward()'),
    **{
        f'random.{name}': (PARAMETER, f'chx.random.{name}(x)')
        for name in ('poisson', 'gamma', 'zipf')
    },
    'random.vonmises': (PARAMETER, 'chx.random.vonmises(0.0, x)'),
    'random.binomial': (PARAMETER.replace('30.0', '0.5'), 'chx.random.binomial(1000, x)'),
}


@pytest.mark.parametrize('name', CASES)
def test_memory_stays_whole(name):
    arrays, call = CASES[name]
    errors = '(chx.ChainerxError, ValueError, IndexError)'
    n = 1 << (20 if arrays == ZEROS else 18)
    program = PROGRAM.format(arrays=arrays, call=call, errors=errors, seconds=2, n=n)
    done = subprocess.run(
        [sys.executable, '-X', 'faulthandler', '-c', program],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
