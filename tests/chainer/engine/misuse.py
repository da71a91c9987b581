"""Checks that misuse raises one of these errors, and that everything works afterwards."""

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import Variable

X = np.arange(6, dtype='f').reshape(2, 3) + 1
X.flags.writeable = False  # some tests pass it to every function


# Errors that misuse may raise. SystemError, MemoryError and assertions of the engine are bugs.
DOCUMENTED = (TypeError, ValueError, AttributeError, LookupError, NotImplementedError)
DOCUMENTED += (RuntimeError, chainer.utils.type_check.InvalidType, chainerx.ChainerxError)
# Errors that Python code may raise besides, when it gets another object for self.
OF_PYTHON = (*DOCUMENTED, AssertionError, StopIteration)


def refuses(call, *args, errors=DOCUMENTED):
    """Whether a call raises a documented error with a message."""
    caught = None
    try:
        call(*args)
    except errors as error:
        caught = error
    assert not isinstance(caught, RecursionError), caught
    assert caught is None or errors is not DOCUMENTED or str(caught).strip(), f'{call}: no message'
    return caught is not None


def still_works():
    x = Variable(X.copy())
    y = F.sum(F.relu(x) * x)
    y.backward()
    np.testing.assert_array_equal(x.grad, 2 * X)


@pytest.fixture(autouse=True)
def check_afterwards():
    yield
    still_works()
    assert not chainer.get_function_hooks()
