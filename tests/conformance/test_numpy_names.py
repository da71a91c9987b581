"""The public names of NumPy: each is here, or in `numpy_names.txt` with a reason.

So a new name of a newer NumPy fails. The same holds for the parameters of its functions, in
`numpy_parameters.txt`. A missing one is an error where it is passed; one in another position is
worse, as a call by position then means something else. Such a line ends in the name of the
parameter in that position.
"""

import fnmatch
import inspect
import pathlib

import chainerx
import numpy as np
import pytest

NAMESPACES = {
    '': np,
    'linalg.': np.linalg,
    'fft.': np.fft,
    'random.': np.random,
    'random.Generator.': np.random.Generator,
    'ndarray.': np.ndarray,
}
FOLDER = pathlib.Path(__file__).parent


def reasons(file):
    lines = (FOLDER / file).read_text().splitlines()
    return dict(line.split('  # ') for line in lines if not line.startswith('#'))


LEFT_OUT = reasons('numpy_names.txt')
LEFT_OUT_PARAMETERS = reasons('numpy_parameters.txt')


def ours(prefix):
    found = chainerx
    for part in filter(None, prefix.split('.')):
        found = getattr(found, part)
    return found


@pytest.mark.parametrize('prefix', NAMESPACES)
def test_every_name_is_here_or_has_a_reason(prefix):
    theirs = NAMESPACES[prefix]
    names = getattr(theirs, '__all__', None) or [n for n in dir(theirs) if not n.startswith('_')]
    names = [n for n in names if not n.startswith('_')]
    missing = {prefix + name for name in names if not hasattr(ours(prefix), name)}
    assert missing <= set(LEFT_OUT), sorted(missing - set(LEFT_OUT))


def test_omitted_names_are_absent():
    for name, reason in LEFT_OUT.items():
        prefix, _, last = name.rpartition('.')
        assert not hasattr(ours(prefix), last), f'{name} is there: take it off the list'
        assert len(reason) > 10


# ---- parameters


def parameters(function):
    """Parameters that can be passed by name or position; none without a signature."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # in C, of an older NumPy
        return None
    return [p for p in signature.parameters.values() if 'VAR' not in p.kind.name]


def positional(these):
    return [p.name for p in these if p.kind != p.KEYWORD_ONLY]


def differences(prefix):
    """Yields 'function.parameter', or 'function.parameter=name of the one in its position'."""
    theirs = NAMESPACES[prefix]
    for name in sorted(getattr(theirs, '__all__', None) or dir(theirs)):
        function, other = getattr(theirs, name), getattr(ours(prefix), name, None)
        if name.startswith('_') or not callable(function) or isinstance(function, type):
            continue
        known, here = parameters(function), parameters(other) if callable(other) else None
        if known is None or here is None:
            continue
        names = {p.name for p in here}
        for p in known:
            if p.kind != p.POSITIONAL_ONLY and p.name not in names:
                yield f'{prefix}{name}.{p.name}'
        by_position_only = {p.name for p in known if p.kind == p.POSITIONAL_ONLY}
        for wanted, found in zip(positional(known), positional(here), strict=False):
            if wanted != found and wanted not in by_position_only and wanted in names:
                yield f'{prefix}{name}.{wanted}={found}'


@pytest.mark.parametrize('prefix', NAMESPACES)
def test_every_parameter_is_here_or_has_a_reason(prefix):
    missing = [
        d
        for d in differences(prefix)
        if not any(fnmatch.fnmatch(d, p) for p in LEFT_OUT_PARAMETERS)
    ]
    assert not missing, missing


def test_parameters_that_are_left_out_are_not_here():
    found = [d for prefix in NAMESPACES for d in differences(prefix)]
    if not any(d.startswith('add.') for d in found):
        pytest.skip('this NumPy does not tell the parameters of its functions')
    for pattern, reason in LEFT_OUT_PARAMETERS.items():
        name = pattern.rpartition('.')[0]
        if name.isidentifier() and not hasattr(np, name):  # a newer NumPy took it away
            continue
        assert fnmatch.filter(found, pattern), f'{pattern} is there: take it off the list'
        assert len(reason) > 10
