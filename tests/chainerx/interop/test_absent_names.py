"""Names that only CuPy or NumPy have: the error names the replacement."""

import re

import chainer
import chainerx as chx
import pytest
from chainerx import _absent


@pytest.mark.parametrize('name', _absent._INSTEAD)
def test_the_error_names_alternatives(name):
    assert not hasattr(chx, name)
    with pytest.raises(AttributeError, match=f"no attribute '{name}': ") as e:
        getattr(chx, name)
    assert e.value.name == name
    for path in re.findall(r'\b((?:chainerx|chainer)(?:\.\w+)+)', str(e.value)):
        found = {'chainerx': chx, 'chainer': chainer}[path.partition('.')[0]]
        for part in path.split('.')[1:]:
            found = getattr(found, part)
    for function in re.findall(r'(?<![\w.])(\w+)\(', str(e.value)):
        assert hasattr(chx, function), f'{name} sends to {function}(), which is not there'


def test_kernels_of_cupy():
    with pytest.raises(AttributeError, match=r'compiles CUDA source.*compose routines of chainerx'):
        chx.ElementwiseKernel('T x', 'T y', 'y = x', 'copy')
    x = chx.ones(2)
    assert x.at[[0, 0]].add(1).tolist() == [3, 1]


def test_other_names():
    with pytest.raises(AttributeError, match=r"^module 'chainerx' has no attribute 'nothing'$"):
        chx.nothing  # noqa: B018
