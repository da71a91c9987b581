"""The command ``chainer``: one module per sub-command, listed here.

A module has ``TEXT``, a line of help; ``add_arguments(parser)``; and ``run(args)``, which returns
the exit status.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import typing as tp

COMMANDS: tp.Final = ('bench', 'data', 'doctor', 'info', 'report')


def main(argv: tp.Sequence[str] | None = None) -> int:
    """Runs a sub-command.

    Args:
        argv (list of str): Default: those of the process.

    Returns:
        int: The exit status.
    """
    parser = argparse.ArgumentParser(prog='chainer', description='Tools of Chainer.')
    subparsers = parser.add_subparsers(required=True, metavar='command')
    for name in COMMANDS:
        module = importlib.import_module(f'chainer._command.{name}')
        subparser = subparsers.add_parser(name, help=module.TEXT, description=module.TEXT)
        module.add_arguments(subparser)
        subparser.set_defaults(run=module.run)
    args = parser.parse_args(argv)
    try:
        return args.run(args)
    except (RuntimeError, ValueError, OSError, ImportError) as error:
        notes = ''.join(f'\n{note}' for note in getattr(error, '__notes__', ()))
        print(f'chainer: {error}{notes}', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
