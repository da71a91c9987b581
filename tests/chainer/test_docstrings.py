"""Each public function and class has a docstring with parameters, result and errors, and, if it is
differentiable, shapes, dtypes and orders. These tests can't tell whether it is true, but they check
that names fit and that nothing is missing.
"""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
import textwrap
import types

import chainer
import chainermn
import pytest
from chainer._base.docstrings import documented_like

MODULES = [
    'chainer',
    'chainer.backend',
    'chainer.backends.cuda',
    'chainer.backends.intel64',
    'chainer.computational_graph',
    'chainer.configuration',
    'chainer.dataset',
    'chainer.dataset.download',
    'chainer.dataset.tabular',
    'chainer.datasets',
    'chainer.device_resident',
    'chainer.distribution',
    'chainer.distributions',
    'chainer.function',
    'chainer.function_hook',
    'chainer.function_hooks',
    'chainer.function_node',
    'chainer.functions',
    'chainer.gradient_check',
    'chainer.initializer',
    'chainer.initializers',
    'chainer.iterators',
    'chainer.link',
    'chainer.link_hook',
    'chainer.link_hooks',
    'chainer.links',
    'chainer.optimizer',
    'chainer.optimizer_hooks',
    'chainer.optimizers',
    'chainer.reporter',
    'chainer.sequential',
    'chainer.serializer',
    'chainer.serializers',
    'chainer.testing',
    'chainer.utils',
    'chainer.utils.argument',
    'chainer.utils.conv',
    'chainer.utils.imgproc',
    'chainer.utils.type_check',
    'chainer.variable',
    'chainer.warnings',
    'chainermn',
    'chainermn.communicators',
    'chainermn.datasets',
    'chainermn.extensions',
    'chainermn.functions',
    'chainermn.global_except_hook',
    'chainermn.iterators',
    'chainermn.links',
    'chainermn.optimizers',
    'chainermn.testing',
]
SECTIONS = r'^(Args|Returns|Yields|Raises|Note|Source|Example|Examples|Attributes):'


def is_namespace(module):
    """Whether a module publicly re-exports names of other modules."""
    return hasattr(module, '__path__') or module.__name__.startswith('chainer.backend')


def members(module):
    for name in getattr(module, '__all__', None) or vars(module):
        value = getattr(module, name)
        if name.startswith('_') or isinstance(value, types.ModuleType) or not callable(value):
            continue
        origin = getattr(value, '__module__', '')
        ours = origin.startswith(('chainer.', 'chainermn.'))
        if origin == module.__name__ or (ours and is_namespace(module)):
            yield f'{module.__name__}.{name}', value


MEMBERS = dict(m for name in MODULES for m in members(importlib.import_module(name)))
FUNCTIONS = {n: v for n, v in MEMBERS.items() if not isinstance(v, type)}
CLASSES = {n: v for n, v in MEMBERS.items() if isinstance(v, type)}
DIFFERENTIABLE = {n: v for n, v in FUNCTIONS.items() if '.functions.' in n}


def test_all_are_checked():
    assert len(FUNCTIONS) > 270
    assert len(CLASSES) > 140
    assert len(DIFFERENTIABLE) > 135
    for name in ('functions.relu6', 'grad', 'Variable', 'optimizers.AdamW', 'utils.force_array'):
        assert f'chainer.{name}' in MEMBERS, name
    for name in MODULES:
        assert importlib.import_module(name).__doc__, name


def sections(text):
    """The text under each heading; the text before the first one is under ''."""
    found = {'': []}
    current = found['']
    for line in inspect.cleandoc(text or '').splitlines():
        if match := re.match(SECTIONS, line):
            current = found.setdefault(match[1], [])
            line = line[match.end() :]
        current.append(line)
    return {heading: '\n'.join(lines) for heading, lines in found.items()}


def described(text):
    """The parameters listed under Args."""
    for entry in re.findall(r'^    (\S[^:(]*)(?:\(.*?\))?:', text, re.M | re.S):
        yield from re.findall(r'\w+', entry)


def returns(function):
    """Whether a function returns a value, by its annotation or else its code."""
    function = inspect.unwrap(function)
    annotation = inspect.signature(function).return_annotation
    if annotation is not inspect.Signature.empty:
        return annotation not in (None, 'None', 'tp.NoReturn')
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    stack, found = list(tree.body), False
    while stack:
        node = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            continue
        found |= isinstance(node, ast.Return) and node.value is not None
        found |= isinstance(node, ast.Yield)
        stack += ast.iter_child_nodes(node)
    return found


@pytest.mark.parametrize('name', MEMBERS)
def test_docstring(name):
    text = inspect.cleandoc(MEMBERS[name].__doc__ or '')
    assert text, f'{name} has no docstring'
    first = text.split('\n\n')[0]
    assert len(first) > 5, f'{name}: {first!r}'
    assert first.endswith(('.', ':', '::')), f'{name}: {first!r} is no sentence'


@pytest.mark.parametrize('name', CLASSES)
def test_methods(name):
    """Methods and properties have docstrings, own or inherited from what they override."""
    for member, value in vars(CLASSES[name]).items():
        found = getattr(CLASSES[name], member)
        if member.startswith('_') or not (callable(found) or inspect.isdatadescriptor(value)):
            continue
        assert inspect.getdoc(found) or inspect.getdoc(value), f'{name}.{member}'
        own = getattr(value, '__func__', value).__doc__
        if callable(found) and not isinstance(found, type) and own:
            parameters = [
                p for p in inspect.signature(found).parameters if p not in ('self', 'cls')
            ]
            assert list(described(sections(own).get('Args', ''))) == parameters, f'{name}.{member}'


@pytest.mark.parametrize('name', MEMBERS)
def test_args_are_the_parameters(name):
    value = MEMBERS[name]
    parameters = [
        name
        for name in inspect.signature(value).parameters
        if not name.startswith('_') and name != 'removed'  # v7 has an error of its own
    ]
    assert list(described(sections(value.__doc__).get('Args', ''))) == parameters


@pytest.mark.parametrize('name', [n for n, v in MEMBERS.items() if '>>>' in (v.__doc__ or '')])
def test_examples(name):
    value = MEMBERS[name]
    module = importlib.import_module(inspect.unwrap(value).__module__)
    for test in doctest.DocTestFinder(recurse=False).find(value, name, globs=dict(vars(module))):
        assert test.examples
        result = doctest.DocTestRunner(verbose=False).run(test, out=print)
        assert result.failed == 0


@pytest.mark.parametrize('name', FUNCTIONS)
def test_returns(name):
    function = FUNCTIONS[name]
    found = sections(function.__doc__)
    assert ('Returns' in found or 'Yields' in found) == returns(function)


@pytest.mark.parametrize('name', DIFFERENTIABLE)
def test_functions_document_parameters_and_results(name):
    found = sections(DIFFERENTIABLE[name].__doc__)
    assert set(found) >= {'Args', 'Returns', 'Raises'}
    assert re.search(r'dtype|float|integer', found['Args'])
    assert re.search(r'shape|\(\w+, |0-d', found['Args'], re.I)
    assert re.search(r'dtype', found['Args'] + found['Returns'])
    assert re.search(r'shape|0-d|\(\w+,|length|view|axis|axes|same', found['Returns'], re.I)
    assert re.search('Differentiable|Not differentiable', found['Returns'])
    if 'Not differentiable' not in found['Returns']:
        assert re.search(r'any\s+order|once|twice', found['Returns'])


def public_functions():
    yield from FUNCTIONS.items()
    for name, cls in CLASSES.items():
        for member, value in vars(cls).items():
            function = getattr(value, '__func__', value)
            if inspect.isfunction(function) and (member == '__init__' or member[0] != '_'):
                yield f'{name}.{member}', function


def test_all_is_annotated():
    """All functions are annotated, as the package is typed and others are not checked."""
    for name, function in public_functions():
        signature = inspect.signature(function)
        for parameter in signature.parameters.values():
            known = parameter.annotation is not parameter.empty
            assert known or parameter.name in ('self', 'cls'), f'{name}: {parameter}'
        assert signature.return_annotation is not signature.empty, name


def defined_in_public_modules():
    for info in (
        *pkgutil.walk_packages(chainer.__path__, 'chainer.'),
        *pkgutil.walk_packages(chainermn.__path__, 'chainermn.'),
    ):
        if '._' in info.name:
            continue
        for name, value in vars(importlib.import_module(info.name)).items():
            here = getattr(value, '__module__', None) == info.name and not name.startswith('_')
            if here and (isinstance(value, type) or inspect.isroutine(value)):
                yield f'{info.name}.{name}', value


def test_everything_has_a_docstring_and_a_signature():
    """Everything has a docstring and a signature, even function nodes, old names and helpers."""
    found = dict(defined_in_public_modules())
    assert len(found) > 500
    for name, value in found.items():
        assert value.__doc__, name
        if getattr(value, '__init__', None) is not RuntimeWarning.__init__:  # of Python
            inspect.signature(value)


def test_documented_like():
    def original(x, y, z=1):
        """The original.

        Args:
            x (int): The first,
                which has two lines.
            y (int): The second.
            z (int): The third.

        Returns:
            int: One.

        Raises:
            TypeError: For one reason.
            ValueError: For another.

        Source: A paper.
        """

    @documented_like(original)
    def twin(w, y, x):
        """The twin.

        It has another parameter.

        Args:
            w (int): The fourth.
            y (int): Its own.

        Raises:
            ValueError: For a reason of its own.
        """

    @documented_like(original)
    def without():
        pass

    expected = """
        The twin.

        It has another parameter.

        Args:
            w (int): The fourth.
            y (int): Its own.
            x (int): The first,
                which has two lines.

        Returns:
            int: One.

        Raises:
            TypeError: For one reason.
            ValueError: For a reason of its own.

        Source: A paper.
    """
    found = sections(twin.__doc__)
    assert {k: v.strip() for k, v in found.items()} == {
        k: v.strip() for k, v in sections(expected).items()
    }
    assert list(found) == list(sections(expected)), 'in this order'
    assert '\nSource: A paper.' in twin.__doc__
    assert without.__doc__ is None
