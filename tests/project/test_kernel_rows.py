"""The rows of kernels: their documentation, and the rebuilds caused by a new row."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]


def run(*command):
    done = subprocess.run(
        [sys.executable, *map(str, command)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_page_of_kernels_is_current():
    run(ROOT / 'tools' / 'gen_kernel_docs.py', '--check')


def newest_build():
    """The build in $CHAINERX_BUILD_DIR, else the newest one in or below build/."""
    if named := os.environ.get('CHAINERX_BUILD_DIR'):
        return pathlib.Path(named)
    found = [p for p in ROOT.glob('build/**/.ninja_deps') if (p.parent / 'cpp').is_dir()]
    return max(found, key=lambda p: p.stat().st_mtime).parent if found else None


def test_new_kernel_rebuilds_its_family_and_the_table():
    build = newest_build()
    if build is None or shutil.which('ninja') is None:
        pytest.skip('needs a build by ninja')
    if re.search(r'^CHAINERX_UNITY:\w+=ON', (build / 'CMakeCache.txt').read_text(), re.M):
        pytest.skip('sources are compiled together there; CI asks a build where they are not')
    lines = run(ROOT / 'tools' / 'count_rebuilds.py', '--check', build).splitlines()
    assert len(lines) >= 18
    for line in lines:
        assert '1 table' in line, line
        family, count = line.split(' of ')[0].split(': ')
        # memory (fill, copy) and arithmetic, which everything else uses.
        assert family in ('memory', 'arithmetic', 'logic') or int(count) <= 30, line
