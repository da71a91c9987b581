"""Trainings give the same results as in Chainer 7.8.1, and resume its snapshot."""

import json
import math
import pathlib
import shutil

import chainer
import numpy as np
import pytest
import v7_programs
import v7_resumed
from devices import DEVICES

DATA = pathlib.Path(__file__).parents[1] / 'data'


@pytest.fixture(scope='module')
def v7():
    return json.loads((DATA / 'v7_training.json').read_text())


def differences(found, expected, path=''):
    """Where two results differ; floats may differ by the rounding of sums in float32."""
    if path.endswith('/elapsed_time'):
        return
    if isinstance(expected, float):
        if not math.isclose(found, expected, rel_tol=1e-5, abs_tol=1e-6):
            yield path, found, expected
    elif type(found) is not type(expected):
        yield path, found, expected
    elif isinstance(expected, dict):
        if list(found) != list(expected):
            yield path, list(found), list(expected)
            return
        for key in expected:
            yield from differences(found[key], expected[key], f'{path}/{key}')
    elif isinstance(expected, list):
        if len(found) != len(expected):
            yield path, found, expected
            return
        for i, (one, other) in enumerate(zip(found, expected, strict=True)):
            yield from differences(one, other, f'{path}/{i}')
    elif found != expected:
        yield path, found, expected


@pytest.mark.parametrize('program', v7_programs.PROGRAMS, ids=lambda program: program.__name__)
def test_program(program, v7, tmp_path):
    found = json.loads(json.dumps(program(tmp_path)))
    assert list(differences(found, v7[program.__name__])) == []


def test_whole_training(v7, tmp_path):
    assert list(differences(v7_resumed.run_whole(tmp_path), v7['resumed'])) == []


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('how', ['load_npz', 'autoload'])
def test_resumes_a_snapshot_of_v7(how, device, v7, tmp_path):
    name = f'snapshot_iter_{v7_resumed.WHERE}'
    shutil.copy(DATA / 'v7_training.npz', tmp_path / name)
    trainer = v7_resumed.make(tmp_path)
    v7_resumed.model_of(trainer).to_device(device)
    trainer.updater._input_device = chainer.get_device(device)
    trainer.get_extension('validation').device = chainer.get_device(device)
    if how == 'load_npz':
        chainer.serializers.load_npz(tmp_path / name, trainer)
        assert not trainer.is_before_training
        # Chainer v7 saves no generator states; these are what they were.
        resume_generators(trainer)
    else:
        trainer.get_extension('_Snapshot').autoload = True
        resume_generators(trainer)
    trainer.run()
    assert list(differences(v7_resumed.result_of(trainer), v7['resumed'])) == []


def resume_generators(trainer):
    """Draws what was drawn up to the snapshot: the orders of two epochs, as the second one began
    before it; the generator is then in the same state as v7's."""
    np.random.seed(0)
    for _ in range(2):
        np.random.permutation(20)
