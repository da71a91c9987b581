"""Peak resident memory, each library in a separate process."""

import os
import pathlib
import re
import subprocess
import sys

from harness import set_threads

HERE = pathlib.Path(__file__).parent


def peak_memory(run):
    """Peak memory in bytes during `run()` on one thread, above the memory before."""

    def status(key):
        text = pathlib.Path('/proc/self/status').read_text()
        return int(re.search(rf'{key}:\s+(\d+) kB', text)[1]) * 1024

    set_threads(1)
    pathlib.Path('/proc/self/clear_refs').write_text('5')  # resets the peak
    start = status('VmRSS')
    run()
    return status('VmHWM') - start


def compare(module, what):
    """Prints the peaks of both libraries, from `module.peak_of(library)`."""
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
    """The environment of this process, including its import path."""
    return {
        **os.environ,
        'PYTHONPATH': os.pathsep.join(map(os.path.abspath, filter(None, sys.path))),
    }
