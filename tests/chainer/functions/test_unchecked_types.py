"""With ``config.type_check`` off, functions accept operands of several float dtypes.

Gradient checks rely on it: they cast inputs, but not the other arrays that a function reads.
"""

import chainer
import numpy as np
import pytest
from functions.cases import CASES
from functions.cases._harness import KINDS, Prepared, as_numpy

PAIRS = [
    case
    for case in CASES
    if case.calls
    and 'float32' in case.dtypes
    and sum(arg.dtype is None for arg in case.calls[0].arrays()) > 1
]


def results(prepared, arrays):
    np.random.seed(0)
    ys = prepared.call(arrays)
    return [as_numpy(getattr(y, 'array', y)) for y in ys if y is not None]


@pytest.mark.filterwarnings('ignore::DeprecationWarning')
@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('case', PAIRS, ids=repr)
def test_one_operand_of_another_float_dtype(case, kind):
    prepared = Prepared(case, case.calls[0], 'float32', kind)
    expected = results(prepared, prepared.arrays)
    for i, x in enumerate(prepared.arrays):
        if x.dtype != np.float32:
            continue
        mixed = [*prepared.arrays[:i], x.astype(np.float64), *prepared.arrays[i + 1 :]]
        with chainer.using_config('type_check', False):
            ys = results(prepared, mixed)
        for y, e in zip(ys, expected, strict=True):
            np.testing.assert_allclose(y, e, 1e-3, 1e-3)
