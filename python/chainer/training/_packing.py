"""All gradients or all parameters of a link as one vector, as v7's updaters of several GPUs send
them. Subclasses of `MultiprocessParallelUpdater` in libraries use these."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainer import backend

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray
    from chainer.link import Link
    from chainer.variable import Parameter


def size_num_grads(link: Link) -> tuple[int, int]:
    """Count the elements of all gradients of a link, and the gradients.

    Args:
        link (Link): The link; parameters without a gradient do not count.

    Returns:
        tuple: Two integers.
    """
    grads = [param.grad for _, param in _of(link, 'grad')]
    return sum(grad.size for grad in grads), len(grads)


def gather_grads(link: Link) -> NdArray:
    """Copy all gradients of a link to one vector, in the order of the parameters' paths.

    Args:
        link (Link): The link; parameters without a gradient are left out.

    Returns:
        ndarray: Shape (size,), on the link's device; float64 if a gradient is, else float32.

    Raises:
        ValueError: If there are none.
    """
    return _gather(link, 'grad')


def gather_params(link: Link) -> NdArray:
    """Copy all parameters of a link to one vector, in the order of their paths.

    Args:
        link (Link): The link; uninitialized parameters are left out.

    Returns:
        ndarray: Shape (size,), on the link's device; float64 if a parameter is, else float32.

    Raises:
        ValueError: If there are none.
    """
    return _gather(link, 'array')


def scatter_grads(link: Link, array: NdArray) -> None:
    """Set the gradients of a link from a vector that `gather_grads` made.

    Args:
        link (Link): The link; parameters without a gradient are left out.
        array (ndarray): The vector, on the link's device.

    Raises:
        ValueError: If it has another size.
    """
    for param, part in _parts('scatter_grads', link, array, 'grad'):
        param.grad = part.astype(param.dtype)  # a copy, for parameters may share a gradient


def scatter_params(link: Link, array: NdArray) -> None:
    """Write a vector that `gather_params` made to the parameters of a link.

    Args:
        link (Link): The link; uninitialized parameters are left out.
        array (ndarray): The vector, on the link's device.

    Raises:
        ValueError: If it has another size.
    """
    for param, part in _parts('scatter_params', link, array, 'array'):
        param.array[...] = part.astype(param.dtype)


def _of(link: Link, target: str) -> list[tuple[str, Parameter]]:
    params = sorted(link.namedparams(), key=lambda item: item[0])
    return [(path, param) for path, param in params if getattr(param, target) is not None]


def _gather(link: Link, target: str) -> NdArray:
    arrays = [getattr(param, target) for _, param in _of(link, target)]
    if not arrays:
        raise ValueError(f'gather_{target}s: the link has none'.replace('array', 'param'))
    dtype = 'float64' if any(a.dtype == np.float64 for a in arrays) else 'float32'
    xp = backend.get_array_module(*arrays)
    return xp.concatenate([a.astype(dtype).ravel() for a in arrays])


def _parts(
    name: str, link: Link, array: NdArray, target: str
) -> tp.Iterator[tuple[Parameter, tp.Any]]:
    params = [param for _, param in _of(link, target)]
    size = sum(param.size for param in params)
    if array.shape != (size,):
        raise ValueError(f'{name}: array.shape is {array.shape}, expected {(size,)}')
    start = 0
    for param in params:
        yield param, array[start : start + param.size].reshape(param.shape)
        start += param.size
