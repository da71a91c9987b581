"""Counts the machine instructions of a few hot paths, with valgrind.

Unlike times, the counts do not depend on what else the machine does, so they can guard against
slow growth. The ceilings stand in budgets.toml, under [instructions]; tests/project checks them.
They hold for the instructions outside of Python itself, whose own change with its version, and for
one instruction set, since the kernels of another have other counts.

One process runs all paths under callgrind, which writes a profile whenever getppid() is called:
that call stands before and after each loop.

    python benchmarks/instructions.py            # needs valgrind; half a minute
"""

import argparse
import json
import math
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
N_LONG = 50  # repetitions of slow paths
ISA = 'avx2'
HEADROOM = 1.05

PREPARE = """
a = chainerx.array([[1, 2, 3], [4, 5, 6]], dtype='float32')
b = a * 2
g = chainerx.array([[1, 2, 3], [4, 5, 6]], dtype='float32').require_grad()
s = chainerx.array([[1, 2], [3, 4]], dtype='float32')
v = chainer.Variable(a)
net = chainer.Sequential(*(
    layer for n in (16, 16, 10) for layer in (chainer.links.Linear(16, n), chainer.functions.relu)
))
data = np.ones((1, 16), 'float32')
label = np.zeros(1, 'int32')
loss = chainer.functions.softmax_cross_entropy
sgd = chainer.optimizers.SGD().setup(net)
adam = chainer.optimizers.Adam().setup(net.copy('copy'))
lstm = chainer.links.LSTM(16, 16)
gru = chainer.links.StatefulGRU(16, 16)
sequences = chainer.links.NStepLSTM(1, 16, 16, 0.0)
quiet = chainer.no_backprop_mode
lstm(data), gru(data)
many = chainer.Link()
with many.init_scope():
    for i in range(400):
        setattr(many, f'p{i}', chainer.Parameter(np.ones(4, 'float32')))
grads = [(p, chainer.Variable(np.ones(4, 'float32'))) for p in many.params()]
many_sgd = chainer.optimizers.SGD().setup(many)
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
    'Variable: y.T': 'v.T',
    'Variable: y.reshape': 'v.reshape(3, 2)',
    'Variable: y.sum()': 'v.sum()',
    'Variable: y[0]': 'v[0]',
    'Variable: F.dropout': 'chainer.functions.dropout(v)',
    'no_backprop_mode': 'with quiet(): pass',
    'L.Linear, no graph': 'with quiet(): net[0](data)',
    'L.LSTM, no graph': 'with quiet(): lstm(data)',
    'L.StatefulGRU, no graph': 'with quiet(): gru(data)',
    'L.NStepLSTM of one step, no graph': 'with quiet(): sequences(None, None, [data])',
    'L.StatefulGRU, two steps with a graph': 'gru.reset_state(); gru(data); gru(data)',
    'Chain 16-16-16-10, step with SGD': (
        'y = loss(net(data), label); net.cleargrads(); y.backward(); sgd.update()'
    ),
    'Chain 16-16-16-10, step with Adam': (
        'y = loss(adam.target(data), label); adam.target.cleargrads(); y.backward(); adam.update()'
    ),
    # Gradients are set in Python, since instructions of its interpreter are not counted.
    'gradients, update, cleargrads of 400 parameters': (
        'for p, x in grads: p.grad_var = x\n        many_sgd.update(); many.cleargrads()'
    ),
}


def runs_of(name):
    return N_LONG if name.startswith(('Chain', 'gradients')) else N


def child():
    """Runs the loops; this is the program that valgrind watches."""
    import chainer
    import chainerx
    import numpy as np

    chainerx.set_num_threads(1)
    namespace = {'chainerx': chainerx, 'chainer': chainer, 'np': np}
    exec(PREPARE, namespace)
    names = ', '.join(n for n in namespace if not n.startswith('__'))
    for name, statement in PATHS.items():
        source = f'def loop(n, {names}):\n    for _ in range(n):\n        {statement}\n'
        exec(source, namespace)
        arguments = [namespace[n] for n in names.split(', ')]
        namespace['loop'](20, *arguments)  # fills caches and pools, specializes the bytecode
        os.getppid()
        namespace['loop'](runs_of(name), *arguments)
        os.getppid()


def cost_by_object(profile):
    """Sums up the costs of a callgrind profile, by the path of the program or library."""
    names, costs = {}, {}
    current, called = None, False
    for line in profile.splitlines():
        key, _, value = line.partition('=')
        if key in ('ob', 'cob'):
            number, _, name = value.partition(' ')
            if name:
                names[number] = name
            if key == 'ob':
                current = number
        elif key == 'calls':
            called = True  # the next cost is the callee's, which has lines of its own
        elif cost := re.match(r'[-+*\d]+ (\d+)$', line):
            if not called:
                costs[current] = costs.get(current, 0) + int(cost[1])
            called = False
    return {names[number]: cost for number, cost in costs.items()}


def measure():
    """Counts the instructions per run of each path.

    Returns:
        dict: Name -> (those outside of Python itself, all of them).
    """
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [
                'valgrind', '--tool=callgrind', '--dump-before=getppid',
                f'--callgrind-out-file={folder}/out', sys.executable, __file__, '--child',
            ],
            check=True,
            stderr=subprocess.DEVNULL,
            # Even an idle worker of NumPy's OpenBLAS would be counted.
            env=os.environ
            | {'PYTHONHASHSEED': '0', 'CHAINERX_ISA': ISA, 'OPENBLAS_NUM_THREADS': '1'},
        )  # fmt: skip
        files = sorted(
            pathlib.Path(folder).glob('out.*'), key=lambda p: int(p.name.rsplit('.', 1)[1])
        )
        profiles = [
            text
            for text in (f.read_text() for f in files)
            if 'getppid' in text.split('desc: Trigger:', 1)[1].split('\n', 1)[0]
        ][1::2]  # discards the counts between two loops
    if len(profiles) != len(PATHS):
        sys.exit(f'expected {len(PATHS)} profiles from valgrind, found {len(profiles)}')
    counts = {}
    for name, profile in zip(PATHS, profiles, strict=True):
        costs = cost_by_object(profile)
        python_costs = [
            cost
            for path, cost in costs.items()
            if pathlib.Path(path).name.startswith(('python', 'libpython'))
        ]
        total = sum(costs.values())
        counts[name] = (total - sum(python_costs), total)
    empty = counts.pop('empty loop')
    return {
        name: tuple(round(c / runs_of(name) - e / N) for c, e in zip(count, empty, strict=True))
        for name, count in counts.items()
    }


def ceilings():
    return tomllib.loads(BUDGETS.read_text())['instructions']


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--child', action='store_true', help=argparse.SUPPRESS)
    parser.add_argument('--json', type=pathlib.Path, help='also write the results to this file')
    parser.add_argument('--propose', action='store_true', help='print a table for budgets.toml')
    args = parser.parse_args()
    if args.child:
        return child()
    if shutil.which('valgrind') is None:
        sys.exit('instructions.py needs valgrind, which is not installed.')
    counts = measure()
    missed = False
    for name, (count, total) in counts.items():
        ceiling = ceilings()[name]
        missed |= count > ceiling
        verdict = 'MISSED' if count > ceiling else ''
        print(f'{name:<40} {count:6} at most {ceiling:6}, with Python {total:6} {verdict}')
    if args.propose:
        print('[instructions]')
        for name, (count, _) in counts.items():
            print(f'"{name}" = {math.ceil(count * HEADROOM)}')
    if args.json:
        args.json.write_text(json.dumps(counts))
    return missed


if __name__ == '__main__':
    sys.exit(main())
