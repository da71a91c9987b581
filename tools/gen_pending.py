"""Writes the lists of missing names of Chainer v7 in the package and the docs.

The one list is tests/conformance/pending.txt.

    python tools/gen_pending.py           writes both
    python tools/gen_pending.py --check   fails if one of them differs
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import textwrap

ROOT = pathlib.Path(__file__).parents[1]
LIST = ROOT / 'tests' / 'conformance' / 'pending.txt'
MODULE = ROOT / 'python' / 'chainer' / '_diagnostics/pending.py'
DOCUMENT = ROOT / 'docs' / 'differences.md'
START = '<!-- from here on written by tools/gen_pending.py -->\n'
END = '<!-- up to here -->\n'

HEADER = '''\
"""Names of Chainer v7 that are not here, by module and reason.

Written by tools/gen_pending.py from tests/conformance/pending.txt: do not edit.
"""

import typing as tp

PENDING: tp.Final[dict[str, dict[str, str]]] = {
'''


def read(text: str) -> dict[str, dict[str, list[str]]]:
    """The names, by module and reason. A final * matches all names with that prefix."""
    names: dict[str, dict[str, list[str]]] = {}
    for line in text.splitlines():
        if line and not line.startswith('#'):
            item, _, reason = line.partition('  # ')
            module, _, name = item.strip().rstrip('*').rpartition('.')
            names.setdefault(module, {}).setdefault(reason.strip(), []).append(name)
    return names


def to_module(names: dict[str, dict[str, list[str]]]) -> str:
    lines = [HEADER]
    for module, reasons in names.items():
        lines.append(f'    {module!r}: {{\n')
        for reason, items in reasons.items():
            texts = textwrap.wrap(' '.join(items), 80)
            line = f'        {reason!r}: {texts[0]!r},\n'
            if len(texts) == 1 and len(line) <= 100:
                lines.append(line)
                continue
            lines.append(f'        {reason!r}: (\n')
            lines += [f'            {text + " "!r}\n' for text in texts[:-1]]
            lines.append(f'            {texts[-1]!r}\n        ),\n')
        lines.append('    },\n')
    return ''.join([*lines, '}\n'])


def to_document(names: dict[str, dict[str, list[str]]], document: str) -> str:
    """The document with the list between its two marks."""
    before, _, rest = document.partition(START)
    _, _, after = rest.partition(END)
    rows = ['| module | what | |\n', '| --- | --- | --- |\n']
    for module, reasons in names.items():
        if module.startswith(('chainer.functions.', 'chainer.links.')):
            continue  # submodules of modules that are in the list
        for reason, items in reasons.items():
            rows.append(f'| `{module}` | {", ".join(f"`{name}`" for name in items)} | {reason} |\n')
    return ''.join([before, START, '\n', *rows, '\n', END, after])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--check', action='store_true', help='change nothing')
    check = parser.parse_args().check
    names = read(LIST.read_text())
    outputs = {
        MODULE: to_module(names),
        DOCUMENT: to_document(names, DOCUMENT.read_text()),
    }
    stale = [
        path for path, text in outputs.items() if not path.exists() or path.read_text() != text
    ]
    for path in stale:
        if check:
            print(f'{path.relative_to(ROOT)} is out of date: run python tools/gen_pending.py')
        else:
            path.write_text(outputs[path])
    return int(check and bool(stale))


if __name__ == '__main__':
    sys.exit(main())
