"""Functions of functions: gradients, Jacobians, batches, checkpoints.

What is differentiated by is an argument, not an array with ``require_grad()``, and nothing is
stored in an array. All of them can be nested, in any order. See docs/transforms.md.
"""

from chainerx.func import (  # noqa: F401
    _operators,
    _rules_axes,
    _rules_index,
    _rules_layers,
    _rules_linalg,
    _rules_numeric,
    _rules_order,
    _rules_products,
    _rules_random,
    _rules_shapes,
)
from chainerx.func._forward import hvp, jvp, linearize
from chainerx.func._jacobian import hessian, jacfwd, jacobian, jacrev
from chainerx.func._loop import BatchingWarning
from chainerx.func._reverse import checkpoint, grad, value_and_grad, vjp
from chainerx.func._vmap import vmap

__all__ = [
    'BatchingWarning',
    'checkpoint',
    'grad',
    'hessian',
    'hvp',
    'jacfwd',
    'jacobian',
    'jacrev',
    'jvp',
    'linearize',
    'value_and_grad',
    'vjp',
    'vmap',
]
