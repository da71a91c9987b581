"""Training steps launch no more on a GPU than benchmarks/budgets.toml allows."""

import json
import pathlib

import pytest

PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
import gpu_launches, json
print(json.dumps([gpu_launches.count_all(), gpu_launches.ceilings()]))
"""
FOLDER = pathlib.Path(__file__).parents[2] / 'benchmarks'


@pytest.mark.parametrize(
    'environment', [{}, {'CHAINERX_CUDA_PRODUCT': 'tiles'}], ids=['cublaslt', 'tiles']
)
def test_steps_stay_below_their_ceilings(run, environment):
    counts, ceilings = json.loads(run(PROGRAM.format(folder=str(FOLDER)), environment=environment))
    most = ceilings.pop('captured')
    assert counts.keys() == ceilings.keys()
    assert all(count > 10 and captured > 0 for count, captured in counts.values()), counts
    over = {
        name: f'{count} launches, at most {ceilings[name]}; captured {captured}, at most {most}'
        for name, (count, captured) in counts.items()
        if count > ceilings[name] or captured > most
    }
    assert not over
