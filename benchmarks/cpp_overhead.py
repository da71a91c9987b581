"""The overhead of the bindings: the same `a + b` from C++ and from Python.

Builds benchmarks/cpp with CMake on the installed package, so it needs CMake and a C++20 compiler.
From a source tree, install the C++ library first and name its prefix:

    cmake --install build --prefix /tmp/prefix
    python benchmarks/cpp_overhead.py --prefix /tmp/prefix
"""

import argparse
import dataclasses
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import timeit

from harness import Result, ceiling_of, float32, seconds, set_threads

SOURCE = pathlib.Path(__file__).parent / 'cpp'


def build(prefix, folder):
    if prefix is None:
        command = [sys.executable, '-m', 'chainerx', '--cmake-dir']
        prefix = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    configure = ['cmake', '-S', SOURCE, '-B', folder, f'-DCMAKE_PREFIX_PATH={prefix}']
    for command in [configure, ['cmake', '--build', folder]]:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f'{" ".join(map(str, command))} failed:\n{done.stdout}{done.stderr}')
    return pathlib.Path(folder) / 'add_graph'


def python_best(a, b):
    timer = timeit.Timer('a + b', 'a = _a; b = _b', globals={'_a': a, '_b': b})
    return min(timer.timeit(5000) / 5000 for _ in range(200))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--prefix', help='where the C++ library is installed')
    parser.add_argument('--json', type=pathlib.Path)
    args = parser.parse_args()
    set_threads(1)
    plain = float32(2, 3)[0], float32(2, 3)[0]
    graph = [x.copy().require_grad() for x in plain]
    times = {('C++', 0): [], ('C++', 1): [], ('Python', 0): [], ('Python', 1): []}
    with tempfile.TemporaryDirectory() as folder:
        program = build(args.prefix, folder)
        for _ in range(5):  # interleaved, since the machine may be slow temporarily
            out = subprocess.run([program], check=True, capture_output=True, text=True).stdout
            for i, t in enumerate(out.split()):
                times['C++', i].append(float(t) * 1e-9)
            times['Python', 0].append(python_best(*plain))
            times['Python', 1].append(python_best(*graph))
    results = []
    for i, name in enumerate(['C++ a + b, no graph', 'C++ a + b, graph']):
        series = {'chainerx': times['C++', i], 'Python': times['Python', i]}
        result = Result(
            section='overhead',
            name=name,
            threads=1,
            against='Python',
            ceiling=ceiling_of('cpp_overhead', name),
            best={peer: min(t) for peer, t in series.items()},
            median={peer: statistics.median(t) for peer, t in series.items()},
            note=f'the bindings add {seconds(min(series["Python"]) - min(series["chainerx"]))}',
        )
        results.append(result)
        figures = ', '.join(f'{p} {seconds(t)}' for p, t in result.best.items())
        verdict = 'ok' if result.ok else 'MISSED'
        print(f'{name}: ratio {result.ratio:.3f}, at most {result.ceiling}, {verdict} ({figures})')
    if args.json:
        args.json.write_text(json.dumps([dataclasses.asdict(r) for r in results]))


if __name__ == '__main__':
    main()
