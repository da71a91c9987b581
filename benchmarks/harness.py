"""Times the same work in several libraries, in one process and in turn, and prints ratios.

Machines are noisy, so every figure is the best of many short rounds, and the peers take turns
within a round: a slow moment hits all of them. The median is printed beside it, as a check.

A benchmark is a file with a function ``rows(bench)`` that calls ``bench.row(...)``; ``main(rows)``
gives it a command line. The ceiling of a row stands in budgets.toml under the name of the row.
"""

import argparse
import contextlib
import dataclasses
import fnmatch
import gc
import json
import pathlib
import statistics
import time
import timeit
import tomllib

import chainerx
import numpy as np

try:
    import torch
except ImportError:  # comparisons with NumPy alone run without PyTorch
    torch = None

OURS = 'chainerx'
BUDGETS = pathlib.Path(__file__).with_name('budgets.toml')


@dataclasses.dataclass
class Result:
    """Seconds per run of one row, by peer; ``against`` is the peer that the ceiling refers to."""

    section: str
    name: str
    threads: int
    against: str
    ceiling: float | None
    best: dict[str, float]
    median: dict[str, float]
    note: str = ''

    @property
    def ratio(self):
        return self.best[OURS] / self.best[self.against]

    @property
    def median_ratio(self):
        return self.median[OURS] / self.median[self.against]

    @property
    def ok(self):
        return self.ceiling is None or self.ratio <= self.ceiling


def seconds(t):
    """Formats a time: 3 digits and a unit."""
    units = [('s', 1), ('ms', 1e-3), ('µs', 1e-6), ('ns', 1e-9)]
    unit, size = next(((u, s) for u, s in units if t >= s), units[-1])
    return f'{t / size:.3g} {unit}'


def ceiling_of(section, name):
    """The ceiling of a row: its own entry in budgets.toml, or the entry of its section's '*'."""
    with open(BUDGETS, 'rb') as f:
        budgets = tomllib.load(f)
    section = budgets.get(section, {})
    return section.get(name, section.get('*'))


def set_threads(n):
    if torch is not None:
        torch.set_num_threads(n)
    chainerx.set_num_threads(n)


class Bench:
    def __init__(self, section, threads=1, rounds=30, round_seconds=0.002, only='*'):
        self.section = section
        self.threads = threads
        self.rounds = rounds
        self.round_seconds = round_seconds
        self.only = only
        self.results = []
        set_threads(threads)

    def wants(self, name):
        """Whether a row of this name is selected; if not, its costly preparation can be skipped."""
        return fnmatch.fnmatch(name, self.only)

    def row(self, name, statements, variables, against='torch', scope=None, per=1, note=''):
        """Times one row.

        Args:
            name: Name of the row, also its key in budgets.toml.
            statements: Peer -> Python statement.
            variables: Peer -> {name: value}; the statement sees them as local variables.
            scope: Peer -> function that returns a context manager to run the statement in.
            per: Number of operations in a statement; times are divided by it.
        """
        if not self.wants(name):
            return None
        scope = scope or {}
        timers, counts = {}, {}
        for peer, statement in statements.items():
            # Locals, not globals: the comparison must not include the look-up of names.
            setup = ';'.join(f'{v} = _variables[{v!r}]' for v in variables[peer]) or 'pass'
            timers[peer] = timeit.Timer(statement, setup, globals={'_variables': variables[peer]})
        times = {peer: [] for peer in timers}
        peers = list(timers)
        gc.collect()
        for r in range(-1, self.rounds):
            for i in range(len(peers)):
                peer = peers[(i + r) % len(peers)]
                with scope.get(peer, contextlib.nullcontext)():
                    if r < 0:  # warm up, and choose the number of runs per round
                        counts[peer] = self._runs_per_round(timers[peer])
                    elif self.threads > 1:
                        # Worker threads of the previous peer may still spin on cores.
                        time.sleep(0.005)
                        timers[peer].timeit(1)
                    if r >= 0:
                        times[peer].append(timers[peer].timeit(counts[peer]) / counts[peer] / per)
        result = Result(
            section=self.section,
            name=name,
            threads=self.threads,
            against=against,
            ceiling=ceiling_of(self.section, name),
            best={peer: min(t) for peer, t in times.items()},
            median={peer: statistics.median(t) for peer, t in times.items()},
            note=note,
        )
        self.add(result)
        return result

    def _runs_per_round(self, timer):
        timer.timeit(1)
        n = 1
        while (t := timer.timeit(n)) < self.round_seconds / 4:
            n *= 4
        return max(1, round(n * self.round_seconds / t))

    def add(self, result):
        self.results.append(result)
        figures = '  '.join(f'{p} {seconds(t):>8}' for p, t in result.best.items())
        ceiling = '' if result.ceiling is None else f'at most {result.ceiling:g}'
        verdict = '' if result.ceiling is None else 'ok' if result.ok else 'MISSED'
        print(
            f'{result.name:<34} {result.ratio:6.3f} (median {result.median_ratio:6.3f}) '
            f'{ceiling:<14} {verdict:<7} {figures}',
            flush=True,
        )


def forward_and_step(bench, name, make):
    """Rows of forward without a graph, and of forward with backward.

    `make()` is called if a row is selected, and returns `ours`, `theirs`, `our_step`, `their_step`,
    and `check`, which compares them and then enables gradients.
    """
    if not any(bench.wants(n) for n in (name, f'{name}, forward')):
        return
    peers = make()
    variables = {p: {'peers': peers} for p in ('chainerx', 'torch')}
    bench.row(
        f'{name}, forward',
        {'chainerx': 'peers.ours()', 'torch': 'peers.theirs()'},
        variables,
        scope={'chainerx': chainerx.no_backprop_mode, 'torch': torch.no_grad},
    )
    peers.check()
    bench.row(name, {'chainerx': 'peers.our_step()', 'torch': 'peers.their_step()'}, variables)


def main(rows, section, threads=(1,), rounds=30, round_seconds=0.002):
    """Command line of one benchmark file."""
    parser = argparse.ArgumentParser(description=rows.__doc__)
    parser.add_argument('--threads', type=int, action='append', help=f'default: {threads}')
    parser.add_argument('--rounds', type=int, default=rounds)
    parser.add_argument('--only', default='*', help='names of rows, with wildcards')
    parser.add_argument('--json', type=pathlib.Path, help='also write the results to this file')
    args = parser.parse_args()
    results = []
    for n in args.threads or threads:
        print(f'# {section}, threads: {n} (ratio of best times, chainerx / peer)')
        bench = Bench(section, n, args.rounds, round_seconds, args.only)
        rows(bench)
        results += bench.results
    if args.json:
        args.json.write_text(json.dumps([dataclasses.asdict(r) for r in results]))


def float32(*shape, seed=0):
    """The same random numbers for every library: (chainerx, torch, numpy)."""
    a = np.random.default_rng(seed).uniform(0.5, 1.5, shape).astype(np.float32)
    return chainerx.array(a), torch and torch.tensor(a), a.copy()
