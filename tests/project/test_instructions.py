"""Hot paths take no more instructions than benchmarks/budgets.toml allows."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

BENCHMARK = pathlib.Path(__file__).parents[2] / 'benchmarks' / 'instructions.py'


def load():
    spec = importlib.util.spec_from_file_location('instructions', BENCHMARK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def why_not():
    if shutil.which('valgrind') is None:
        return 'valgrind, which counts the instructions, is not installed'
    if 'libasan' in os.environ.get('LD_PRELOAD', ''):
        return 'sanitizers add instructions'
    if ' avx2 ' not in pathlib.Path('/proc/cpuinfo').read_text():
        return 'the ceilings are for AVX2, which this processor has not'
    with_avx2 = subprocess.run(
        [sys.executable, '-c', 'import chainerx; chainerx.ones(1)'],
        env={**os.environ, 'CHAINERX_ISA': 'avx2'},
        check=False,
        capture_output=True,
    )
    if with_avx2.returncode != 0:
        return 'the ceilings are for AVX2, which this build has not'
    return None


@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
def test_hot_paths_stay_below_their_ceilings():
    instructions = load()
    ceilings = instructions.ceilings()
    counts = instructions.measure()
    assert counts.keys() == ceilings.keys()
    over = {
        name: f'{count} instructions, at most {ceilings[name]}'
        for name, (count, _) in counts.items()
        if count > ceilings[name]
    }
    assert not over


def test_costs_of_callees_count_once():
    profile = """\
events: Ir

ob=(1) /lib/a.so
fn=(1) f
10 3
cob=(2) /lib/b.so
cfn=(2) g
calls=1 5
+2 100
* 4

ob=(2)
fn=(2) g
5 100
totals: 107
"""
    assert load().cost_by_object(profile) == {'/lib/a.so': 7, '/lib/b.so': 100}
