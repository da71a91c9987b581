"""The public names of NumPy: each is here, or in `numpy_names.txt` with a reason.

So a name of a newer NumPy that nobody has thought of fails.
"""

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
LEFT_OUT = dict(
    line.split('  # ')
    for line in (pathlib.Path(__file__).parent / 'numpy_names.txt').read_text().splitlines()
    if not line.startswith('#')
)


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


def test_what_is_left_out_is_not_here():
    for name, reason in LEFT_OUT.items():
        prefix, _, last = name.rpartition('.')
        assert not hasattr(ours(prefix), last), f'{name} is there: take it off the list'
        assert len(reason) > 10
