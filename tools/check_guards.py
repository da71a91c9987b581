"""Checks that nothing in the C++ library is made by the first thread that passes.

A ``static`` of a function without a constant initializer has a guard: the first thread
initializes it, others wait. If the process forks meanwhile, the child lacks that thread, and all
who pass wait for ever. Use ``Lazy`` of core/fork_mutex.h, or ``constinit``. Thread-local statics
are fine.

Run it as ``python tools/check_guards.py <build folder>``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

TARGETS = 'chainerx', 'chainerx_cold', 'chainerx_native', 'chainerx_cuda'  # of cpp/CMakeLists.txt
#: Statics of a plug-in, which are initialized while it is loaded.
AT_LOADING = 'chainerx::internal::UseOf<'


def guards(path: Path) -> set[str]:
    """Names of the statics of functions in the object ``path`` that have a guard."""
    lines = subprocess.run(
        ['readelf', '--symbols', '--wide', '--demangle', str(path)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    prefix = 'guard variable for '
    return {
        line[line.index(prefix) + len(prefix) :]
        for line in lines
        if prefix in line and line.split()[3] == 'OBJECT' and AT_LOADING not in line
    }


def check(folder: Path) -> list[str]:
    """Returns one message per static with a guard in the objects below ``folder``."""
    objects = sorted(folder.rglob('*.o'))
    if not objects:
        return [f'{folder}: no objects; is this a finished build?']
    return [f'{path.name}: {name}' for path in objects for name in sorted(guards(path))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('build', type=Path, help='folder of a finished build')
    folder = parser.parse_args().build / 'cpp' / 'CMakeFiles'
    messages = [m for target in TARGETS for m in check(folder / f'{target}.dir')]
    for message in messages:
        print(message, file=sys.stderr)
    return 1 if messages else 0


if __name__ == '__main__':
    sys.exit(main())
