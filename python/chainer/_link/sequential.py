"""`Sequential`: layers called one after the other."""

from __future__ import annotations

import copy
import copyreg
import inspect
import typing as tp
from collections.abc import Iterable, Iterator

from chainer._link.chain import ChainList
from chainer._link.link import Link, _check_mode, _tree_str

if tp.TYPE_CHECKING:
    from chainer._typing import Layer


class Sequential(ChainList):
    """A link that calls layers in order, each with the output of the layer before.

    A tuple is passed on as several arguments. Layers are links and any other callables; only links
    are children, numbered among themselves. Their numbers are those of Chainer v7, which snapshots
    of it name, and they do not follow the order of the layers: with a link first, the last link
    added is child 1.

    Args:
        layers: Callables.
    """

    def __init__(self, *layers: Layer) -> None:
        super().__init__()
        self._layers: list[Layer] = []
        self.extend(layers)

    def _insert(self, i: int, layer: Layer) -> None:
        if isinstance(layer, Link):
            # The rule of v7, without which its snapshots would fill layers with values of others.
            links = (k for k, x in enumerate(self._layers[:i]) if isinstance(x, Link))
            self._children.insert(next(links, 0) + 1 if i else 0, layer)
        self._layers.insert(i, layer)

    def _delete(self, i: int) -> None:
        layer = self._layers.pop(i)
        for k, child in enumerate(self._children):
            if child is layer:
                del self._children[k]
                break

    def forward(self, *x: object) -> tp.Any:
        """Call the layers.

        Args:
            *x: The arguments of the first layer.

        Returns:
            The result of the last layer.
        """
        if not self._layers:
            raise RuntimeError('Sequential does not have any layer.')
        for layer in self._layers:
            x = layer(*x) if isinstance(x, tuple) else layer(x)
        return x

    # -- a list of layers

    def __len__(self) -> int:
        return len(self._layers)

    def __getitem__(self, i: int | slice) -> tp.Any:
        """Return the layer at an index, or a list of those in a slice."""
        return self._layers[i]

    def __setitem__(self, i: tp.Any, layer: tp.Any) -> None:
        layers = self._layers.copy()
        if isinstance(i, slice):
            layers[i] = [_check_layer(one) for one in layer]
            self._layers, self._children = [], []
            self.extend(layers)
        else:
            if i >= len(layers):
                raise ValueError(f'{i} should be less than {len(layers)}')
            i = range(len(layers))[i]
            _check_layer(layer)
            self._delete(i)
            self._insert(i, layer)
            self._rename()

    def __delitem__(self, i: tp.Any) -> None:
        indices = range(len(self))[i]
        for k in sorted(indices if isinstance(i, slice) else [indices], reverse=True):
            self._delete(k)
        self._rename()

    def __iter__(self) -> Iterator[tp.Any]:
        return iter(self._layers)

    def __reversed__(self) -> Iterator[Layer]:
        return reversed(self._layers)

    def __contains__(self, item: object) -> bool:
        return item in self._layers

    def __add__(self, other: Iterable[Layer]) -> Sequential:
        return Sequential(*self, *_check_sequential(other))

    def __iadd__(self, other: Iterable[Layer]) -> tp.Self:
        self.extend(_check_sequential(other))
        return self

    def append(self, layer: Layer) -> None:
        """Add a layer at the end.

        Args:
            layer (callable): A link or a function.
        """
        self.insert(len(self), layer)

    def add_link(self, link: Layer) -> None:
        """Add a layer at the end.

        Args:
            link (callable): A link or a function.
        """
        self.append(link)

    def extend(self, sequential: Iterable[Layer]) -> None:
        """Add layers at the end.

        Args:
            sequential (iterable of callable): The layers.
        """
        for layer in [_check_layer(layer) for layer in sequential]:
            self._insert(len(self), layer)
        self._rename()

    def insert(self, i: int, layer: Layer) -> None:
        """Insert a layer before an index.

        Args:
            i (int): The index.
            layer (callable): A link or a function.
        """
        if not -len(self) <= i <= len(self):
            raise IndexError(f'Index out of range: {i}')
        self._insert(i if i >= 0 else len(self) + i, _check_layer(layer))
        self._rename()

    def remove(self, layer: Layer) -> None:
        """Remove the first layer that equals the one given.

        Args:
            layer (callable): A link or a function.

        Raises:
            ValueError: If there is none.
        """
        if layer not in self:
            raise ValueError(f'There is no layer object that is same as {layer}')
        del self[self.index(layer)]

    def remove_by_layer_type(self, type_name: str) -> None:
        """Remove all layers of a type, as named by :meth:`count_by_layer_type`.

        Args:
            type_name (str): Of a class or a function.
        """
        for i in reversed(range(len(self))):
            if _type_name(self[i]) == type_name:
                del self[i]

    def pop(self, i: int = -1) -> Layer:
        """Remove the layer at an index.

        Args:
            i (int): The index; negative ones count from the end.

        Returns:
            callable: The layer.
        """
        layer = self[i]
        del self[i]
        return layer

    def clear(self) -> None:
        """Remove all layers."""
        del self[:]

    def index(self, layer: Layer, start: int | None = None, end: int | None = None) -> int:
        """Find a layer.

        Args:
            layer (callable): A link or a function.
            start (int): The index to begin at.
            end (int): The index to end before.

        Returns:
            int: The first index.

        Raises:
            ValueError: If it is not there.
        """
        return self._layers.index(
            layer, 0 if start is None else start, len(self) if end is None else end
        )

    def count(self, layer: Layer) -> int:
        """Count the layers that equal the one given.

        Args:
            layer (callable): A link or a function.

        Returns:
            int: How many.
        """
        return self._layers.count(layer)

    def count_by_layer_type(self, type_name: str) -> int:
        """Count the layers of a type.

        Args:
            type_name (str): Of a class or a function.

        Returns:
            int: How many.
        """
        return sum(_type_name(layer) == type_name for layer in self)

    def flatten(self) -> Sequential:
        """Return a Sequential in which those nested are replaced by their layers."""
        layers: list[Layer] = []
        for layer in self:
            layers += layer.flatten() if isinstance(layer, Sequential) else [layer]
        return Sequential(*layers)

    # -- a link

    def copy(self, mode: str = 'share') -> tp.Self:
        """Copy the links as :meth:`Link.copy` does; layers that are no links are shared.

        Args:
            mode (str): 'share', 'copy' or 'init'.

        Returns:
            Sequential: A new one.
        """
        _check_mode(mode)
        ret = super().copy(mode)
        layers = ret._layers
        ret._layers, ret._children = [], []
        ret.extend(layers)  # numbers the links as if they were added in this order
        return ret

    def _copy_children(self, mode: str) -> None:
        self._layers = [x.copy(mode) if isinstance(x, Link) else x for x in self._layers]

    def _check_fit(self, link: Link, action: str, persistent: bool) -> None:
        if action == 'copyparams' and not isinstance(link, Sequential):
            raise ValueError(
                'Objects other than Sequential object cannot be copied to a Sequential object.'
            )
        super()._check_fit(link, action, persistent)

    def __str__(self) -> str:
        return _tree_str(self, ((str(i), _layer_str(x)) for i, x in enumerate(self._layers)))

    def __reduce__(self) -> str | tuple[object, ...]:
        if any(_is_lambda(layer) for layer in self):
            raise ValueError(
                'This Sequential object has at least one lambda function as its component. A '
                'lambda function can not be pickled: use functools.partial or a named function '
                'instead, or the external package "dill".'
            )
        return copyreg.__newobj__, (type(self),), self.__dict__  # type: ignore[attr-defined]

    # Copies in memory need no pickling of layers, so that lambdas are no obstacle.

    def __copy__(self) -> tp.Self:
        ret = self.__class__.__new__(self.__class__)
        ret.__dict__.update(self.__dict__)
        return ret

    def __deepcopy__(self, memo: dict[int, tp.Any]) -> tp.Self:
        ret = self.__class__.__new__(self.__class__)
        memo[id(self)] = ret
        ret.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return ret


def _check_layer(layer: object) -> Layer:
    if not callable(layer):
        raise ValueError(
            f'All elements of the argument should be callable. But given {layer} is not callable.'
        )
    return layer


def _check_sequential(other: object) -> Sequential:
    if not isinstance(other, Sequential):
        raise ValueError(
            'add (+) operator supports only objects of Sequential class, '
            f'but {type(other)} is given.'
        )
    return other


def _is_lambda(layer: object) -> bool:
    return getattr(layer, '__name__', '') == '<lambda>'


def _type_name(layer: object) -> str:
    return type(layer).__name__ if isinstance(layer, Link) else getattr(layer, '__name__', '')


def _layer_str(layer: tp.Any) -> str:
    if _is_lambda(layer):
        # The code says more than an address, but is not available for functions typed at a prompt.
        try:
            return inspect.getsource(layer).splitlines()[0].strip().rstrip(',')
        except (OSError, TypeError):
            pass
    return str(layer)


Link._repeated = Sequential
