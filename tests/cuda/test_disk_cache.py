"""Compiled kernels on disk: whatever happens to the folder, results are right."""

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

PROGRAM = """
import chainerx as chx
x = chx.arange(5, dtype='float32', device='cuda:0')
print(chx.to_numpy(chx.exp(x * 0) + x))
"""
EXPECTED = '[1. 2. 3. 4. 5.]\n'
# Compiles five kernels of one line.
SMALL = f"""
from chainerx import cuda
for i in range(5):
    text = f'extern "C" int K() {{{{ return {{i}}; }}}}'
    message = cuda._plugin().ChainerxCudaCompile(b'K', text.encode(), 90).decode()
    if message:
        raise SystemExit(message)
print({EXPECTED!r}, end='')
"""
NOTICE = "kernels can't be kept"


@pytest.fixture
def start(driver, tmp_path):
    """Starts the program; its cache is `cache` in tmp_path."""

    def start(*prefix, program=PROGRAM, **variables):
        names = {'CHAINERX_CUDA_TEST_DRIVER': driver, 'CHAINERX_CACHE_DIR': tmp_path / 'cache'}
        environment = {k: v for k, v in os.environ.items() if k != 'XDG_CACHE_HOME'}
        environment |= {k: str(v) for k, v in (names | variables).items()}
        return subprocess.Popen(
            [*prefix, sys.executable, '-c', program],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


def finish(process):
    """Returns what it prints to stderr; its results are right."""
    out, err = process.communicate()
    assert (process.returncode, out) == (0, EXPECTED), err
    return err


def files_of(folder):
    return sorted(path for path in folder.rglob('*') if path.is_file())


def test_eight_cold_processes_at_once(start, tmp_path):
    for process in [start() for _ in range(8)]:
        assert NOTICE not in finish(process)
    files = files_of(tmp_path)
    assert files
    assert not any(path.suffix for path in files)  # no temporary one is left
    times = [path.stat().st_mtime_ns for path in files]
    finish(start())
    assert [path.stat().st_mtime_ns for path in files_of(tmp_path)] == times


def test_a_killed_process(start, tmp_path):
    process = start()
    deadline = time.monotonic() + 120
    while not files_of(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert NOTICE not in finish(start())


def test_damaged_files(start, tmp_path):
    finish(start(program=SMALL))
    files = files_of(tmp_path)
    good = [path.read_bytes() for path in files]
    truncated, changed, empty, pipe, endless = files
    truncated.write_bytes(good[0][:-20])
    changed.write_bytes(good[1][:-20] + bytes([good[1][-20] ^ 1]) + good[1][-19:])
    empty.write_bytes(b'')
    pipe.unlink()
    os.mkfifo(pipe)
    endless.unlink()
    endless.symlink_to('/dev/zero')
    assert NOTICE not in finish(start(program=SMALL))
    assert [path.read_bytes() for path in files_of(tmp_path)] == good


def test_a_folder_that_can_not_be_one(start, tmp_path):
    (tmp_path / 'cache').write_text('a file')
    assert finish(start(program=SMALL)).count(NOTICE) == 1


def test_limits(start, tmp_path):
    finish(start(program=SMALL, CHAINERX_CACHE_MB=0))
    assert not files_of(tmp_path)
    old = tmp_path / 'cache' / 'cuda' / 'ab' / 'old'
    old.parent.mkdir(parents=True)
    old.write_bytes(bytes(2000000))
    os.utime(old, (0, 0))
    finish(start(program=SMALL, CHAINERX_CACHE_MB=1))
    assert not old.exists()
    assert len(files_of(tmp_path)) == 5
    process = start(program=SMALL, CHAINERX_CACHE_MB='many', CHAINERX_CACHE_DIR=tmp_path / 'new')
    assert "CHAINERX_CACHE_MB is 'many', expected a number" in process.communicate()[1]


def test_an_empty_variable_is_none(start, tmp_path):
    finish(start(program=SMALL, CHAINERX_CACHE_DIR='', HOME=tmp_path))
    assert len(files_of(tmp_path / '.cache' / 'chainerx' / 'cuda')) == 5


def test_a_read_only_home(start):
    environment = {'CHAINERX_CACHE_DIR': '', 'HOME': '/proc'}
    process = start('env', '-u', 'CHAINERX_CACHE_DIR', **environment)
    assert finish(process).count(NOTICE) == 1


def test_a_full_disk(start, tmp_path):
    (tmp_path / 'cache').mkdir()
    mount = f'mount -t tmpfs -o size=8k tmpfs {tmp_path}/cache && exec "$@"'
    prefix = ['unshare', '--mount', 'sh', '-c', mount, 'sh']
    if shutil.which('unshare') is None or subprocess.run([*prefix, 'true']).returncode:
        pytest.skip('needs the right to mount')
    notice = finish(start(*prefix))
    assert notice.count(NOTICE) == 1
    assert 'No space left' in notice
