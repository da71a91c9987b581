"""``python -m chainerx``: where the C++ part of the installed package is, and what it runs on."""

from __future__ import annotations

import argparse
import pathlib
import sys

import chainerx

FOLDER = pathlib.Path(chainerx.__file__).resolve().parent


def find(*parts: str) -> str:
    path = FOLDER.joinpath(*parts)
    if not path.exists():
        sys.exit(
            f'chainerx: {path} is not there. This package is a build in place, not an installed '
            'one; `cmake --install build --prefix FOLDER` puts the C++ part into FOLDER.'
        )
    return str(path)


def main() -> None:
    parser = argparse.ArgumentParser(prog='python -m chainerx', description=__doc__)
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument(
        '--cmake-dir', action='store_true', help='the folder of chainerxConfig.cmake, for CMake'
    )
    group.add_argument('--include-dir', action='store_true', help='the folder of the headers')
    group.add_argument('--lib-dir', action='store_true', help='the folder of libchainerx.so')
    group.add_argument('--info', action='store_true', help='what chainerx.show_config() prints')
    group.add_argument('--version', action='version', version=chainerx.__version__)
    arguments = parser.parse_args()
    if arguments.info:
        chainerx.show_config()
    elif arguments.cmake_dir:
        find('lib', 'cmake', 'chainerx', 'chainerxConfig.cmake')
        print(find('lib', 'cmake', 'chainerx'))
    elif arguments.include_dir:
        find('include', 'chainerx', 'chainerx.h')
        print(find('include'))
    else:
        print(find('lib'))


if __name__ == '__main__':
    main()
