"""Every public name of Chainer v7 exists, with its parameters and members, or is listed as pending.

A line of chainer_v7.txt is ``class Name(parameters): members``, ``def name(parameters)``, ``module
name`` or ``value name``, under its ``[module]``. Members are those that no base class has.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import operator
import pathlib
import re
import subprocess
import sys

import chainer
import chainer.functions
import chainer.links
import pytest

HERE = pathlib.Path(__file__).parent
LINE = re.compile(r'(?P<kind>\w+) (?P<name>\w+)(?:\((?P<params>.*?)\))?(?:: (?P<members>.*))?')


def inventory():
    """Yields (module, match of a line)."""
    module = ''
    for line in (HERE / 'chainer_v7.txt').read_text().splitlines():
        if line.startswith('['):
            module = line[1:-1]
        elif line:
            match = LINE.fullmatch(line)
            assert match, line
            yield module, match


def pending():
    lines = (HERE / 'pending.txt').read_text().splitlines()
    return [line.split('  # ')[0].strip() for line in lines if line and not line.startswith('#')]


def find_missing():
    """The items of the inventory that the package lacks: 'module.Name', 'module.Name.member',
    'module.Name(parameter)', and modules."""
    modules = {}
    for path in (HERE / 'chainer_v7_modules.txt').read_text().split():
        try:
            importlib.import_module(path)
        except ImportError:
            yield path
    for module, item in inventory():
        if module not in modules:
            try:
                modules[module] = importlib.import_module(module)
            except ImportError:
                modules[module] = None
        place = f'{module}.{item["name"]}'
        found = getattr(modules[module], item['name'], None) if modules[module] else None
        if found is None and not hasattr(modules[module], item['name']):
            yield place
            continue
        for member in (item['members'] or '').split():
            if not hasattr(found, member) and member not in getattr(found, '__annotations__', {}):
                yield f'{place}.{member}'
        yield from missing_parameters(place, found, item['params'])


def missing_parameters(place, found, params):
    """Compares names and order of positional parameters; v7's ** are not in the inventory."""
    wanted = [p for p in (params or '').split(', ') if p and not p.startswith('*')]
    if not wanted:
        return
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):  # C types have none
        return
    have = [n for n, p in signature.parameters.items() if p.kind != p.VAR_KEYWORD]
    kinds = [p.kind for p in signature.parameters.values()]
    if any(kind in (inspect.Parameter.VAR_POSITIONAL,) for kind in kinds):
        return  # declared by a table
    for i, name in enumerate(wanted):
        place_here = have.index(name) if name in have else None
        by_keyword = name in have and kinds[have.index(name)] == inspect.Parameter.KEYWORD_ONLY
        if place_here != i and not by_keyword:
            yield f'{place}({name})'


# Modules that `import chainer` of Chainer v7 does not import.
IMPORTED_APART = (
    'chainer.gradient_check',
    'chainer.testing',
    'chainer.link_hooks',
    'chainer.links.caffe',
)


def test_modules_are_attributes():
    """Programs use `chainer.training.util.get_trigger` after importing only chainer."""
    names = (HERE / 'chainer_v7_modules.txt').read_text().split()
    names = [n for n in names if not n.startswith(IMPORTED_APART) and not covered(n, pending())]
    code = 'import sys, operator, chainer; operator.attrgetter(*sys.argv[1:])(chainer)'
    paths = [name.partition('.')[2] for name in names if name != 'chainer']
    run = subprocess.run([sys.executable, '-c', code, *paths], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


# Private names of Chainer v7 that libraries use whose pip packages still install.
TAKEN_BY_LIBRARIES = (
    '_backend.Device',  # chainer-chemistry
    '_get_link_hooks',  # chainer-chemistry
    '_version.__version__',  # ESPnet
    'dataset.convert._concat_arrays',  # chainer-chemistry, chainer-mask-rcnn
    'dataset.convert._concat_arrays_with_padding',  # chainer-chemistry
    'initializers._get_initializer',  # ChainerCV
)


@pytest.mark.parametrize('name', TAKEN_BY_LIBRARIES)
def test_private_names_that_libraries_take(name):
    operator.attrgetter(name)(chainer)


def covered(item, patterns):
    """A pending line covers an item, or with a final * all items with that prefix."""
    return any(item == p or (p.endswith('*') and item.startswith(p[:-1])) for p in patterns)


def test_names_are_there_or_pending():
    patterns = pending()
    unexpected = [item for item in find_missing() if not covered(item, patterns)]
    assert unexpected == []


def test_pending_names_are_not_there():
    missing = list(find_missing())
    stale = [p for p in pending() if not any(covered(item, [p]) for item in missing)]
    assert stale == []


def test_generated_files_are_current():
    command = [sys.executable, HERE.parents[1] / 'tools' / 'gen_pending.py', '--check']
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def is_module(name):
    return f'\n{name}\n' in '\n' + (HERE / 'chainer_v7_modules.txt').read_text()


@pytest.mark.parametrize('name', [p.rstrip('*') for p in pending()])
def test_a_pending_name_says_so(name):
    module, _, attribute = name.rpartition('.')
    if is_module(name):
        for statement in (f'import {name}', f'from {module} import {attribute}'):
            with pytest.raises(ModuleNotFoundError, match=rf'^{module}\S*: of Chainer v7, not '):
                exec(statement)
    if module not in ('chainer', 'chainer.functions', 'chainer.links'):
        return
    text = f'{name}: of Chainer v7, not '
    with pytest.raises(AttributeError, match=f'^{text}'):
        getattr(importlib.import_module(module), attribute)
    for statement in (
        f'import {name}',
        f'import {name}.inner',
        f'from {module} import {attribute}',
    ):
        with pytest.raises(ModuleNotFoundError, match=f'^{name}'):
            exec(statement)


def test_other_names_are_ordinary_errors():
    for module in (chainer, chainer.functions, chainer.links):
        with pytest.raises(AttributeError, match=f"'{module.__name__}' has no attribute 'nothing'"):
            _ = module.nothing
        with pytest.raises(ImportError, match="cannot import name 'nothing'"):
            exec(f'from {module.__name__} import nothing')
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'chainer\.nothing'"):
        importlib.import_module('chainer.nothing')
    assert importlib.util.find_spec('chainer.nothing') is None
