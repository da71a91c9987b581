"""Time of `import chainerx`, or with --module of `import chainer`, after NumPy is imported."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tomllib

CODE = """
import numpy, time
t = time.perf_counter()
import {module}
print(time.perf_counter() - t)
"""
BUDGETS = pathlib.Path(__file__).with_name('budgets.toml')
KEYS = {'chainerx': 'import_ms', 'chainer': 'import_chainer_ms'}


def measure(module, runs):
    """Milliseconds: the best of many fresh processes, after some that fill the disk cache."""
    times = []
    # Installers compile packages to bytecode, so a build in place must be allowed to cache it, too.
    environment = {k: v for k, v in os.environ.items() if k != 'PYTHONDONTWRITEBYTECODE'}
    for _ in range(runs):
        command = [sys.executable, '-c', CODE.format(module=module)]
        out = subprocess.run(command, check=True, capture_output=True, env=environment)
        times.append(float(out.stdout))
    return min(times) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--module', choices=KEYS, default='chainerx')
    parser.add_argument('--runs', type=int, default=20)
    parser.add_argument('--json', type=pathlib.Path)
    args = parser.parse_args()
    ceiling = tomllib.loads(BUDGETS.read_text())['limits'][KEYS[args.module]]
    ms = measure(args.module, args.runs)
    print(f'import {args.module}, on top of numpy: {ms:.1f} ms (at most {ceiling})')
    if args.json:
        args.json.write_text(json.dumps({'value': ms, 'ceiling': ceiling}))
    return ms > ceiling


if __name__ == '__main__':
    sys.exit(main())
