"""Trains for 100,000 steps and checks that the resident memory of the process does not grow."""

import argparse
import itertools
import json
import os
import pathlib
import sys
import tomllib

import chainerx

BUDGETS = pathlib.Path(__file__).with_name('budgets.toml')


def resident_mb():
    pages = int(pathlib.Path('/proc/self/statm').read_text().split()[1])
    return pages * os.sysconf('SC_PAGE_SIZE') / 2**20


def make_step():
    chainerx.random.seed(0)
    sizes = (16, 16, 16, 10)
    params = []
    for n_in, n_out in itertools.pairwise(sizes):
        w = chainerx.random.normal(0, 0.3, (n_out, n_in)).astype('float32')
        params += [w.require_grad(), chainerx.zeros(n_out).require_grad()]
    x = chainerx.random.normal(0, 1, (4, 16)).astype('float32')
    t = chainerx.array([0, 1, 2, 3])

    def step():
        h = x
        for i in range(0, 6, 2):
            h = chainerx.linear(chainerx.relu(h) if i else h, params[i], params[i + 1])
        chainerx.softmax_cross_entropy(h, t).mean().backward()
        for param in params:
            p = param.as_grad_stopped()
            p -= 0.01 * param.grad
            param.cleargrad()

    return step


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--steps', type=int, default=100_000)
    parser.add_argument('--json', type=pathlib.Path)
    args = parser.parse_args()
    ceiling = tomllib.loads(BUDGETS.read_text())['limits']['memory_growth_mb']
    step = make_step()
    for _ in range(args.steps // 100):  # fills pools and caches
        step()
    before = resident_mb()
    for _ in range(args.steps):
        step()
    growth = resident_mb() - before
    print(
        f'{args.steps} training steps: {before:.1f} MB before, growth {growth:.2f} MB '
        f'(at most {ceiling})'
    )
    if args.json:
        args.json.write_text(json.dumps({'value': growth, 'ceiling': ceiling}))
    return growth > ceiling


if __name__ == '__main__':
    sys.exit(main())
