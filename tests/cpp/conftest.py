"""The location of the C++ package: the installed one, or a build in place."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(scope='session')
def cmake_dir(tmp_path_factory):
    """The folder with chainerxConfig.cmake.

    A wheel contains it. A build in place (``build`` or ``$CHAINERX_BUILD_DIR``) does not, and is
    first installed into a folder.
    """
    done = subprocess.run(
        [sys.executable, '-m', 'chainerx', '--cmake-dir'],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        return done.stdout.strip()
    build = pathlib.Path(os.environ.get('CHAINERX_BUILD_DIR', ROOT / 'build'))
    if not (build / 'cmake_install.cmake').is_file():
        pytest.fail(f'{done.stderr.strip()}; nor is there a build in {build} to install')
    prefix = tmp_path_factory.mktemp('prefix')
    subprocess.run(
        ['cmake', '--install', str(build), '--prefix', str(prefix)], check=True, capture_output=True
    )
    (config,) = prefix.rglob('chainerxConfig.cmake')
    return str(config.parent)
