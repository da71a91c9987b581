"""examples/imagenet*.py as a user runs them, on generated pictures and on folders."""

import json
import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parents[2] / 'examples'

for name in ('PIL', 'matplotlib'):
    pytest.importorskip(name, reason='needs pip install ".[examples]"')


def run(*arguments, program='imagenet.py'):
    command = [sys.executable, str(EXAMPLES / program), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


SMALL = '--pictures', 60, '--batch-size', 10, '--size', 32, '--workers', 2


@pytest.mark.score
@pytest.mark.parametrize('device', ['@numpy', 'native:0'])
def test_trains_and_resumes(device, tmp_path):
    options = (*SMALL, '--device', device, '--out', tmp_path)
    done = run(*options, '--epochs', 1)
    assert done.returncode == 0, done.stderr
    assert re.search(r'Accuracy on 10 other pictures: [01]\.\d+', done.stdout)
    for picture in ('pictures.png', 'accuracy.png'):
        assert (tmp_path / picture).read_bytes().startswith(b'\x89PNG')
    assert (tmp_path / 'snapshot_iter_6').exists()
    for more in ([], [tmp_path / 'snapshot_iter_6']):
        done = run(*options, '--epochs', 2, '--resume', *more)
        assert done.returncode == 0, done.stderr
        log = json.loads((tmp_path / 'log').read_text())
        assert [entry['iteration'] for entry in log] == [6, 12]


@pytest.mark.score
def test_a_well_known_network_on_folders(tmp_path):
    run(*SMALL, '--epochs', 1, '--out', tmp_path)
    folders = tmp_path / 'val', tmp_path / 'val'
    done = run(*folders, '--arch', 'resnet50', '--size', 48, '--batch-size', 5, '--epochs', 1,
               '--workers', 1, '--out', tmp_path / 'out', '--min-accuracy', 1.1)  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert 'Accuracy on 10 other pictures' in done.stdout
    assert 'below the 1.1' in done.stderr
    assert not (tmp_path / 'out' / 'train').exists()


@pytest.mark.parametrize('in_folders', [False, True])
def test_chainerx_alone(in_folders, tmp_path):
    program = 'imagenet_chainerx.py'
    options = (*SMALL, '--epochs', 2, '--out', tmp_path)
    done = run(*options, program=program)
    assert done.returncode == 0, done.stderr
    if in_folders:
        done = run(tmp_path / 'train', tmp_path / 'val', *options, program=program)
    assert done.stdout.count('so far') == 2
    assert re.search(r'Accuracy on 10 other pictures: [01]\.\d+', done.stdout)
    assert (tmp_path / 'pictures.png').read_bytes().startswith(b'\x89PNG')


@pytest.mark.score
@pytest.mark.parametrize('program', ['imagenet.py', 'imagenet_chainerx.py'])
def test_learns(program, tmp_path):
    # Chance is 0.1; four epochs reach 0.74 and 0.70.
    options = '--pictures', 2000, '--epochs', 4, '--workers', 2, '--min-accuracy', 0.5
    done = run('--out', tmp_path, *options, program=program)
    assert done.returncode == 0, done.stdout + done.stderr


def test_mistakes(tmp_path):
    for arguments, text in (
        (['somewhere'], 'needed both'),
        (['--epochs', 0], 'at least 1'),
        (['--size', 8], 'at least 32'),
        ([tmp_path / 'nowhere', tmp_path], 'nowhere'),
        ([tmp_path, tmp_path], 'no folder with JPEGs'),
    ):
        done = run(*arguments, '--out', tmp_path / 'out')
        assert done.returncode != 0
        assert text in done.stderr
    assert '--resume' in run('--help').stdout
