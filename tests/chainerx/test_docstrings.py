"""Each public function, class, method and property has a docstring and a signature."""

import ast
import builtins
import inspect
import pathlib
import re
import types
import typing as tp

import chainerx as chx
import pytest
from cases import CASES

MODULES = {
    'chainerx': chx,
    'chainerx.fft': chx.fft,
    'chainerx.func': chx.func,
    'chainerx.graph': chx.graph,
    'chainerx.kernels': chx.kernels,
    'chainerx.linalg': chx.linalg,
    'chainerx.random': chx.random,
    'chainerx.special': chx.special,
    'chainerx.profiler': chx.profiler,
    'chainerx.testing': chx.testing,
}


def members():
    for module_name, module in MODULES.items():
        for name, value in vars(module).items():
            if name.startswith('_') or isinstance(value, types.ModuleType):
                continue
            if isinstance(value, type):
                if not value.__module__.startswith('chainerx'):
                    continue  # defined by NumPy or Python
                for member, what in vars(value).items():
                    if not member.startswith('_'):
                        yield f'{module_name}.{name}.{member}', what
            elif not callable(value) or not value.__module__.startswith('chainerx'):
                continue
            yield f'{module_name}.{name}', value


MEMBERS = dict(members())


def test_all_are_checked():
    assert len(MEMBERS) > 300
    for name in (
        'chainerx.grad',
        'chainerx.Device.name',
        'chainerx.Context.get_device',
        'chainerx.ndarray.T',
        'chainerx.ndarray.sum',
        'chainerx.no_backprop_mode',
        'chainerx.graph.Node.inputs',
        'chainerx.random.normal',
        'chainerx.frombuffer',
        'chainerx.profiler.profile',
        'chainerx.testing.assert_allclose',
    ):
        assert name in MEMBERS, name
    for name, module in MODULES.items():
        assert module.__doc__, name


@pytest.mark.parametrize('name', MEMBERS)
def test_docstring(name):
    text = inspect.getdoc(MEMBERS[name])
    assert text, f'{name} has no docstring'
    first = text.splitlines()[0]
    assert len(first) > 5, f'{name}: {first!r}'
    assert len(max(text.splitlines(), key=len)) <= 200, name


CALLABLES = {n: v for n, v in MEMBERS.items() if callable(v) and not isinstance(v, type)}


def section(text, heading):
    """The text under a heading; None without it."""
    parts = re.split(r'^(Args|Returns|Yields|Raises|Note|Source):', text, flags=re.M)
    found = dict(zip(parts[1::2], parts[2::2], strict=True))
    return found.get(heading)


def described(text):
    """The parameters that entries describe: ``a, b (int): text``."""
    for entry in re.findall(r'^    (\S(?:[^:(]|\(.*?\))*):', text, re.M | re.S):
        yield from re.findall(r'\w+', re.sub(r'\(.*?\)', '', entry, flags=re.S))


@pytest.mark.parametrize('name', CALLABLES)
def test_signature(name):
    parameters = list(inspect.signature(CALLABLES[name]).parameters)
    text = section(inspect.getdoc(CALLABLES[name]), 'Args')
    if text:
        assert list(described(text)) == [p for p in parameters if p != 'self']


def stub_results():
    """The return annotations of functions by name: from the stubs, or else from the code."""
    folder = pathlib.Path(chx.__file__).parent / '_core'
    for module, file in (
        ('chainerx', '__init__'),
        ('chainerx.fft', 'fft'),
        ('chainerx.graph', 'graph'),
        ('chainerx.kernels', 'kernels'),
        ('chainerx.linalg', 'linalg'),
        ('chainerx.random', 'random'),
        ('chainerx.special', 'special'),
    ):
        for node in ast.parse((folder / f'{file}.pyi').read_text()).body:
            if isinstance(node, ast.FunctionDef):
                yield f'{module}.{node.name}', ast.unparse(node.returns)


RESULTS = dict(stub_results())
FUNCTIONS = [n for n in CALLABLES if n.rpartition('.')[0] in MODULES]


@pytest.mark.parametrize('name', FUNCTIONS)
def test_functions_document_parameters_and_results(name):
    function = CALLABLES[name]
    text = inspect.getdoc(function)
    signature = inspect.signature(function)
    assert (section(text, 'Args') is not None) == bool(signature.parameters)
    result = RESULTS.get(name, signature.return_annotation)
    if result is not inspect.Signature.empty:  # as in chainerx.testing
        given = section(text, 'Returns') or section(text, 'Yields')
        assert (given is not None) == (result not in (None, 'None'))


CLASSES = {n: v for n, v in MEMBERS.items() if isinstance(v, type)}


@pytest.mark.parametrize('name', CLASSES)
def test_class(name):
    """It has its own docstring, and a signature; that of a class without a constructor says so."""
    cls = CLASSES[name]
    assert cls.__doc__
    assert '--' not in cls.__doc__
    if inspect.signature(cls).return_annotation is tp.NoReturn:
        with pytest.raises(TypeError, match='no constructor'):
            cls()


def test_signatures_of_classes():
    for cls, signature in (
        (chx.Context, '()'),
        (chx.DtypeError, '(*args)'),
        (chx.Device, '() -> NoReturn'),
        (chx.kernels.Hook, '() -> NoReturn'),
        (chx.kernels.Profiler, '(synchronize=False, trace_limit=0)'),
        (chx.kernels.Validator, '()'),
        (chx.ndarray, '(shape, dtype, device=None)'),
    ):
        assert str(inspect.signature(cls)).replace('typing.', '') == signature


def test_signatures_of_derived_classes():
    class Context(chx.Context):
        def __init__(self, name):
            super().__init__()
            self.name = name

    class Profiler(chx.kernels.Profiler):
        def __init__(self, owner):
            super().__init__(synchronize=True)
            self.owner = owner

    class Error(chx.DtypeError):
        def __init__(self, dtype):
            super().__init__(f'bad {dtype}')

    for cls, parameter in ((Context, 'name'), (Profiler, 'owner'), (Error, 'dtype')):
        assert list(inspect.signature(cls).parameters) == [parameter]
    assert Context('c').name == 'c'
    assert Profiler('p').rows() == []
    assert str(Error('f4')) == 'bad f4'


@pytest.mark.parametrize(
    'case', [c for c in CASES if c.order and c.ref and c.diff != () and c.fn is None], ids=str
)
def test_docstrings_state_differentiability(case):
    text = inspect.getdoc(case.resolve(chx))
    assert re.search('differentiable|gradient', text, re.I), f'{case.name}: {text}'


@pytest.mark.parametrize('case', [c for c in CASES if c.errors and c.fn is None], ids=str)
def test_docstrings_state_errors(case):
    """The errors of the table; all functions raise TypeError for arguments of another type."""
    text = section(inspect.getdoc(case.resolve(chx)), 'Raises') or ''
    for _, names, *_ in case.errors:
        classes = [getattr(chx, name, None) or getattr(builtins, name) for name in names.split('|')]
        known = {base.__name__ for cls in classes for base in cls.__mro__[:-3]}
        assert TypeError in classes or any(name in text for name in known), names


def test_methods_of_objects_have_signatures():
    for bound, parameters in (
        (chx.zeros(1).squeeze, ['axis']),
        (chx.get_default_context().get_device, ['device', 'index']),
        (chx.get_default_device().synchronize, []),
    ):
        assert list(inspect.signature(bound).parameters) == parameters


def test_calls_of_described_functions():
    """They are forwarded: by position, by keyword, with their original errors."""
    context = chx.get_default_context()
    assert context.get_device('native', 1) is context.get_device(device='native', index=1)
    assert chx.get_device('native', index=1) is chx.get_device('native:1')
    for bad in (
        lambda: context.get_device(),
        lambda: context.get_device('native', 1, 2),
        lambda: chx.get_device(name='native'),
        lambda: chx.Context.get_device('native'),
    ):
        with pytest.raises(TypeError):
            bad()
    with pytest.raises(IndexError):
        chx.get_device('native', 99)
