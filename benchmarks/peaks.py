"""Peaks of resident memory, each library in a process of its own."""

import os
import pathlib
import re
import subprocess
import sys

from harness import set_threads

HERE = pathlib.Path(__file__).parent


def peak_memory(run):
    """Peak of bytes of this process during `run()` on one thread, above the bytes before."""

    def status(key):
        text = pathlib.Path('/proc/self/status').read_text()
        return int(re.search(rf'{key}:\s+(\d+) kB', text)[1]) * 1024

    set_threads(1)
    pathlib.Path('/proc/self/clear_refs').write_text('5')  # resets the peak
    start = status('VmRSS')
    run()
    return status('VmHWM') - start


def compare(module, what):
    """Prints the peaks of both libraries; `module.peak_of(library)` gives one."""
    peaks = {}
    for library in ('chainerx', 'torch'):
        code = f'import {module}; print({module}.peak_of({library!r}))'
        done = subprocess.run(
            [sys.executable, '-c', code], cwd=HERE, env=environment(), check=True,
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        peaks[library] = int(done.stdout)
    ratio = peaks['chainerx'] / peaks['torch']
    figures = ', '.join(f'{k} {v / 2**20:.0f} MiB' for k, v in peaks.items())
    print(f'peak memory of {what}: ratio {ratio:.3f} ({figures})')


def environment():
    """The environment of this process, with the folders from which it imports."""
    return {
        **os.environ,
        'PYTHONPATH': os.pathsep.join(map(os.path.abspath, filter(None, sys.path))),
    }
