"""The packages that CONTRIBUTING.md installs."""

import pathlib
import subprocess
import sys

TOOL = pathlib.Path(__file__).parents[2] / 'tools/list_requirements.py'


def run(*extras):
    return subprocess.run([sys.executable, TOOL, *extras], capture_output=True, text=True)


def test_extras_of_extras_are_resolved():
    found = run('dev').stdout.splitlines()
    names = {line.split('=')[0].split('>')[0] for line in found}
    assert {'numpy', 'nanobind', 'pytest', 'mypy', 'onnx', 'scikit-learn'} <= names
    assert not [line for line in found if 'chainerx' in line]
    assert len(found) == len(set(found))


def test_unknown_extra():
    done = run('tests')
    assert done.returncode == 1
    assert 'no extra tests; there are: ' in done.stderr
