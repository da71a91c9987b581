"""Parameters and gradients of a model, joined to few arrays in memory of the host."""

from __future__ import annotations

import typing as tp

import chainer
import chainerx
import numpy as np

from chainermn.communicators import _arrays
from chainermn.communicators._agreement import Items

if tp.TYPE_CHECKING:
    from chainer.link import Link
    from chainer.variable import Parameter


class Item(tp.NamedTuple):
    """A parameter, and the array of it that is exchanged."""

    param: Parameter
    array: tp.Any


def _params(model: Link) -> tp.Iterator[tuple[str, Parameter]]:
    """Each parameter once, by its first path, in the order of paths."""
    seen = set()
    for path, param in sorted(model.namedparams()):
        if id(param) not in seen:
            seen.add(id(param))
            yield path, param


def arrays_of(model: Link) -> tuple[Items, list[Item]]:
    """The arrays of all parameters that have one, and a description of all."""
    found, names = [], _Names()
    for path, param in _params(model):
        if param.array is None:
            names.add(f'no array of {path}')
        else:
            names.add(path, param.array)
            found.append(Item(param, param.array))
    return names.as_items(), found


def gradients_of(model: Link, zero_fill: bool) -> tuple[Items, list[Item]]:
    """The gradients of all parameters that have one, and a description of all."""
    found, names = [], _Names()
    for path, param in _params(model):
        if param.array is None:
            names.add(f'no array of {path}')
            continue
        grad = param.grad
        if grad is None:
            if not zero_fill:
                names.add(f'no gradient of {path}')
                continue
            with chainer.using_device(param.device):
                grad = param.grad = param.xp.zeros_like(param.array)
        names.add(path, grad)
        found.append(Item(param, grad))
    return names.as_items(), found


class _Names:
    """Descriptions of arrays: all that `group` depends on, but for the names of devices."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._devices: dict[str, int] = {}

    def add(self, name: str, array: tp.Any = None) -> None:
        if array is None:
            self._texts.append(name)
            return
        device = _device_of(array)
        number = self._devices.setdefault(device, len(self._devices))
        where = f' on device {number} of the model' if number else ''
        dtype = np.dtype(array.dtype).name
        self._texts.append(f'{name} ({dtype} of shape {tuple(array.shape)}){where}')

    def as_items(self) -> Items:
        return Items('parameters', tuple(self._texts))


def _device_of(array: tp.Any) -> str:
    return str(chainer.backend.get_device_from_array(array))


def group(items: list[Item]) -> list[list[Item]]:
    """The items by dtype and device, in the order of their first ones."""
    groups: dict[tuple[str, str], list[Item]] = {}
    for item in items:
        key = _device_of(item.array), np.dtype(item.array.dtype).name
        groups.setdefault(key, []).append(item)
    return list(groups.values())


def join_on_device(items: list[Item]) -> tp.Any:
    """The arrays of a group one after the other, in a new array of their kind and device."""
    first = items[0].array
    if isinstance(first, chainerx.ndarray):
        return chainerx.concatenate([item.array.as_grad_stopped().ravel() for item in items])
    device = chainer.backend.get_device_from_array(first)
    with chainer.using_device(device):
        return device.xp.concatenate([item.array.ravel() for item in items])


def join(items: list[Item]) -> np.ndarray:
    """The arrays of a group one after the other, in memory of the host that may be written to."""
    flat = _arrays.to_host(join_on_device(items))
    return flat if flat.flags.writeable else flat.copy()


def _parts(items: list[Item], flat: tp.Any) -> tp.Iterator[tuple[Item, tp.Any]]:
    """Each item with its part of the joined array."""
    begin = 0
    for item in items:
        size = item.array.size
        yield item, flat[begin : begin + size].reshape(item.array.shape)
        begin += size


def write_back(items: list[Item], flat: tp.Any) -> None:
    """Writes the parts of a joined array, there or in the host, into the arrays of a group."""
    for item, part in _parts(items, _like_first(items, flat)):
        chainer.backend.copyto(item.array, part)


def set_gradients(items: list[Item], flat: tp.Any) -> None:
    """Makes the parts of a joined array, there or in the host, the gradients of a group.

    The arrays that were gradients are not written to: they may be part of a graph, be shared by two
    parameters, or be read-only.
    """
    for item, part in _parts(items, _like_first(items, flat)):
        item.param.grad = part


def _like_first(items: list[Item], flat: tp.Any) -> tp.Any:
    return _arrays.like(flat, items[0].array)
