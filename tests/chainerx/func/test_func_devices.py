"""Transforms make their arrays on the device of the arguments, not on the default one."""

import chainerx
import numpy as np
import pytest
from chainerx import func

X = np.arange(6.0).reshape(2, 3) + 1
MASK = X > 2


def array(x):
    return chainerx.array(x, device='native:1')


def cubes(x):
    return (x**3).sum()


def written(x, mask):
    y = x.copy()
    y[mask] = 0
    return y


@pytest.mark.parametrize(
    'compute',
    [
        lambda x: func.grad(cubes)(x),
        lambda x: func.value_and_grad(cubes)(x)[1],
        lambda x: func.jacobian(cubes)(x),
        lambda x: func.jacrev(lambda x: (x * 2, cubes(x)))(x)[0],
        lambda x: func.jacfwd(lambda x: x * 2)(x),
        lambda x: func.jacrev(lambda a, b: a * b, (0, 1))(x, x)[1],
        lambda x: func.hessian(cubes)(x),
        lambda x: func.hvp(cubes, (x,), (x,))[0],
        lambda x: func.jvp(cubes, (x,), (x,))[1],
        lambda x: func.linearize(cubes, x)[1](x),
        lambda x: func.vjp(cubes, x)[1](array(1.0))[0],
        lambda x: func.vmap(func.grad(cubes))(x),
        lambda x: func.vmap(chainerx.vander)(x),
        lambda x: func.vmap(chainerx.polyval)(x, x),
        lambda x: func.vmap(lambda x, mask: x.at[mask].set(0))(x, array(MASK)),
        lambda x: func.vmap(written)(x, array(MASK)),
    ],
)
def test_results_are_on_the_device_of_the_arguments(compute):
    with chainerx.using_device('native:1'):
        expected = compute(array(X))
    y = compute(array(X))
    assert y.device.name == 'native:1'
    chainerx.testing.assert_allclose(y, expected)
