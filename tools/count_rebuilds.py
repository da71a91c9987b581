"""Counts the sources that are compiled again when a family of kernels gets another row.

A new kernel must rebuild its family and the table, not the world: who calls or implements a kernel
includes its family's header, and only ``kernels/table.cc`` knows them all. This reads from ninja
which sources depend on the file that has the rows, and says for each why.

    python tools/count_rebuilds.py build            one line per family
    python tools/count_rebuilds.py build linalg     the sources, too
    python tools/count_rebuilds.py --check build    fails if a source is none of the three below
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1] / 'cpp'
KERNELS = ROOT / 'chainerx' / 'kernels'
INCLUDE = re.compile(
    r'^\s*#\s*(?:include|define CX_KERNEL_DEF|define CX_\w+_DEF)\s+"([^"]+)"', re.M
)


def families() -> dict[str, str]:
    """The file with the rows of each family, from the root of the sources."""
    found = {}
    for header in sorted(KERNELS.rglob('*.h')):
        match = re.search(r'^#define CX_KERNEL_DEF "([^"]+)"', header.read_text(), re.M)
        if match:
            found[header.stem] = match.group(1)
    return found


def dependents(build: Path) -> dict[str, set[str]]:
    """For each file of the sources, the sources that ninja compiles again when it changes."""
    done = subprocess.run(
        ['ninja', '-C', str(build), '-t', 'deps'], capture_output=True, text=True, check=True
    )
    found = defaultdict(set)
    for block in done.stdout.split('\n\n'):
        names = [line.strip() for line in block.splitlines()[1:]]
        paths = [(build / n).resolve() for n in names if 'cpp/chainerx' in n]
        inside = [str(p.relative_to(ROOT)) for p in paths if p.is_relative_to(ROOT)]
        if names and '/families/' in names[0]:  # written by cmake/families.cmake
            inside.insert(0, names[0])
        if inside and inside[0].endswith('.cc'):
            for name in inside:
                found[name].add(inside[0])
    return found


def headers(part: str, family: str) -> set[str]:
    """The headers with the name of a family in a part of the sources: one, or none."""
    return {str(p.relative_to(ROOT)) for p in (ROOT / 'chainerx' / part).rglob(f'{family}.h')}


def rows_of_a_family(source: str) -> bool:
    return 'chainerx/ops/elementwise/define_family.h' in (ROOT / source).read_text()


def reason(family: str, rows: str, source: str) -> str | None:
    """Why a source depends on the rows: it is the family's, the table, or a user of them."""
    if source == 'chainerx/kernels/table.cc':
        return 'table'
    if Path(source).stem == family:
        return 'family'
    operators = INCLUDE.findall((ROOT / 'chainerx/ops/elementwise/operators.h').read_text())
    if headers('ops', family) & {*operators} and rows_of_a_family(source):
        return 'user'  # gradient expressions use operators
    # Its own includes, and those of the headers that it includes and that not all files include.
    wanted = {rows} | headers('kernels', family) | headers('ops', family)
    seen, todo = set(), [source]
    for _ in range(2):
        names = [n for s in todo for n in INCLUDE.findall((ROOT / s).read_text())]
        if wanted & {*names}:
            return 'user'
        todo = [n for n in names if n not in seen and (ROOT / n).is_file()]
        seen |= {*todo}
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('build', type=Path)
    parser.add_argument('family', nargs='?')
    parser.add_argument('--check', action='store_true')
    args = parser.parse_args()
    depends = dependents(args.build.resolve())
    total = len(set().union(*depends.values()))
    wrong = 0
    for family, rows in families().items():
        if args.family not in (None, family):
            continue
        sources = {s: reason(family, rows, s) for s in sorted(depends[rows])}
        # The library of models stands on the others, and most programs go without it.
        models = [s for s in sources if s.startswith('chainerx/onnx/')]
        kinds = [why for s, why in sources.items() if s not in models]
        counts = ', '.join(f'{kinds.count(k)} {k}' for k in ('family', 'table', 'user'))
        print(f'{family}: {len(kinds)} of {total} sources ({counts}), and {len(models)} of onnx')
        for source, why in sources.items():
            if args.family is not None:
                print(f'    {source}: {why or "for no reason of its own"}')
            if why is None:
                wrong += 1
                if args.family is None:
                    print(f'    {source}: depends on {rows} for no reason of its own')
        if not sources:
            print(f'    nothing depends on {rows}')
            wrong += 1
    return 1 if args.check and wrong else 0


if __name__ == '__main__':
    sys.exit(main())
