"""``python -m chainerx.cuda``: checks what there is of CUDA, in a few minutes.

``check`` computes on the GPU and on the CPU, compares the bits, and measures how long work takes,
beside PyTorch where that is installed.
``record`` runs a program and keeps the list of the kernels that it compiled; ``compile`` compiles
those of such lists into the cache on disk ($CHAINERX_CACHE_DIR), for any GPU, on machines with or
without one.
"""

from __future__ import annotations

import argparse
import json
import sys

from chainerx.cuda import _check, _prepare


def main() -> None:
    parser = argparse.ArgumentParser(prog='python -m chainerx.cuda', description=__doc__)
    commands = parser.add_subparsers(dest='command', required=True)
    check = commands.add_parser('check', help='test the first GPU')
    check.add_argument('--json', metavar='FILE', help='write the results there, too')
    check.add_argument('--device', default='cuda:0', help='the device (default: cuda:0)')
    check.add_argument('--quick', action='store_true', help='small arrays only, no measurements')
    check.add_argument(
        '--only', nargs='+', metavar='NAME', help="what is run; patterns such as 'step*', too"
    )
    check.add_argument(
        '--in-process', action='store_true', help='in this process, which what fails may end'
    )
    check.add_argument(
        '--limit',
        type=float,
        default=120.0,
        metavar='SECONDS',
        help='after which a part of it is given up (default: 120)',
    )
    record = commands.add_parser('record', help='run a program, and list its kernels')
    record.add_argument('--output', metavar='FILE', default='kernels.json', help='the list')
    record.add_argument('-m', dest='module', action='store_true', help='the program is a module')
    record.add_argument('program', help='the program, a file of Python')
    record.add_argument('arguments', nargs=argparse.REMAINDER, help='what it is given')
    fill = commands.add_parser('compile', help='compile the kernels of lists')
    fill.add_argument('lists', nargs='+', metavar='FILE', help='what record wrote')
    fill.add_argument(
        '--arch',
        nargs='+',
        metavar='N.M',
        help='compute capabilities, such as 8.0 9.0 (default: those of the GPUs that are here)',
    )
    arguments = parser.parse_args()
    if arguments.command == 'record':
        _prepare.record(
            arguments.program, arguments.arguments, arguments.output, is_module=arguments.module
        )
        return
    if arguments.command == 'compile':
        _prepare.compile_lists(arguments.lists, arguments.arch)
        return
    report = _check.run(
        arguments.device,
        quick=arguments.quick,
        only=arguments.only,
        limit=arguments.limit,
        isolated=not (arguments.in_process or _prepare.is_recording),
    )
    if arguments.json:
        with open(arguments.json, 'w') as file:
            json.dump(report, file, indent=1)
    sys.exit(1 if report['failed'] else 0)


if __name__ == '__main__':
    main()
