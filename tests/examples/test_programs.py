"""The programs that share examples/_programs.py, as a user runs them."""

import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parents[2] / 'examples'
PICTURES = {name: f'{name}.png' for name in ('seq2seq', 'vae', 'dcgan', 'word2vec')}

for name in ('sklearn', 'tqdm', 'matplotlib'):
    pytest.importorskip(name, reason='needs pip install ".[examples]"')


def run(name, *arguments):
    command = [sys.executable, str(EXAMPLES / f'{name}.py'), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def reached(done):
    """Score and device that a program which ended well printed."""
    assert done.returncode == 0, done.stdout + done.stderr
    score, device = re.search(r': (-?[\d.]+) \(device (.*)\)\n$', done.stdout).groups()
    return float(score), device


@pytest.mark.parametrize('name', PICTURES)
def test_reaches_its_score_and_draws(name, tmp_path):
    _, device = reached(run(name, '--out', tmp_path / 'out'))
    assert device == 'native:0'
    assert (tmp_path / 'out' / PICTURES[name]).read_bytes().startswith(b'\x89PNG')


@pytest.mark.parametrize('name', PICTURES)
def test_reaches_its_score_with_numpy(name):
    # -1 is how programs of old say it.
    assert reached(run(name, '--device=-1', '--no-plots'))[1] == '@numpy'


def test_a_tree_instead_of_samples():
    reached(run('word2vec', '--out-type', 'hsm', '--no-plots'))


@pytest.mark.parametrize('name', PICTURES)
def test_too_little_training_is_an_error(name):
    done = run(name, '--epochs', 1, '--batch-size', 3000, '--no-plots')
    assert done.returncode == 1
    assert re.search(r'below the -?[\d.]+ that it must reach', done.stderr)


@pytest.mark.parametrize('name', PICTURES)
def test_help_and_bad_options(name):
    done = run(name, '--help')
    assert done.returncode == 0
    assert '--device' in done.stdout
    done = run(name, '--epochs', 0)
    assert done.returncode == 2
    assert 'at least 1' in done.stderr
