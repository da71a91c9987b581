"""Functions, links, datasets and training in several processes."""

import pathlib

import pytest

HERE = pathlib.Path(__file__).parent


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
    done = mpiexec(2, HERE / 'v7_program.py', '--device', device, '--out', tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'Warning' not in done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == 'Num process: 2'
    assert [line.split()[0] for line in lines[-3:]] == ['1', '2', '3']
    assert float(lines[-1].split()[-1]) > 0.9
    assert (tmp_path / 'log').exists()
