"""Arguments and results of models, and their names."""

from __future__ import annotations

import typing as tp

import chainer
import onnx
from chainerx.onnx._lengths import Lengths

from onnx_chainer import onnx_helper

Nested: tp.TypeAlias = tp.Any


class Inputs:
    """The arguments of a model as Variables.

    Attributes:
        named (dict): The Variables by name, in their order.
        has_free_axes (bool): Whether the length of an axis is open.
    """

    def __init__(self, args: Nested, names: tp.Any, shapes: tp.Any) -> None:
        if not isinstance(args, (list, tuple, dict, chainer.Variable)) and not _is_array(args):
            raise ValueError(
                f'export: args is {type(args).__name__}, expected an array, a Variable, '
                'or a list, tuple or dict of them'
            )
        self._args = _to_variables(args, set())
        variables = list(_flatten(self._args))
        found = _checked_names('input_names', _input_names(args, variables, names))
        self.named = dict(zip(found, variables, strict=True))
        self._shapes = _input_shapes(self._args, variables, shapes)
        self.has_free_axes = any(not isinstance(n, int) for shape in self._shapes for n in shape)

    def call(self, model: tp.Any) -> tp.Any:
        """The result of the model."""
        if isinstance(self._args, dict):
            return model(**self._args)
        if isinstance(self._args, (list, tuple)):
            return model(*self._args)
        return model(self._args)

    def lengths(self) -> Lengths | None:
        """The open axes, if there are any."""
        if not self.has_free_axes:
            return None
        found = Lengths()
        for info, v, shape in zip(self.infos(), self.named.values(), self._shapes, strict=True):
            found.add_input(info, v.shape, shape)
        return found

    def infos(self) -> list[onnx.ValueInfoProto]:
        """The inputs as the file has them."""
        return [
            onnx.helper.make_tensor_value_info(name, onnx_helper.elem_type(v.dtype), shape)
            for (name, v), shape in zip(self.named.items(), self._shapes, strict=True)
        ]


def _is_array(value: object) -> bool:
    return isinstance(value, chainer.get_array_types())


def _to_variables(value: Nested, seen: set[int]) -> Nested:
    """The argument with Variables in place of arrays; one that is there twice becomes two."""
    if isinstance(value, (list, tuple)):
        return like(value, [_to_variables(x, seen) for x in value])
    if isinstance(value, dict):
        return {name: _to_variables(x, seen) for name, x in value.items()}
    if isinstance(value, chainer.Variable):
        if value.array is None:
            raise ValueError('export: args has a Variable or Parameter that is not initialized')
        if id(value) not in seen:
            seen.add(id(value))
            return value
        return chainer.Variable(value.array)
    if not _is_array(value):
        raise ValueError(
            f'export: args has {type(value).__name__} in it, expected arrays and Variables'
        )
    return chainer.Variable(value)


def like(value: tp.Any, elements: list[tp.Any]) -> tp.Any:
    """A list or tuple of the kind of another, which may be a named tuple."""
    return type(value)(*elements) if hasattr(value, '_fields') else type(value)(elements)


def _checked_names(argument: str, names: tp.Iterable[tp.Any]) -> list[str]:
    found = list(names)
    for name in found:
        if not isinstance(name, str):
            raise TypeError(f'export: {argument} has {name!r}, expected str')
        if not name:
            raise ValueError(f'export: {argument} has an empty name')
    if len(set(found)) != len(found):
        raise ValueError(f'export: {argument} has a name twice: {found}')
    return found


def _check_kind(argument: str, value: tp.Any, kinds: tuple[type, ...]) -> None:
    if not isinstance(value, kinds):
        expected = ', '.join(kind.__name__ for kind in kinds)
        raise TypeError(f'export: {argument} is {type(value).__name__}, expected one of {expected}')


def _flatten(value: Nested) -> tp.Iterator[chainer.Variable]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for x in value:
            yield from _flatten(x)
    else:
        yield value


def _input_names(args: Nested, variables: list[chainer.Variable], names: tp.Any) -> list[str]:
    if isinstance(names, dict) and isinstance(args, dict):
        unknown = set(names) - set(args)
        if unknown:
            raise ValueError(f'export: input_names has {sorted(unknown)}, args has {list(args)}')
        found: list[str] = []
        for key, value in args.items():
            flat = list(_flatten(_to_variables(value, set())))
            name = str(names.get(key, key))
            found += [name] if len(flat) == 1 else [f'{name}_{i}' for i in range(len(flat))]
        return found
    if isinstance(names, dict):
        names = list(names.values())
    if isinstance(names, str):
        names = [names]
    if names is None:
        return [f'Input_{i}' for i in range(len(variables))]
    _check_kind('input_names', names, (str, list, tuple, dict))
    if len(names) != len(variables):
        raise ValueError(
            f'export: input_names has {len(names)} names, args has {len(variables)} arrays'
        )
    return list(names)


def _input_shapes(
    args: Nested, variables: list[chainer.Variable], shapes: tp.Any
) -> list[tuple[int | str | None, ...]]:
    if shapes is None:
        return [tuple(v.shape) for v in variables]
    _check_kind('input_shapes', shapes, (list, tuple, dict))
    if isinstance(shapes, dict):
        if not isinstance(args, dict):
            raise ValueError('export: input_shapes is a dict, args is not')
        unknown = set(shapes) - set(args)
        if unknown:
            raise ValueError(f'export: input_shapes has {sorted(unknown)}, args has {list(args)}')
        shapes = [shapes.get(name, getattr(x, 'shape', None)) for name, x in args.items()]
    elif len(variables) == 1 and all(n is None or isinstance(n, (int, str)) for n in shapes):
        shapes = [shapes]
    shapes = list(shapes)
    for shape in shapes:
        _check_kind('input_shapes: a shape', shape, (list, tuple))
        for n in shape:
            if n is not None and not isinstance(n, (int, str)):
                raise TypeError(f'export: input_shapes has {n!r}, expected int, str or None')
    if len(shapes) != len(variables):
        raise ValueError(
            f'export: input_shapes has {len(shapes)} shapes, args has {len(variables)} arrays'
        )
    for shape, v in zip(shapes, variables, strict=True):
        fits = len(shape) == len(v.shape) and all(
            not isinstance(n, int) or n == m for n, m in zip(shape, v.shape, strict=True)
        )
        if not fits:
            raise ValueError(
                f'export: input_shapes has {tuple(shape)} for an argument of shape {v.shape}'
            )
    return [tuple(shape) for shape in shapes]


def named_outputs(
    found: tp.Any, names: tp.Any
) -> dict[str, chainer.Variable] | list[chainer.Variable]:
    """The results of a model: by name, where there are names; else a list."""
    keys: list[str] | None = None
    if isinstance(found, chainer.Variable):
        found = [found]
    elif isinstance(found, dict):
        keys = []
        for key, value in found.items():
            n = len(list(_flatten(value)))
            is_one = not isinstance(value, (list, tuple, dict))
            keys += [str(key)] if is_one else [f'{key}_{i}' for i in range(n)]
        found = list(_flatten(found))
    elif isinstance(found, (list, tuple)):
        found = list(_flatten(found))
    else:
        raise ValueError(
            f'export: the model returned {type(found).__name__}, '
            'expected a Variable, or a list, tuple or dict of them'
        )
    if not found:
        raise ValueError('export: the model returned no Variables')
    for v in found:
        if not isinstance(v, chainer.Variable):
            raise ValueError(
                f'export: the model returned {type(v).__name__} among its outputs, '
                'expected Variables'
            )
        if v.array is None:
            raise ValueError('export: the model returned a Variable that is not initialized')
    if isinstance(names, dict):
        if keys is None or set(names) != set(keys):
            raise ValueError(f'export: output_names has {sorted(names)}, the outputs are {keys}')
        names = [names[k] for k in keys]
    if isinstance(names, str):
        names = [names]
    if names is None:
        # Keys of a dict may be no names; v7 has numbered outputs.
        return found
    _check_kind('output_names', names, (str, list, tuple, dict))
    if len(names) != len(found):
        raise ValueError(
            f'export: output_names has {len(names)} names, the model has {len(found)} outputs'
        )
    return dict(zip(_checked_names('output_names', names), found, strict=True))
