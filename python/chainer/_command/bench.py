"""``chainer bench``: a self-test of half a minute, with the speed of what it tests."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import typing as tp

TEXT = 'Tests that results are right, and shows how fast they come: kernels, training, overhead.'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--device', default='native:0', help='of chainerx; default: native:0')
    parser.add_argument('--threads', type=int, help='how many; default: as chainerx has them')
    parser.add_argument(
        '--seconds', type=float, default=0.5, help='how long each row is repeated; default: 0.5'
    )
    parser.add_argument('--json', action='store_true', help='print it as JSON')


def run(args: argparse.Namespace) -> int:
    import chainerx

    from chainer._command import info
    from chainer._diagnostics import self_test

    try:
        chainerx.get_device(args.device)
    except (IndexError, chainerx.BackendError) as error:
        raise ValueError(f'bench: {error}') from error
    if args.threads is not None:
        chainerx.set_num_threads(args.threads)
    facts = info.collect()
    results = []
    if not args.json:
        _print_head(args.device, facts)
    for result in self_test.run(args.device, args.seconds):
        results.append(result)
        if not args.json:
            print(_line(result), flush=True)
    wrong = [result for result in results if result.error is not None]
    if args.json:
        rows = [dataclasses.asdict(result) for result in results]
        print(json.dumps({'info': facts, 'device': args.device, 'rows': rows}, indent=2))
    for result in wrong:
        print(f'chainer bench: WRONG: {result.name}: {result.error}', file=sys.stderr)
    if not args.json and not wrong:
        print('All results are right.')
    return 1 if wrong else 0


def _print_head(device: str, facts: dict[str, tp.Any]) -> None:
    processor = facts['processor']
    print(
        f'chainerx {facts["chainerx"]} on {device}, {facts["num_threads"]} threads, '
        f'{facts["isa"]["used"]}, {processor["name"]}\n'
    )


def _line(result: tp.Any) -> str:
    if result.error is not None:
        return f'{result.name:<42} WRONG'
    rate = '' if result.rate is None else f'{result.rate:12,.1f} {result.unit}'
    return f'{result.name:<42} {_time(result.seconds):>10} {rate}'


def _time(seconds: float) -> str:
    for unit, size in (('s', 1.0), ('ms', 1e-3), ('us', 1e-6)):
        if seconds >= size:
            return f'{seconds / size:.3g} {unit}'
    return f'{seconds * 1e9:.0f} ns'
