"""Random hostile calls in child processes: no crash, no hang, no lost array, values as NumPy's.

What is found is printed with the seed and the number of the call, which
`python -m fuzz SEED NUMBER` in this folder makes again, alone. See fuzz/README.md.
"""

import collections
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import time

import chainerx
import pytest
from fuzz.calls import FUNCTIONS, METHODS, draw_call

HERE = pathlib.Path(__file__).parent
CALLS = 4_000
ALL_CALLS = 100_000
BATCH = 5_000
STARTS = 60  # seconds that a child may take for its imports
# A call that takes longer hangs: it was asked to stop after one second.
HANGS = 120 if 'libasan' in os.environ.get('LD_PRELOAD', '') else 60


def environment():
    package = pathlib.Path(chainerx.__file__).parents[1]
    path = os.pathsep.join([str(package), str(HERE), *filter(None, sys.path)])
    return {**os.environ, 'PYTHONPATH': path, 'OMP_NUM_THREADS': '1'}


def watch(process, progress, first):
    """Waits for the end of a child; kills its group if a call does not end."""
    last, since = first, time.monotonic() + STARTS
    while process.poll() is None:
        time.sleep(0.05)
        number = struct.unpack('q', progress.read_bytes())[0]
        if number != last:
            last, since = number, time.monotonic()
        elif time.monotonic() - since > HANGS:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return 'hangs'
    return None


def run_batch(seed, first, last, folder):
    """Findings and counts of calls first to last; resumes after each call that ends the process."""
    findings, counts = [], collections.Counter()
    progress = folder / 'progress'
    while first < last:
        progress.write_bytes(struct.pack('q', first))
        words = [sys.executable, '-m', 'fuzz', str(seed), str(first), str(last), str(progress)]
        with (folder / 'out').open('w+') as out, (folder / 'err').open('w+') as err:
            process = subprocess.Popen(
                words, stdout=out, stderr=err, env=environment(), cwd=HERE, start_new_session=True
            )
            end = watch(process, progress, first)
            out.seek(0)
            err.seek(0)
            reports = [json.loads(line) for line in out if line.startswith('{"')]
            errors = err.read()
        findings += [r for r in reports if 'finding' in r]
        done = [r for r in reports if 'counts' in r]
        if done:
            counts.update(done[0]['counts'])
        if end is None and process.returncode == 0:
            break
        number = struct.unpack('q', progress.read_bytes())[0]
        what = end or f'ends the process with {process.returncode}: {errors[-3000:]}'
        call = str(draw_call(seed, number))
        findings.append({'number': number, 'call': call, 'finding': what})
        counts['finding'] += 1
        first = number + 1
    return findings, counts


def describe(seed, findings, most=20):
    lines = [f'{len(findings)} findings']
    for f in findings[:most]:
        lines.append(f'seed {seed}, call {f["number"]}: {f["call"]}\n  {f["finding"]}')
    return '\n'.join(lines)


@pytest.mark.slow
def test_hostile_calls(tmp_path, request):
    full = request.config.getoption('--full', default=False)
    seed = request.config.getoption('--fuzz-seed', default=None) or 20260101
    calls = ALL_CALLS if full else CALLS
    findings, counts = [], collections.Counter()
    for first in range(0, calls, BATCH):
        found, more = run_batch(seed, first, min(first + BATCH, calls), tmp_path)
        findings += found
        counts.update(more)
    print(dict(counts))
    assert not findings, describe(seed, findings)
    assert counts['took long'] < calls / 200
    # Otherwise it tests only that wrong calls are refused.
    assert counts['compared'] > calls / 5, counts
    # Calls that NumPy lacks, or does not accept.
    assert counts['returned'] + counts['returned, not in NumPy'] > calls / 20, counts
    assert counts['raised'] > calls / 20, counts


def test_calls_are_drawn_alike_each_time():
    for number in range(200):
        # Some objects are described by their address only.
        first, again = (re.sub('0x[0-9a-f]+', '', str(draw_call(1, number))) for _ in range(2))
        assert first == again


def test_everything_public_is_called():
    drawn = {draw_call(0, number).name.rpartition(' of ')[2] for number in range(20_000)}
    missing = {*FUNCTIONS, *(f'ndarray.{name}' for name in METHODS)} - drawn
    assert not missing


CRASHES = """
import os, signal
import fuzz.__main__ as main
from fuzz.compare import Finding
def check(draft, numbers=iter(range(100))):
    number = next(numbers)
    if os.environ['FUZZ'] == 'crash' and number == 3:
        os.kill(os.getpid(), signal.SIGSEGV)
    while os.environ['FUZZ'] == 'hang' and number == 3:
        try:
            signal.pause()
        except BaseException:
            pass
    if os.environ['FUZZ'] == 'finding' and number == 3:
        raise Finding('a wrong value')
    return 'compared'
main.check = check
import sys
main.main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
"""


@pytest.mark.parametrize('what', ['crash', 'hang', 'finding', 'nothing'])
def test_what_happens_is_found(tmp_path, monkeypatch, what):
    """A crash and a hang are attributed to their calls, and later calls are made."""
    monkeypatch.setenv('FUZZ', what)
    monkeypatch.setattr(sys.modules[__name__], 'HANGS', 3)
    start = subprocess.Popen

    def with_check(words, **options):
        return start([words[0], '-c', CRASHES, *words[3:]], **options)

    monkeypatch.setattr(subprocess, 'Popen', with_check)
    findings, _ = run_batch(1, 10, 15, tmp_path)
    numbers = [f['number'] for f in findings]
    assert numbers == ([] if what == 'nothing' else [13])
    assert all(f['call'] == str(draw_call(1, 13)) for f in findings)
