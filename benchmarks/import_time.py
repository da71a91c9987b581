"""How long `import chainerx` takes once NumPy is imported: the best of many fresh processes."""

import argparse
import json
import pathlib
import subprocess
import sys
import tomllib

CODE = """
import numpy, time
t = time.perf_counter()
import chainerx
print(time.perf_counter() - t)
"""
BUDGETS = pathlib.Path(__file__).with_name('budgets.toml')


def measure(runs=20):
    """Milliseconds; the first runs also fill the disk cache and are not special otherwise."""
    times = []
    for _ in range(runs):
        out = subprocess.run([sys.executable, '-c', CODE], check=True, capture_output=True)
        times.append(float(out.stdout))
    return min(times) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--runs', type=int, default=20)
    parser.add_argument('--json', type=pathlib.Path)
    args = parser.parse_args()
    ceiling = tomllib.loads(BUDGETS.read_text())['limits']['import_ms']
    ms = measure(args.runs)
    print(f'import chainerx, on top of numpy: {ms:.1f} ms (at most {ceiling})')
    if args.json:
        args.json.write_text(json.dumps({'value': ms, 'ceiling': ceiling}))
    return ms > ceiling


if __name__ == '__main__':
    sys.exit(main())
