"""Checks that the instruction-set units are sealed (see cmake/isa.cmake for why they must be).

Each object in ``<build folder>/isa`` may define one symbol for others, its table
``cx_<unit>_<isa>``: no weak or unique symbol, which the linker would merge with a copy built for
another machine, and no static initializer, which would run where the instructions do not exist.

Run it as ``python tools/check_isa_symbols.py <build folder>``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path


def exported_symbols(path: Path) -> set[str]:
    """Names that ``path`` defines and other objects can see or merge with."""
    lines = subprocess.run(
        ['nm', '--format=posix', '--defined-only', str(path)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    symbols = set()
    for line in lines:
        name, kind = line.split()[:2]
        # Lower case letters mean local symbols, except u (unique), v and w (weak).
        if kind.isupper() or kind in 'uvw':
            symbols.add(name)
    return symbols


def has_initializer(path: Path) -> bool:
    sections = subprocess.run(
        ['readelf', '--sections', '--wide', str(path)], check=True, capture_output=True, text=True
    ).stdout
    return '.init_array' in sections or '.ctors' in sections


def check(folder: Path) -> list[str]:
    """Returns one message per fault of the sealed objects in ``folder``."""
    objects = sorted(folder.glob('*.o'))
    if not objects:
        return [f'{folder}: no sealed objects; is this the isa folder of a finished build?']
    messages = []
    for path in objects:
        unit, isa = path.stem.split('.')
        entry = f'cx_{unit}_{isa}'
        symbols = exported_symbols(path)
        if entry not in symbols:
            messages.append(f'{path.name}: does not define {entry}')
        messages += [f'{path.name}: leaks {name}' for name in sorted(symbols - {entry})]
        if has_initializer(path):
            messages.append(f'{path.name}: has a static initializer')
    return messages


def main() -> int:
    parser = argparse.ArgumentParser(description='Check that the units are sealed.')
    parser.add_argument('build', type=Path, help='the build folder')
    messages = check(parser.parse_args().build / 'isa')
    print('\n'.join(messages) or 'instruction-set units: all sealed')
    return 1 if messages else 0


if __name__ == '__main__':
    sys.exit(main())
