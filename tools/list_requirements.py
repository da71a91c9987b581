#!/usr/bin/env python3
"""Lists the packages that extras of chainerx, and its build, need: without building it.

pip install $(python tools/list_requirements.py dev)
"""

import pathlib
import re
import sys
import tomllib

PYPROJECT = pathlib.Path(__file__).parents[1] / 'pyproject.toml'


def requirements_of(extras: list[str], project: dict) -> list[str]:
    """The packages of some extras; those that name chainerx stand for other extras."""
    found: list[str] = []
    for extra in extras:
        for requirement in project['optional-dependencies'][extra]:
            own = re.fullmatch(r'chainerx\[([\w,-]+)\]', requirement)
            found += requirements_of(own[1].split(','), project) if own else [requirement]
    return found


def main() -> None:
    data = tomllib.loads(PYPROJECT.read_text(encoding='utf-8'))
    project = data['project']
    names = sys.argv[1:]
    if unknown := [name for name in names if name not in project['optional-dependencies']]:
        known = ', '.join(project['optional-dependencies'])
        sys.exit(f'no extra {", ".join(unknown)}; there are: {known}')
    all_of_them = data['build-system']['requires'] + project['dependencies']
    print(*dict.fromkeys(all_of_them + requirements_of(names, project)), sep='\n')


if __name__ == '__main__':
    main()
