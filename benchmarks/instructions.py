"""Counts the machine instructions of a few hot paths, with valgrind.

Unlike times, the counts do not depend on what else the machine does, so they can guard against
slow growth: the ceilings stand in budgets.toml, under [instructions].

One process runs all paths under callgrind, which writes a profile whenever getppid() is called:
that call stands before and after each loop.

    python benchmarks/instructions.py            # needs valgrind; about a minute
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

BUDGETS = pathlib.Path(__file__).with_name('budgets.toml')
N = 1000

PREPARE = """
a = chainerx.array([[1, 2, 3], [4, 5, 6]], dtype='float32')
b = a * 2
g = chainerx.array([[1, 2, 3], [4, 5, 6]], dtype='float32').require_grad()
s = chainerx.array([[1, 2], [3, 4]], dtype='float32')
"""

PATHS = {
    'empty loop': 'pass',
    'a + b, no graph': 'a + b',
    'a * 2.0, no graph': 'a * 2.0',
    'exp, no graph': 'chainerx.exp(a)',
    'a @ b, no graph': 's @ s',
    'x.sum(), no graph': 'a.sum()',
    'x.reshape, no graph': 'a.reshape(3, 2)',
    'x.T, no graph': 'a.T',
    'x[0], no graph': 'a[0]',
    'a + b, graph': 'g + b',
    'a * 2.0, graph': 'g * 2.0',
    'chain of 10 adds, forward and backward': (
        'y = g + b + b + b + b + b + b + b + b + b + b; y.backward(); g.cleargrad()'
    ),
}


def child():
    """Runs the loops; this is the program that valgrind watches."""
    import chainerx

    chainerx.set_num_threads(1)
    namespace = {'chainerx': chainerx}
    exec(PREPARE, namespace)
    names = ', '.join(n for n in namespace if not n.startswith('__'))
    for statement in PATHS.values():
        source = f'def loop(n, {names}):\n    for _ in range(n):\n        {statement}\n'
        exec(source, namespace)
        arguments = [namespace[n] for n in names.split(', ')]
        namespace['loop'](20, *arguments)  # fills caches and pools, specializes the bytecode
        os.getppid()
        namespace['loop'](N, *arguments)
        os.getppid()


def measure():
    """Returns instructions per run of each path."""
    if shutil.which('valgrind') is None:
        sys.exit('instructions.py needs valgrind, which is not installed.')
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [
                'valgrind', '--tool=callgrind', '--dump-before=getppid',
                f'--callgrind-out-file={folder}/out', sys.executable, __file__, '--child',
            ],
            check=True,
            stderr=subprocess.DEVNULL,
            env={**os.environ, 'PYTHONHASHSEED': '0'},
        )  # fmt: skip
        files = sorted(
            pathlib.Path(folder).glob('out.*'), key=lambda p: int(p.name.rsplit('.', 1)[1])
        )
        counts = []
        for f in files:
            text = f.read_text()
            if 'getppid' in text.split('desc: Trigger:', 1)[1].split('\n', 1)[0]:
                counts.append(int(re.search(r'^totals: (\d+)', text, re.M)[1]))
    loops = counts[1::2]  # the profiles between two loops are dropped
    if len(loops) != len(PATHS):
        sys.exit(f'expected {len(PATHS)} profiles from valgrind, found {len(loops)}')
    empty = loops[0]
    return {name: round((n - empty) / N) for name, n in zip(PATHS, loops, strict=True)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--child', action='store_true', help=argparse.SUPPRESS)
    parser.add_argument('--json', type=pathlib.Path, help='also write the results to this file')
    args = parser.parse_args()
    if args.child:
        return child()
    ceilings = tomllib.loads(BUDGETS.read_text()).get('instructions', {})
    counts = measure()
    missed = False
    for name, count in counts.items():
        ceiling = ceilings.get(name)
        if name != 'empty loop':
            over = ceiling is not None and count > ceiling
            missed |= over
            print(f'{name:<40} {count:6} at most {ceiling} {"MISSED" if over else ""}')
    if args.json:
        args.json.write_text(json.dumps(counts))
    return missed


if __name__ == '__main__':
    sys.exit(main())
