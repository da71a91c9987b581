"""``chainer doctor``: runs some iterations of a training, and says what is wrong with it."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import runpy
import sys
import traceback
import typing as tp

if tp.TYPE_CHECKING:
    from chainer._diagnostics.doctor.doctor import Doctor

TEXT = 'Runs the first iterations of a training script, and says what is wrong with it.'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--iterations', type=int, default=20, help='how many; default: 20')
    parser.add_argument('--json', action='store_true', help='print what was found as JSON')
    parser.add_argument('script', help='the program, which is run as by python')
    parser.add_argument('arguments', nargs=argparse.REMAINDER, help='those of the program')


def run(args: argparse.Namespace) -> int:
    from chainer._diagnostics.doctor.doctor import Doctor
    from chainer._diagnostics.doctor.finding import OutOfIterations

    if not os.path.isfile(args.script):
        raise ValueError(f'doctor: {args.script!r} is no file')
    doctor = Doctor(args.iterations, stop=True)
    failure = None
    # What the program prints is not part of the JSON.
    output = contextlib.redirect_stdout(sys.stderr) if args.json else contextlib.nullcontext()
    with output:
        try:
            with doctor, _as_program(args.script, args.arguments):
                runpy.run_path(args.script, run_name='__main__')
        except OutOfIterations:
            pass
        except SystemExit as error:
            if error.code not in (None, 0):
                failure = f'the program ended with {error.code!r}'
        except Exception as error:
            if not doctor.has_explained(error):
                traceback.print_exc()
                failure = f'the program raised {type(error).__name__}: {error}'
    _report(doctor, failure, args)
    return 1 if doctor.findings or failure else 0


@contextlib.contextmanager
def _as_program(script: str, arguments: list[str]) -> tp.Iterator[None]:
    old = sys.argv, sys.path[:]
    sys.argv = [script, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    try:
        yield
    finally:
        sys.argv, sys.path[:] = old


def _report(doctor: Doctor, failure: str | None, args: argparse.Namespace) -> None:
    if args.json:
        found = [vars(one) for one in doctor.findings]
        result = {
            'iterations': doctor.iterations,
            'findings': found,
            'hints': [vars(one) for one in doctor.hints],
            'failure': failure,
        }
        print(json.dumps(result, indent=2))
        return
    print(f'\nchainer doctor, {args.script}, {doctor}')
    if failure is not None:
        print(failure)
