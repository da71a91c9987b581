"""Mutated models in child processes: an error that names node or field, or a run; never a crash,
a hang, or memory that the file does not account for.

What is found is printed with the seed and the number of the mutation, which `python -m mutations`
in this folder makes again, alone.
"""

import collections
import json
import os
import pathlib
import pickle
import signal
import struct
import subprocess
import sys
import time

import chainerx
import pytest
from mutations.corpus import models
from mutations.mutate import draw

HERE = pathlib.Path(__file__).parent
MUTATIONS = 3_000
ALL_MUTATIONS = 100_000
BATCH = 5_000
SEED = 20260101
HANGS = 120  # seconds: a machine may be busy


def environment():
    package = pathlib.Path(chainerx.__file__).parents[1]
    path = os.pathsep.join([str(package), str(HERE), *filter(None, sys.path)])
    return {**os.environ, 'PYTHONPATH': path, 'OMP_NUM_THREADS': '1'}


def watch(process, progress):
    """Waits for the end of a child; kills its group if a mutation does not end."""
    last, since = None, time.monotonic()
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


def run_batch(corpus, first, last, folder):
    """Findings and counts; goes on after each mutation that ends the process."""
    findings, counts = [], collections.Counter()
    progress = folder / 'progress'
    while first < last:
        progress.write_bytes(struct.pack('q', first))
        numbers = map(str, (SEED, first, last))
        words = [sys.executable, '-m', 'mutations', str(corpus), *numbers, str(progress)]
        with (folder / 'out').open('w+') as out, (folder / 'err').open('w+') as err:
            process = subprocess.Popen(
                words, stdout=out, stderr=err, env=environment(), cwd=HERE, start_new_session=True
            )
            end = watch(process, progress)
            out.seek(0)
            err.seek(0)
            reports = [json.loads(line) for line in out if line.startswith('{"')]
            errors = err.read()
        findings += [r for r in reports if 'finding' in r]
        for report in reports:
            counts.update(report.get('counts', {}))
        if end is None and process.returncode == 0:
            break
        number = struct.unpack('q', progress.read_bytes())[0]
        what = end or f'ends the process with {process.returncode}: {errors[-3000:]}'
        findings.append({'number': number, 'name': '', 'finding': what})
        first = number + 1
    return findings, counts


@pytest.fixture(scope='module')
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp('mutations') / 'corpus'
    path.write_bytes(pickle.dumps(models()))
    return path


@pytest.mark.slow
def test_mutations(corpus, tmp_path, request):
    n = ALL_MUTATIONS if request.config.getoption('--full', default=False) else MUTATIONS
    findings, counts = [], collections.Counter()
    for first in range(0, n, BATCH):
        found, more = run_batch(corpus, first, min(first + BATCH, n), tmp_path)
        findings += found
        counts.update(more)
    print(dict(counts))
    lines = [f'{f["number"]} {f["name"]}: {f["finding"]}' for f in findings]
    assert not findings, f'seed {SEED}, {len(lines)} findings\n' + '\n'.join(lines[:20])
    # Otherwise it tests one end alone.
    for verdict in ('refused', 'failed', 'ran'):
        assert counts[verdict] > n / 10, counts


def test_mutations_are_drawn_alike_each_time(corpus):
    loaded = pickle.loads(corpus.read_bytes())
    for number in range(100):
        first, again = (pickle.dumps(draw(loaded, 1, number)) for _ in range(2))
        assert first == again
