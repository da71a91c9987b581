"""``chainer report``: a page of HTML about a training that has ended."""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import sys
import typing as tp

if tp.TYPE_CHECKING:
    from chainer._typing import Row

TEXT = 'Makes a page of HTML, with curves and tables, from the log of a training.'

_GENERATOR: tp.Final = 'chainer report'
_LOGS: tp.Final = ('log', 'log.jsonl', 'log.csv')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('folder', help='what the training wrote: out= of its Trainer')
    parser.add_argument(
        '--log', help=f'name of the log in that folder; default: one of {", ".join(_LOGS)}'
    )
    parser.add_argument('--output', help='the page; default: report.html in that folder')
    parser.add_argument('--title', help='its headline; default: the name of the folder')
    parser.add_argument(
        '--force', action='store_true', help='replace a page that the training itself wrote'
    )


def run(args: argparse.Namespace) -> int:
    from chainer.training._report import facts, page
    from chainer.training.extensions._files import write_text

    log = read_log(_find_log(args.folder, args.log))
    output = args.output or os.path.join(args.folder, 'report.html')
    if not args.force and os.path.exists(output) and not _is_ours(output):
        raise ValueError(
            f'report: {output!r} was not written by this command, and may tell more; --output '
            'names another file, --force replaces it'
        )
    parameters, note = _parameters(args.folder)
    report = facts.Run(
        title=args.title or os.path.basename(os.path.abspath(args.folder)),
        log=log,
        status='',
        parameters=parameters,
        parameters_note=note,
        files=facts.files_in(args.folder, but=os.path.basename(output)),
    )
    write_text(output, page.make(report, _GENERATOR))
    print(output)
    return 0


def _find_log(folder: str, name: str | None) -> str:
    if not os.path.isdir(folder):
        raise ValueError(f'report: {folder!r} is no folder')
    for candidate in (name,) if name else _LOGS:
        path = os.path.join(folder, candidate)
        if os.path.isfile(path):
            return path
    raise ValueError(f'report: there is no log in {folder!r}: {name or ", ".join(_LOGS)}')


def read_log(path: str) -> list[Row]:
    """The entries of a log: of a `LogReport`, a `JSONLinesReport` or a `CSVReport`.

    The last line of the latter two may be half of one, where a training was killed.
    """
    with open(path, encoding='utf-8', newline='') as stream:
        if path.endswith('.csv'):
            rows = csv.DictReader(stream)
            log = [
                {k: _value(v) for k, v in row.items() if k and v not in ('', None)} for row in rows
            ]
        elif path.endswith('.jsonl'):
            log = [entry for line in stream if (entry := _entry(line)) is not None]
        else:
            try:
                log = json.load(stream)
            except ValueError as error:
                raise ValueError(f'report: {path!r} is no log: {error}') from error
    if not isinstance(log, list) or not all(isinstance(entry, dict) for entry in log):
        raise ValueError(f'report: {path!r} is no log: not a list of entries')
    return log


def _value(text: str) -> tp.Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _entry(line: str) -> tp.Any:
    try:
        return json.loads(line)
    except ValueError:
        if line.endswith('\n'):
            raise
        return None


def _parameters(folder: str) -> tuple[list[tp.Any], str]:
    """Those of the newest snapshot, and what the page says about them."""
    from chainer.training._report import facts

    found = [m for name in os.listdir(folder) if (m := re.fullmatch(r'snapshot_iter_(\d+)', name))]
    for match in sorted(found, key=lambda m: -int(m[1])):
        path = os.path.join(folder, match[0])
        try:
            parameters = facts.parameters_of_snapshot(path)
        except Exception as error:  # zipfile, zlib and NumPy have many for what is damaged
            print(f'report: {path!r} cannot be read: {error}', file=sys.stderr)
            continue  # an older one may be whole
        return parameters, f'of the snapshot {match[0]}, values that persist included'
    return [], ''


def _is_ours(path: str) -> bool:
    with open(path, 'rb') as stream:
        return f'content="{_GENERATOR}"'.encode() in stream.read(2000)
