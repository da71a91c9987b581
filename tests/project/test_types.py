"""Type checking: README.md's tours are accepted, and names that do not exist are errors."""

import importlib
import pathlib
import re
import subprocess
import sys
import tomllib

import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture
def check(tmp_path):
    """Runs mypy on a program; returns the lines with errors, and their messages."""
    pytest.importorskip('mypy', reason='mypy is for developers')

    def run(source):
        path = tmp_path / 'program.py'
        path.write_text(source)
        done = subprocess.run(
            [
                *(sys.executable, '-m', 'mypy', '--follow-imports=silent', '--check-untyped-defs'),
                # As in mypy's strict mode and pyright, imports of a package are not public.
                *('--no-implicit-reexport', path),
            ],
            capture_output=True,
            text=True,
            cwd=ROOT,
        )
        found = re.findall(r'program\.py:(\d+): error: (.*)', done.stdout)
        assert bool(found) == bool(done.returncode), done.stdout + done.stderr
        return [(int(line), message) for line, message in found]

    return run


PACKAGES = [
    'chainer',
    'chainer.dataset',
    'chainer.dataset.tabular',
    'chainer.datasets',
    'chainer.distributions',
    'chainer.function',
    'chainer.function_hooks',
    'chainer.function_node',
    'chainer.functions',
    'chainer.initializers',
    'chainer.iterators',
    'chainer.link',
    'chainer.link_hooks',
    'chainer.links',
    'chainer.optimizer',
    'chainer.optimizer_hooks',
    'chainer.optimizers',
    'chainer.serializers',
    'chainer.training',
    'chainer.training.extensions',
    'chainer.training.triggers',
    'chainer.training.updaters',
    'chainer.variable',
    'chainermn',
    'chainermn.communicators',
    'chainermn.datasets',
    'chainermn.extensions',
    'chainermn.functions',
    'chainermn.iterators',
    'chainermn.links',
    'chainermn.testing',
    'chainerx',
    'chainerx.func',
    'chainerx.testing',
]


def test_public_names_are_exported(check):
    """Public names are exported explicitly, as type checkers hide plain imports."""
    lines = []
    for package in PACKAGES:
        module = importlib.import_module(package)
        lines.append(f'import {package}')
        for name, value in vars(module).items():
            ours = getattr(value, '__module__', '').startswith(package.split('.')[0])
            if name[0] != '_' and callable(value) and ours:
                lines.append(f'{package}.{name}')
    assert len(lines) > 1000
    assert [f'{lines[line - 1]}: {text}' for line, text in check('\n'.join(lines) + '\n')] == []


@pytest.mark.parametrize(
    ('package', 'names'),
    [('chainer', 'dataset datasets iterators training'), ('chainerx', 'bfloat16 func testing')],
)
def test_names_that_are_imported_on_use_are_completed(package, names):
    done = subprocess.run(
        [sys.executable, '-c', f'import {package}; print(*dir({package}))'],
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(names.split()) < set(done.stdout.split())


@pytest.mark.parametrize('package', ['chainer', 'chainermn', 'chainerx'])
def test_packages_are_typed(package):
    """The marker file py.typed exists, and is part of wheels."""
    assert (ROOT / 'python' / package / 'py.typed').is_file()
    build = tomllib.loads((ROOT / 'pyproject.toml').read_text())['tool']['scikit-build']
    assert f'python/{package}' in build['wheel']['packages']
    assert not any('typed' in pattern for pattern in build['wheel']['exclude'])


def test_tours_are_right(check):
    blocks = re.findall(r'```python\n(.*?)```', (ROOT / 'README.md').read_text(), re.S)
    assert len(blocks) >= 2
    for block in blocks:
        assert check(block) == []


def test_what_is_wrong_is_found(check):
    lines = [
        'import chainerx as chx',
        'chx.foo',
        'chx.zeros(2).foo',
        'chx.random.foo',
        'chx.linalg.foo',
        'chx.graph.foo',
        'chx.get_device(1.5)',
        'chx.get_default_device().foo',
        'chx.no_backprop_mode(backprop_id=1)',
        'chx.zeros(2).sum(axes=1)',
        'chx.softmax(None)',
        'chx.backward()',
        'chx.testing.foo',
        'chx.linalg.svd(chx.eye(2), compute_uv=False).S',
        'chx.linalg.qr(chx.eye(2)).shape',
    ]
    assert sorted({line for line, _ in check('\n'.join(lines) + '\n')}) == [
        *range(2, len(lines) + 1)
    ]


def test_what_is_right_is_accepted(check):
    lines = [
        'import chainerx as chx',
        'chx.abs(chx.zeros((2, 3), "f4")).sum(axis=(0, 1)).item()',
        'chx.array([1, 2], chx.bfloat16).astype(chx.float32)',
        'chx.softmax(chx.zeros((2, 3)), (0, 1))',
        'chx.split(chx.zeros(4), chx.array([1, 2]))',
        'with chx.using_device("native", 1) as scope: scope.device.synchronize()',
        'node = chx.graph.creator(chx.zeros(1))',
        'chx.testing.assert_allclose(chx.zeros(1), chx.zeros(1))',
        'chx.true_divide(1.0, chx.ones(3)) ** 2 // 3 @ chx.ones(3)',
        'chx.Inf, chx.newaxis, chx.pi',
        'chx.unique_all(chx.zeros(3)).inverse_indices.shape',
        'values, counts = chx.unique_counts(chx.zeros(3))',
        'chx.linalg.eigh(chx.eye(2)).eigenvectors.T',
        'chx.linalg.slogdet(chx.eye(2)).logabsdet.item()',
        'chx.linalg.svd(chx.eye(2)).S.shape',
        'chx.linalg.svd(chx.eye(2), compute_uv=False).shape',
        'chx.linalg.svd(chx.eye(2), False, False).shape',
        'q, r = chx.linalg.qr(chx.eye(2), mode="complete")',
        'chx.linalg.qr(chx.eye(2), "r").shape',
        'chx.issubdtype(chx.double, chx.floating)',
    ]
    assert check('\n'.join(lines) + '\n') == []


def test_what_is_wrong_of_chainer_is_found(check):
    lines = [
        'import chainer, chainer.functions as F, chainer.links as L',
        'chainer.no_such_name',
        'F.no_such_function',
        'L.NoSuchLink',
        'F.relu()',
        'F.softmax([1.0], axes=1)',
        'chainer.optimizers.SGD(rate=0.1)',
        'chainer.optimizers.Adam("0.1")',
        'chainer.optimizers.AdaBound(amsgrad=True)',
        'chainer.optimizers.SGD().lr.no_such_method()',
        'chainer.Variable(1, requires_gradient=True)',
        'L.Linear(3, 2).no_such_method()',
    ]
    found = sorted({line for line, _ in check('\n'.join(lines) + '\n')})
    assert found == [*range(2, len(lines) + 1)]


def test_what_is_right_of_chainer_is_accepted(check):
    lines = [
        'import numpy as np, chainer, chainer.functions as F, chainer.links as L',
        'x = chainer.Variable(np.ones((2, 3), "f"))',
        'y = F.sum(F.relu(x) * 2)',
        'y.backward()',
        'model = L.Classifier(L.Linear(3, 2))',
        'optimizer = chainer.optimizers.Adam(alpha=0.1).setup(model)',
        'optimizer.update(model, x, np.zeros(2, "i"))',
        'chainer.serializers.save_npz("model.npz", model)',
        'with chainer.using_config("train", False): F.dropout(x, 0.5)',
    ]
    assert check('\n'.join(lines) + '\n') == []
