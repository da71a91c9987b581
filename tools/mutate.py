#!/usr/bin/env python3
"""Puts small defects into a copy of the tree, one at a time, and tells which the tests don't find.

    python tools/mutate.py [--work FOLDER] [--only WORD] [--list] [-- CMAKE OPTIONS]

Each entry of tools/mutations.toml is a change of one place: a path, the text there, which occurs
once, the text instead, and the nearest tests. The copy, of what git tracks, is built once in FOLDER
(a temporary one by default; a given one is kept, and built on the next time), then for each entry
what has changed. Prints a line per entry, and exits with 1 if any survives or can't be tried.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import typing as tp

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIST = ROOT / 'tools' / 'mutations.toml'
# A test that hangs is killed after this time, too, and so its mutant counts as found.
TIME_LIMIT = 900
BUILD = 'build/dev'


class Mutation(tp.NamedTuple):
    path: str
    old: str
    new: str
    tests: list[str]

    def applied(self, root: pathlib.Path) -> str:
        """The text of the file with the defect.

        Raises:
            ValueError: If the old text is not in the file exactly once, or nothing would change.
        """
        text = (root / self.path).read_text()
        count = text.count(self.old)
        if count != 1:
            raise ValueError(f'{self.path}: {self.old!r} occurs {count} times, expected once')
        if self.old == self.new or not self.old.strip():
            raise ValueError(f'{self.path}: {self.old!r} becomes {self.new!r}')
        return text.replace(self.old, self.new)

    def __str__(self) -> str:
        old, new = (' '.join(text.split()) for text in (self.old, self.new))
        return f'{self.path}: {old} -> {new}'


def read(path: pathlib.Path = LIST) -> list[Mutation]:
    entries = tomllib.loads(path.read_text())['mutation']
    return [Mutation(e['path'], e['old'], e['new'], shlex.split(e['tests'])) for e in entries]


def copy_tree(to: pathlib.Path) -> None:
    """Brings what git tracks up to date in a folder; unchanged files keep their time."""
    names = subprocess.run(
        ['git', 'ls-files', '-z'], cwd=ROOT, check=True, capture_output=True
    ).stdout
    for name in filter(None, names.decode().split('\0')):
        source, target = ROOT / name, to / name
        if not source.exists():
            continue
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def build(root: pathlib.Path) -> bool:
    done = subprocess.run(['cmake', '--build', BUILD], cwd=root, capture_output=True, text=True)
    (root / 'build.log').write_text(done.stdout + done.stderr)
    return done.returncode == 0


def test(root: pathlib.Path, tests: list[str]) -> str:
    env = {**os.environ, 'PYTHONPATH': str(root / 'python'), 'PYTHONDONTWRITEBYTECODE': '1'}
    command = [sys.executable, '-m', 'pytest', '-x', '-q', '-p', 'no:cacheprovider', *tests]
    try:
        done = subprocess.run(
            command, cwd=root, env=env, capture_output=True, text=True, timeout=TIME_LIMIT
        )
    except subprocess.TimeoutExpired:
        return 'killed (hangs)'
    (root / 'test.log').write_text(done.stdout + done.stderr)
    if done.returncode == 0:
        return 'SURVIVES'
    if done.returncode == 1 or done.returncode < 0:
        return 'killed'
    return f'ERROR: pytest exits with {done.returncode}'


def attempt(root: pathlib.Path, mutation: Mutation, needs_build: bool) -> str:
    try:
        text = mutation.applied(root)
    except (ValueError, OSError) as error:
        return f'ERROR: {error}'
    path = root / mutation.path
    original = path.read_text()
    path.write_text(text)
    try:
        if needs_build and not build(root):
            return 'ERROR: does not compile'
        return test(root, mutation.tests)
    finally:
        path.write_text(original)


def main() -> int:
    options = [*sys.argv[1:], '--']
    mine, cmake = options[: options.index('--')], options[options.index('--') + 1 : -1]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--work', type=pathlib.Path, help='folder of the copy, which is kept')
    parser.add_argument('--only', default='', help='entries whose text has this word')
    parser.add_argument('--list', action='store_true', help='only check that each entry applies')
    args = parser.parse_args(mine)
    mutations = [m for m in read() if args.only in str(m)]
    # Python first: nothing has to be built between them.
    mutations.sort(key=lambda m: (not m.path.endswith('.py'), m.path))
    if args.list:
        for mutation in mutations:
            mutation.applied(ROOT)
            print(mutation)
        return 0
    root = (args.work or pathlib.Path(tempfile.mkdtemp(prefix='mutants-'))).resolve()
    root.mkdir(exist_ok=True)
    copy_tree(root)
    configure = ['cmake', '-S', '.', '-B', BUILD, '-G', 'Ninja', *cmake]
    subprocess.run(configure, cwd=root, check=True, stdout=subprocess.DEVNULL)
    if not build(root):
        sys.exit(f'the tree itself does not build, see {root}/build.log')
    counts: dict[str, int] = {}
    for mutation in mutations:
        start = time.monotonic()
        verdict = attempt(root, mutation, not mutation.path.endswith('.py'))
        key = verdict.split()[0].strip(':')
        counts[key] = counts.get(key, 0) + 1
        print(f'{verdict:10} {time.monotonic() - start:5.0f} s  {mutation}', flush=True)
    print(', '.join(f'{n} {key}' for key, n in sorted(counts.items())))
    if args.work is None:
        shutil.rmtree(root)
    return 0 if set(counts) == {'killed'} else 1


if __name__ == '__main__':
    sys.exit(main())
