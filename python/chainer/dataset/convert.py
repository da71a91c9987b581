"""Lists of examples as arrays."""

from __future__ import annotations

import contextlib
import typing as tp

import chainerx
import numpy as np

from chainer import backend
from chainer.backends import cuda
from chainer.dataset import _blocks

if tp.TYPE_CHECKING:
    from chainer._typing import AnyCallable, ArrayLike, DeviceSpec, Example, NdArray


class Converter:
    """Base of converters, which make arrays of a minibatch.

    A function that takes a minibatch and a device is a converter with `converter` as its decorator.
    One without gets the number of a GPU, or -1, for the device: so it was before v6.
    """

    def __call__(self, batch: list[Example], device: DeviceSpec) -> tp.Any:
        """Makes arrays. Overridden.

        Args:
            batch (list): The examples.
            device (Device): Where arrays are brought; None leaves them.
        """
        raise NotImplementedError(f'{type(self).__name__}.__call__ is not implemented')


class _FunctionConverter(Converter):
    """A function as a converter."""

    def __init__(self, function: AnyCallable) -> None:
        self._function = function
        self.__doc__ = function.__doc__
        self.__wrapped__ = function  # whose signature is shown
        self.__name__ = getattr(function, '__name__', type(self).__name__)
        self.__module__ = getattr(function, '__module__', __name__)
        self.__qualname__ = getattr(function, '__qualname__', self.__name__)

    def __call__(self, *args: tp.Any, **kwargs: object) -> tp.Any:
        return self._function(*args, **kwargs)

    def __reduce__(self) -> str:
        # By name, under which the decorated function would not be found.
        return self.__qualname__


def converter() -> tp.Callable[[AnyCallable], Converter]:
    """A decorator that makes a converter of a function of a minibatch and a device.

    Returns:
        callable: It takes the function and returns a `Converter`.

    >>> import chainer
    >>> @chainer.dataset.converter()
    ... def to_arrays(batch, device):
    ...     return device.send(np.array(batch))
    """
    return _FunctionConverter


class Converted:
    """A minibatch that consists of arrays already, so that no converter is called.

    Args:
        arrays: The result of a converter.
    """

    def __init__(self, arrays: tp.Any) -> None:
        self.arrays = arrays

    def __getitem__(self, index: tp.Any) -> tp.NoReturn:
        raise TypeError(
            'this minibatch is arrays on a device already; an updater for several devices takes '
            'lists of examples, of an iterator without prefetch to a device'
        )


def call_converter(
    converter: AnyCallable, batch: list[Example], device: backend.Device | None
) -> tp.Any:
    """Calls a converter with the device argument that it expects; not for a `Converted`.

    Args:
        converter (callable): A `Converter`, or a function as before v6, which expects the number of
            a GPU, -1 for the CPU.
        batch (list): The examples.
        device (Device): Where to; None leaves them where they are.
    """
    if isinstance(batch, Converted):
        return batch.arrays
    if device is not None and not isinstance(converter, Converter):
        if isinstance(device, backend.GpuDevice):
            return converter(batch, device.device.id)
        if isinstance(device, backend.CpuDevice):
            return converter(batch, -1)
    return converter(batch, device)


# Updaters and evaluators of users, written after those of v7, call it by this name.
_call_converter = call_converter


def to_device(device: DeviceSpec, x: NdArray) -> NdArray:
    """Brings an array to a device.

    Args:
        device: Any argument of `chainer.get_device`; None leaves it.
        x (array): Of any kind.

    Returns:
        array: The same values, there.
    """
    return x if device is None else backend.get_device(device).send(x)


def _concat_examples(
    batch: list[Example], device: DeviceSpec | None = None, padding: object = None
) -> tp.Any:
    """Makes arrays of a list of examples: each has one more dimension in front.

    Of tuples, the result is a tuple, of dicts a dict, of arrays or numbers one array. Arrays that
    `MultiprocessIterator` has put side by side in memory are not copied: the result is that memory.

    Args:
        batch (list): The examples.
        device: Where arrays are brought; any argument of `chainer.get_device`. None leaves them.
        padding: Where arrays have several shapes, the value that pads them to the largest; for
            tuples or dicts of arrays also a tuple or a dict of such values, None where none is
            wanted.

    Returns:
        array, tuple or dict: The arrays.

    Raises:
        ValueError: For an empty batch, examples of several structures, a key that is missing, and
            shapes that differ without padding.
    """
    if len(batch) == 0:
        raise ValueError('concat_examples: batch is empty')
    first = batch[0]
    if isinstance(first, tuple):
        paddings = padding if isinstance(padding, tuple) else (padding,) * len(first)
        if len(paddings) < len(first):
            raise ValueError(
                f'concat_examples: {len(paddings)} values of padding for tuples of {len(first)}'
            )
        for i, example in enumerate(batch):
            if not isinstance(example, tuple | list) or len(example) != len(first):
                raise ValueError(
                    f'concat_examples: example 0 is a tuple of {len(first)}, example {i} is not'
                )
        columns = zip(*batch, strict=True)
        return tuple(
            to_device(device, _concat(list(column), fill, str(i)))
            for i, (column, fill) in enumerate(zip(columns, paddings, strict=False))
        )
    if isinstance(first, dict):
        result = {}
        for key in first:
            fill = _value(padding, key, 'padding') if isinstance(padding, dict) else padding
            column = [_value(example, key, f'example {i}') for i, example in enumerate(batch)]
            result[key] = to_device(device, _concat(column, fill, repr(key)))
        return result
    return to_device(device, _concat(batch, padding, ''))


def concat_columns(column: tp.Any) -> tp.Any:
    """An array of a list of values of one column; an array as it is."""
    if isinstance(column, np.ndarray | chainerx.ndarray | cuda.ndarray):
        return column
    return _concat(column, None, '') if len(column) else np.asarray(column)


def _value(values: tp.Any, key: tp.Any, name: str) -> tp.Any:
    try:
        return values[key]
    except (LookupError, TypeError, ValueError):
        raise ValueError(f'concat_examples: {name} has no {key!r}: {values!r}') from None


concat_examples = _FunctionConverter(_concat_examples)
concat_examples.__name__ = concat_examples.__qualname__ = 'concat_examples'


_KINDS: tp.Final = np.ndarray, chainerx.ndarray, cuda.ndarray


def _concat(arrays: tp.Sequence[ArrayLike], padding: object, name: str) -> NdArray:
    """One array of the values of a column."""
    try:
        return _concat_alike(arrays, padding, name)
    except AttributeError:
        part = f' ({name})' if name else ''
        for i, array in enumerate(arrays):
            if isinstance(arrays[0], _KINDS) and not isinstance(array, _KINDS):
                raise TypeError(
                    f'concat_examples: example 0{part} is an array, example {i} is not: {array!r}'
                ) from None
        raise


def _concat_arrays(arrays: tp.Sequence[ArrayLike], padding: object) -> NdArray:
    """A name that chainer-chemistry, chainer-mask-rcnn and others take from here."""
    return _concat(arrays, padding, '')


_concat_arrays_with_padding = _concat_arrays


def _concat_alike(arrays: tp.Any, padding: tp.Any, name: str) -> NdArray:
    first = arrays[0]
    if not isinstance(first, _KINDS):
        if padding is None and type(first) in (int, float, bool):
            with contextlib.suppress(ValueError):  # said below, by name
                column = np.array(arrays)
                if column.ndim == 1:
                    return column
        arrays = [np.asarray(x) for x in arrays]
        first = arrays[0]
    if padding is None:
        _check_shapes(arrays, first.shape, name)
        if type(first) is np.ndarray:
            joined = _blocks.join(arrays)
            return np.concatenate([array[None] for array in arrays]) if joined is None else joined
    device = backend.get_device_from_array(first)
    with backend.using_device(device):
        if padding is None:
            return device.xp.stack(arrays)
        if any(array.ndim != first.ndim for array in arrays):
            raise ValueError(
                f'concat_examples: padding fits no arrays of {sorted({a.ndim for a in arrays})} '
                'dimensions together'
            )
        largest = tuple(max(dims) for dims in zip(*(a.shape for a in arrays), strict=True))
        result = device.xp.full((len(arrays), *largest), padding, dtype=first.dtype)
        for i, array in enumerate(arrays):
            result[(i, *(slice(n) for n in array.shape))] = array
        return result


def _check_shapes(arrays: tp.Sequence[NdArray], shape: tuple[int, ...], name: str) -> None:
    for i, array in enumerate(arrays):
        if array.shape != shape:
            part = f' ({name})' if name else ''
            raise ValueError(
                f'concat_examples: example 0{part} has shape {shape}, example {i} has '
                f'{array.shape}; padding= fills them up'
            )


class ConcatWithAsyncTransfer:
    """`concat_examples` that copies to a GPU beside computation, where CuPy has streams.

    For a device of another kind, and without CuPy, it is `concat_examples`.

    Args:
        stream (cupy.cuda.Stream): On which arrays are copied; default: one of its own for each
            device.
        compute_stream (cupy.cuda.Stream): On which they are used; default: the current stream of a
            call.
    """

    def __init__(self, stream: tp.Any = None, compute_stream: tp.Any = None) -> None:
        self._stream = stream
        self._streams: dict[str, tp.Any] = {}
        self._compute_stream = compute_stream

    def __call__(
        self, batch: list[Example], device: DeviceSpec | None = None, padding: tp.Any = None
    ) -> tp.Any:
        """Makes arrays of a list of examples; see `concat_examples`."""
        target = None if device is None else backend.get_device(device)
        if not isinstance(target, backend.GpuDevice):
            return _concat_examples(batch, target, padding)
        arrays = _concat_examples(batch, None, padding)
        with backend.using_device(target):
            stream = self._stream or self._streams.get(target.name)
            if stream is None:
                stream = self._streams[target.name] = cuda.Stream(non_blocking=True)
            compute = self._compute_stream
            if compute is None:
                compute = cuda.cupy.cuda.get_current_stream()
            # Memory that was just freed may still be in use on the stream of computation.
            stream.wait_event(compute.record())
            with stream:
                if isinstance(arrays, dict):
                    moved: tp.Any = {key: cuda.to_gpu(a) for key, a in arrays.items()}
                else:
                    moved = cuda.to_gpu(arrays)  # of a tuple, each
            compute.wait_event(stream.record())
        return moved
