"""Checks that the modules of python/ import one way only: no circle among them.

An edge goes from a module to each one that it names in an import, at its top or inside a function,
and to the packages above that one where they are named (``import chainer`` counts, ``from
chainer.utils import x`` is an edge to ``chainer.utils`` or ``chainer.utils.x``). Imports for type
checkers only don't count. A package is its ``__init__.py``.

Run it as ``python tools/check_imports.py [folder of the sources]``. Exit status 1 and the modules
of each circle if there is any.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator
from pathlib import Path


def find_modules(root: Path) -> dict[str, Path]:
    """The modules below ``root`` by their dotted names; compiled ones have stubs only."""
    modules = {}
    for path in sorted(
        [*root.rglob('*.pyi'), *root.rglob('*.py')], key=lambda p: p.suffix != '.pyi'
    ):
        parts = path.relative_to(root).with_suffix('').parts
        modules['.'.join(parts[:-1] if parts[-1] == '__init__' else parts)] = path
    return modules


def is_for_types(node: ast.AST) -> bool:
    """Whether ``node`` is ``if TYPE_CHECKING:``."""
    if not isinstance(node, ast.If):
        return False
    test = node.test
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, 'id', None)
    return name == 'TYPE_CHECKING'


def find_imports(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yields all imports but those for types."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif is_for_types(node):
            for other in node.orelse:  # type: ignore[attr-defined]
                yield from find_imports(ast.Module([other], []))
        else:
            yield from find_imports(node)


def imported_by(name: str, path: Path, modules: dict[str, Path]) -> dict[str, int]:
    """The modules that module ``name`` imports, each with the line of an import."""
    found: dict[str, int] = {}
    package = name if path.name == '__init__.py' else name.rpartition('.')[0]
    for node in find_imports(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        else:
            base = node.module or ''
            if node.level:
                above = package.split('.')[: len(package.split('.')) - node.level + 1]
                base = '.'.join([*above, *filter(None, [base])])
            # A name is a submodule, or an attribute of the module before it.
            inner = [f'{base}.{alias.name}' for alias in node.names]
            targets = [full if full in modules else base for full in inner]
        for target in targets:
            if target in modules and target != name:
                found.setdefault(target, node.lineno)
    return found


def find_circles(graph: dict[str, dict[str, int]]) -> list[list[str]]:
    """The strongly connected components of more than one module, by Tarjan's algorithm."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    circles = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for target in graph[module]:
            if target not in index:
                visit(target)
                low[module] = min(low[module], low[target])
            elif target in stack:
                low[module] = min(low[module], index[target])
        if low[module] == index[module]:
            at = stack.index(module)
            component = stack[at:]
            del stack[at:]
            if len(component) > 1:
                circles.append(sorted(component))

    sys.setrecursionlimit(10_000)
    for module in graph:
        if module not in index:
            visit(module)
    return circles


def main() -> int:
    """Prints each circle; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    default = Path(__file__).parents[1] / 'python'
    parser.add_argument('sources', nargs='?', type=Path, default=default)
    root = parser.parse_args().sources
    modules = find_modules(root)
    graph = {
        name: imported_by(name, path, modules) if path.suffix == '.py' else {}
        for name, path in modules.items()
    }
    circles = find_circles(graph)
    for circle in circles:
        print(f'a circle of {len(circle)} modules:')
        for module in circle:
            for target, line in graph[module].items():
                if target in circle:
                    print(f'    {modules[module]}:{line}: {module} imports {target}')
    return 1 if circles else 0


if __name__ == '__main__':
    sys.exit(main())
