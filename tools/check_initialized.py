"""Checks that no variable in C++ starts with members that have no value.

    struct Layer {
        int64_t steps;
        bool is_backward;
    };
    Layer layer;    // a fault: `Layer layer{};`, or initializers in the struct

A member that is never set has any bits, and to copy it is undefined, which compilers don't notice.
Arrays are buffers, which are filled before they are read, so they may start without values; static
and thread-local variables are zero. The check reads structs by a small grammar, without templates
and macros, and knows those that the file or its includes define.

Run it as ``python tools/check_initialized.py [folder of the sources]``.
"""

import argparse
import dataclasses
import re
import sys
from pathlib import Path

COMMENTS = re.compile(
    r"//[^\n]*|/\*.*?\*/|R\"(\w*)\(.*?\)\1\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", re.S
)
DIRECTIVES = re.compile(r'^[ \t]*#(?:\\\n|[^\n])*', re.M)
INCLUDES = re.compile(r'^#include "chainerx/(.*)"', re.M)
ALIGNMENT = re.compile(r'\balignas\([^)]*\)+')
TYPE = re.compile(
    r'\b(?:struct|class)\s+(?:CX_\w+\s+)*(?:\w+::)*(\w+)(?:\s+final)?\s*(?::[^:].*)?$', re.S
)
OTHER_SCOPE = re.compile(r'\b(?:namespace|enum|union)\b|extern ""\s*$')
LABEL = re.compile(r'^\s*(?:(?:public|protected|private)\s*:\s*)+')
DECLARATION = re.compile(r'^((?:\w+::)*\w+(?:\s*\*+)?)\s*\b(\w+(?:\s*,\s*\w+)*)$')
ENUM = re.compile(r'\benum\s+(?:class\s+)?(\w+)')
ALIAS = re.compile(r'\busing\s+(\w+)\s*=')
FUNCTION_POINTER = re.compile(r'\busing\s+(\w+)\s*=[^;]*\(\*\)')
BUILTIN = re.compile(
    r'^(?:std::)?(?:bool|char|signed|unsigned|short|int|long|float|double|size_t|ptrdiff_t|'
    r'u?int(?:8|16|32|64|ptr)_t|Py_ssize_t)$'
)
STORAGE = ('static', 'thread_local', 'constexpr', 'constinit', 'extern', 'using', 'typedef')
STATEMENTS = ('return', 'delete', 'throw', 'goto', 'case', 'friend', 'else', 'co_return')


@dataclasses.dataclass
class Struct:
    name: str
    members: list[tuple[str, str]] = dataclasses.field(default_factory=list)  # types, names
    has_constructor: bool = False


@dataclasses.dataclass
class Source:
    includes: list[str]
    structs: dict[str, list[Struct]]
    aliases: set[str]
    scalars: set[str]  # enumerations, and pointers to functions
    variables: list[tuple[int, str, str]]  # lines, types, names


def blank(match: re.Match[str]) -> str:
    """Keeps lines and quotes."""
    text = match.group()
    lines = '\n' * text.count('\n')
    return lines if text.startswith(('/', '#')) else text[0] + lines + text[-1]


def declared(statement: str) -> tuple[str, list[str]] | None:
    """The type and the names that a statement without initializers declares."""
    words = statement.split()
    if not words or words[0] in STORAGE or words[0] in STATEMENTS:
        return None
    text = ' '.join(w for w in words if w not in ('const', 'volatile', 'mutable'))
    match = DECLARATION.match(text)
    return match and (match[1].replace(' ', ''), re.split(r'\s*,\s*', match[2]))


def parse(text: str) -> Source:
    includes = INCLUDES.findall(text)
    code = DIRECTIVES.sub(blank, ALIGNMENT.sub('', COMMENTS.sub(blank, text)))
    scalars = {*ENUM.findall(code), *FUNCTION_POINTER.findall(code)}
    source = Source(includes, {}, set(ALIAS.findall(code)), scalars, [])
    scopes: list[Struct | str] = []
    start, depth = 0, 0  # of the statement; parentheses that are open
    for match in re.finditer(r'[{};()]', code):
        sign, head = match.group(), LABEL.sub('', code[start : match.start()])
        inside = scopes[-1] if scopes else 'names'
        if sign in '()':
            depth += 1 if sign == '(' else -1
            continue
        if sign == ';' and depth > 0:
            continue  # of a `for`
        if isinstance(inside, Struct) and re.match(rf'\s*(?:[\w ]+\s)?{inside.name}\s*\(', head):
            inside.has_constructor |= '= delete' not in head
        if sign == '{':
            opened = TYPE.search(head)
            if opened and '(' not in head and '=' not in head:
                struct = Struct(opened[1])
                scopes.append(struct)
                source.structs.setdefault(struct.name, []).append(struct)
            else:
                is_other = OTHER_SCOPE.search(head) and '(' not in head
                scopes.append('names' if is_other else f'code{depth}')
                depth = 0
        elif sign == '}':
            if scopes and isinstance(closed := scopes.pop(), str) and closed.startswith('code'):
                depth = int(closed.removeprefix('code'))
        elif found := declared(head):
            if isinstance(inside, Struct):
                inside.members += [(found[0], name) for name in found[1]]
            elif inside.startswith('code'):
                line = code.count('\n', 0, match.start()) + 1
                source.variables += [(line, found[0], name) for name in found[1]]
        start = match.end()
    return source


def check(folder: Path) -> list[str]:
    """Returns one message per variable that starts without the values of some members."""
    paths = sorted(p for p in folder.rglob('*.[ch]*') if 'device' not in p.parts)
    sources = {str(p.relative_to(folder)): parse(p.read_text()) for p in paths}

    def reached(name: str) -> list[Source]:
        """The file itself first, then what it includes."""
        names, i = [name], 0
        while i < len(names):
            names += [n for n in sources[names[i]].includes if n in sources and n not in names]
            i += 1
        return [sources[n] for n in names]

    def unset(kind: str, near: list[Source]) -> str | None:
        """The first member without a value, such as ``place.index``."""
        name = kind.rpartition('::')[2]
        for source in near:
            if name in source.aliases:
                return None
            for struct in source.structs.get(name, ()):
                if struct.has_constructor:
                    return None
                for member_type, member in struct.members:
                    if is_scalar(member_type, near):
                        return member
                    inner = None if member_type == kind else unset(member_type, near)
                    if inner is not None:
                        return f'{member}.{inner}'
                return None
        return None

    def is_scalar(kind: str, near: list[Source]) -> bool:
        if kind.endswith('*') or BUILTIN.match(kind):
            return True
        return any(kind.rpartition('::')[2] in source.scalars for source in near)

    messages = []
    for name, source in sources.items():
        near = reached(name)
        for line, kind, variable in source.variables:
            if member := unset(kind, near):
                messages.append(
                    f'{folder / name}:{line}: {kind} {variable} starts without a value of '
                    f'{member}; write {variable}{{}}'
                )
    return messages


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = Path(__file__).resolve().parents[1] / 'cpp' / 'chainerx'
    parser.add_argument('sources', type=Path, nargs='?', default=default)
    messages = check(parser.parse_args().sources)
    for message in messages:
        print(message, file=sys.stderr)
    return 1 if messages else 0


if __name__ == '__main__':
    sys.exit(main())
