"""Checks of kernel calls, and queries of single operations."""

from __future__ import annotations

import contextlib
import operator
import threading
import typing as tp

import chainerx
from chainerx._core import kernels

if tp.TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


@contextlib.contextmanager
def check_kernels() -> Iterator[None]:
    """Checks every call of a kernel in the block, on all devices and in all threads.

    Operands are on the device and inside of their memory, outputs are writable and overlap no other
    operand, elementwise operands broadcast and have one dtype, bools are 0 or 1. For who writes a
    backend or an operation.

    Yields:
        None: The check ends with the block.
    Raises:
        ChainerxError: At a violation; it names kernel and operand.
    """
    validator = kernels.Validator()
    validator.install()
    try:
        yield
    finally:
        validator.remove()


#: Per thread, for each kernel the blocks that force an algorithm.
_forced = threading.local()


@contextlib.contextmanager
def force_algorithm(kernel: str, name: str) -> Iterator[None]:
    """Makes a kernel that has several algorithms use one of them in the block, in this thread.

    For who compares algorithms: their results, or their speed. Without, the shapes decide.
    The environment variable ``CHAINERX_<KERNEL>`` (``CHAINERX_CONV=direct``) does the same for a
    process, but for calls that the algorithm can't compute, which are then computed as usual.

    Args:
        kernel (str): ``'conv'``: convolutions and their gradients. ``'matmul'``: products of
            matrices and linear layers; products inside of other kernels choose by themselves.
            ``'sort'``: ``sort`` and ``argsort``. ``'reduce'``: sums, extremes and the like, but not
            those of few contiguous elements to one, which have one way only.
        name (str): The algorithm, as in ``chainerx.profile()``, which shows ``Conv[direct]``.
    Yields:
        None: It ends with the block.
    Raises:
        ValueError: If there is no such kernel or algorithm; it lists those there are. In the block,
            of a call that the algorithm can't compute.
        RuntimeError: If the block ends in another thread than it began in.
    """
    blocks: list[list[str]] = _forced.__dict__.setdefault(kernel, [])
    block = [name]  # an object of its own, so that equal names differ
    kernels.force_algorithm(kernel, name)
    blocks.append(block)
    try:
        yield
    finally:
        # Blocks of coroutines and generators end in any order: the youngest that is left counts.
        here = getattr(_forced, kernel, [])
        index = next((i for i, other in enumerate(here) if other is block), None)
        if index is None:
            raise RuntimeError(
                f'force_algorithm: a block for {kernel!r} ended in another thread, while the one '
                f'that it began in goes on with {name!r}'
            )
        del here[index]
        kernels.force_algorithm(kernel, here[-1][0] if here else None)


def forward_derivative(
    function: Callable[..., chainerx.ndarray],
    inputs: Sequence[chainerx.ndarray],
    tangents: Sequence[chainerx.ndarray | None],
) -> chainerx.ndarray | None:
    """The change of ``function(*inputs)`` for small changes of the inputs, of one operation.

    Args:
        function: Calls one differentiable operation on the inputs.
        inputs (list of ndarray): Arrays of floats.
        tangents (list of ndarray or None): The change of each input; None for none.
    Returns:
        ndarray or None: Of the shape of the result; None where it does not change.
    Raises:
        ChainerxError: If the function is not one operation, or its forward derivative is not known.
    """
    leaves = [x.as_grad_stopped().require_grad() for x in inputs]
    y = function(*leaves)
    node = chainerx.graph.creator(y)
    sources = [] if node is None else [value and value.array for value in node.inputs]
    is_one = len(sources) == len(leaves) and all(map(operator.is_, sources, leaves))
    if node is None or not is_one:
        raise chainerx.ChainerxError('forward_derivative: not one operation on these inputs')
    return node.forward_derivative(inputs, y.as_grad_stopped(), tangents)
