"""Processes with a GPU each; on the test driver, if there is one (tests/cuda), else on GPUs."""

import os
import pathlib

import chainerx as chx
import pytest

STAND_IN_CUPY = pathlib.Path(__file__).parents[1] / 'cuda' / 'stand_in_cupy'


@pytest.fixture
def environment():
    if not os.environ.get('CHAINERX_CUDA_TEST_DRIVER'):
        if chx.cuda.device_count() < 2:
            pytest.skip('two GPUs or $CHAINERX_CUDA_TEST_DRIVER are needed')
        return {}
    paths = os.environ.get('PYTHONPATH', '').split(os.pathsep)
    paths = [os.path.abspath(path) for path in paths if path]
    return {'PYTHONPATH': os.pathsep.join([str(STAND_IN_CUPY), *paths])}


@pytest.mark.slow
@pytest.mark.parametrize('name', ['pure_nccl', 'non_cuda_aware', 'naive'])
def test_models_on_gpus(run_checks, environment, name):
    assert run_checks(2, 'checks_gpus', communicator=name, env=environment) >= 6


@pytest.mark.slow
def test_nccl_that_fails(run_checks, environment):
    env = environment | {'CHAINERX_CUDA_TEST_FAIL_NCCL': '1'}
    if 'CHAINERX_CUDA_TEST_DRIVER' not in os.environ:
        pytest.skip('real NCCL does not fail at will')
    with pytest.raises(AssertionError, match=r'ncclCommInitRank failed with status 1 \(unhandled'):
        run_checks(2, 'checks_gpus', communicator='pure_nccl', only='parameters', env=env)
