"""The type stubs agree with the built module."""

import ast
import importlib.util
import inspect
import pathlib
import sys
import types

import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture
def generator():
    pytest.importorskip('nanobind', reason='the stubs are generated with nanobind')
    spec = importlib.util.spec_from_file_location('gen_stubs', ROOT / 'tools' / 'gen_stubs.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_stubs_are_current(generator, monkeypatch):
    import chainerx

    # copyreg adds it to each class whose objects were to be pickled.
    monkeypatch.setattr(chainerx.Backend, '__slotnames__', [], raising=False)
    for name, text in generator.stubs().items():
        path = generator.FOLDER / name
        assert path.read_text() == text, f'{path}: run {sys.executable} tools/gen_stubs.py'


def test_stubs_name_every_member(generator):
    import chainerx

    text = (generator.FOLDER / '__init__.pyi').read_text()
    for name in vars(chainerx.ndarray):
        known_to_object = hasattr(object, name)
        # The slot of item assignment adds __delitem__, which only raises.
        if not known_to_object and not name.startswith('__array_') and name != '__delitem__':
            assert f'def {name}(' in text or f'{name}:' in text, name


def public(module):
    """The public names of a module with their values, except modules."""
    names = getattr(module, '__all__', None) or [n for n in dir(module) if not n.startswith('_')]
    for name in names:
        value = getattr(module, name)
        if not isinstance(value, types.ModuleType) and name[0] != '_' and name != 'annotations':
            yield name, value


def names_in(stub):
    """The top-level names of a stub."""
    for node in ast.parse(stub.read_text()).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.AnnAssign):
            yield node.target.id
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets)
        elif isinstance(node, ast.ImportFrom):
            yield from (name.asname for name in node.names if name.asname)


def is_typed(function):
    """Whether all parameters and the result are annotated."""
    signature = inspect.signature(function)
    parameters = [p for p in signature.parameters.values() if p.name != 'self']
    missing = [p.name for p in parameters if p.annotation is p.empty]
    return not missing and signature.return_annotation is not signature.empty


@pytest.mark.parametrize(
    'module', ['', 'fft', 'graph', 'linalg', 'random', 'special', 'func', 'testing']
)
def test_every_public_name_is_in_a_stub_or_typed(generator, module):
    import chainerx

    owner = getattr(chainerx, module) if module else chainerx
    stub = generator.FOLDER / f'{module or "__init__"}.pyi'
    known = set(names_in(stub)) if stub.exists() else set()
    for name, value in public(owner):
        if name in known or not getattr(value, '__module__', '').startswith('chainerx'):
            continue  # otherwise a constant, or a name of NumPy
        if not callable(value):
            value = type(value)  # for generic aliases
        if isinstance(value, type):
            methods = [m for n, m in vars(value).items() if inspect.isfunction(m) and n[0] != '_']
            assert all(is_typed(m) for m in methods), f'{module}.{name}'
        else:
            assert is_typed(value), f'{module}.{name} has neither a stub nor annotations'
