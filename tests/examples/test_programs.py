"""The programs that share examples/_programs.py, as a user runs them."""

import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parents[2] / 'examples'
PROGRAMS = sorted(path.name for path in EXAMPLES.glob('[!_]*.py'))
assert len(PROGRAMS) > 10
PICTURES = {name: f'{name}.png' for name in ('seq2seq', 'vae', 'dcgan', 'word2vec')}

# Samples of distributions differ between NumPy and devices; the rest by rounding only.
APART = {'vae': 2e-2}

for name in ('sklearn', 'tqdm', 'matplotlib'):
    pytest.importorskip(name, reason='needs pip install ".[examples]"')


def run(name, *arguments):
    command = [sys.executable, str(EXAMPLES / f'{name}.py'), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def reached(done):
    """Score and device that a successful program printed."""
    assert done.returncode == 0, done.stdout + done.stderr
    score, device = re.search(r': (-?[\d.]+) \(device (.*)\)\n$', done.stdout).groups()
    return float(score), device


def losses(done):
    """The losses of the first epoch, as printed."""
    first = re.search(r'^epoch 1/\d+: loss (.*)$', done.stdout, re.MULTILINE)
    return [float(loss) for loss in first[1].split(', ')]


@pytest.mark.score
@pytest.mark.parametrize('name', PICTURES)
def test_reaches_its_score_and_draws(name, tmp_path):
    done = run(name, '--out', tmp_path / 'out')
    assert reached(done)[1] == 'native:0'
    assert (tmp_path / 'out' / PICTURES[name]).read_bytes().startswith(b'\x89PNG')
    # The same epoch with NumPy, which is too short for the score. -1 is the old form of --device.
    short = run(name, '--device=-1', '--epochs', 1, '--no-plots')
    assert losses(short) == pytest.approx(losses(done), rel=APART.get(name, 2e-3))
    assert short.returncode == 1
    assert '(device @numpy)' in short.stdout
    assert re.search(r'below the -?[\d.]+ that it must reach', short.stderr)


def test_a_seed_repeats_all():
    """NumPy's seed makes runs repeatable, also on a device."""
    first, again = (run('vae', '--epochs', 1, '--no-plots').stdout for _ in range(2))
    assert first == again
    assert first != run('vae', '--epochs', 1, '--no-plots', '--seed', 1).stdout


@pytest.mark.score
def test_a_tree_instead_of_samples():
    assert reached(run('word2vec', '--out-type', 'hsm', '--device=-1', '--no-plots'))[1] == '@numpy'


@pytest.mark.parametrize('program', PROGRAMS)
def test_every_program_has_help(program):
    done = run(program.removesuffix('.py'), '--help')
    assert done.returncode == 0, done.stderr
    assert '--device' in done.stdout
    assert '--out' in done.stdout


def test_bad_options():
    done = run('vae', '--epochs', 0)
    assert done.returncode == 2
    assert 'at least 1' in done.stderr
