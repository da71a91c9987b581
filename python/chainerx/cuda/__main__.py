"""``python -m chainerx.cuda``: checks what there is of CUDA, in a few minutes.

``check`` computes on the GPU and on the CPU, compares the bits, and measures memory and the host.
"""

from __future__ import annotations

import argparse
import json
import sys

from chainerx.cuda import _check


def main() -> None:
    parser = argparse.ArgumentParser(prog='python -m chainerx.cuda', description=__doc__)
    commands = parser.add_subparsers(dest='command', required=True)
    check = commands.add_parser('check', help='test the first GPU')
    check.add_argument('--json', metavar='FILE', help='write the results there, too')
    check.add_argument('--device', default='cuda:0', help='the device (default: cuda:0)')
    check.add_argument('--quick', action='store_true', help='small arrays only, no measurements')
    arguments = parser.parse_args()
    report = _check.run(arguments.device, quick=arguments.quick)
    if arguments.json:
        with open(arguments.json, 'w') as file:
            json.dump(report, file, indent=1)
    sys.exit(1 if report['failed'] else 0)


if __name__ == '__main__':
    main()
