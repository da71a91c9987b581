"""Functions, links, datasets and training in several processes."""

import pathlib
import re

import pytest

HERE = pathlib.Path(__file__).parent
pytestmark = pytest.mark.slow


ARRAYS = 'checks_arrays', 'checks_models'
GRAPHS = 'checks_functions', 'checks_links'
TRAINING = 'checks_datasets', 'checks_training'


def test_all(run_checks):
    assert run_checks(2, *ARRAYS, *GRAPHS, *TRAINING, communicator='flat') > 75


@pytest.mark.parametrize(
    ('n', 'name', 'checks'),
    [(3, 'naive', ARRAYS), (3, 'flat', GRAPHS), (1, 'non_cuda_aware', ARRAYS + GRAPHS + TRAINING)],
    ids=['arrays', 'graphs', 'one'],
)
def test_others(run_checks, n, name, checks):
    assert run_checks(n, *checks, communicator=name) > 20


@pytest.mark.parametrize('device', ['-1', 'native:0'])
def test_program_of_v7(mpiexec, tmp_path, device):
    """A program as users wrote it; rank 0 alone has the data, and prints."""
    env = {'PYTHONWARNINGS': 'error::DeprecationWarning'}
    done = mpiexec(2, HERE / 'v7_program.py', '--device', device, '--out', tmp_path, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == 'Num process: 2'
    assert [line.split()[0] for line in lines[-3:]] == ['1', '2', '3']
    assert float(lines[-1].split()[-1]) > 0.9
    assert (tmp_path / 'log').exists()


@pytest.mark.score
def test_example(mpiexec, tmp_path):
    """It resumes from a snapshot that one process wrote for all that are alike."""
    for name in ('sklearn', 'matplotlib', 'tqdm'):
        pytest.importorskip(name, reason='needs pip install ".[examples]"')
    program = HERE.parents[1] / 'examples' / 'train_digits_mn.py'
    options = program, '--net', 'mlp', '--out', tmp_path, '--batch-size', 8, '--epochs'
    for n_epochs in (1, 7):
        done = mpiexec(2, *options, n_epochs)
        found = re.search(r'Final test accuracy: ([\d.]+) in 2 processes', done.stdout)
        assert found, done.stdout + done.stderr
    assert done.returncode == 0, done.stdout + done.stderr
    assert float(found[1]) >= 0.97
    assert re.search(r'^2 ', done.stdout, re.M)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {'log', *(f'{s}_snapshot_iter_{i}' for s in (0, 1) for i in (540, 630))}
