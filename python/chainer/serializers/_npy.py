"""The array format inside an npz file: strict, without pickle."""

from __future__ import annotations

import pickletools
import re
import typing as tp

import numpy as np

from chainer.serializers import _values

_MAGIC: tp.Final = b'\x93NUMPY'
_MAX_HEADER: tp.Final = 10_000
# A pattern rather than `ast.literal_eval`, which nested brackets can crash.
_HEADER: tp.Final = re.compile(
    r"\s*\{\s*'descr':\s*'([<>|=]?[A-Za-z?]\d*)'\s*,\s*'fortran_order':\s*(True|False)\s*,"
    r"\s*'shape':\s*\(([0-9L,\s]{0,700})\)\s*,?\s*\}\s*"
)

# None as v7 stored it: the pickle of an array that holds None. NumPy 2 would write names in it
# that the versions of NumPy which v7 runs on do not know.
NONE: tp.Final = (
    b"\x93NUMPY\x01\x00v\x00{'descr': '|O', 'fortran_order': False, 'shape': (), }"
    + b' ' * 63
    + b'\n\x80\x03cnumpy.core.multiarray\n_reconstruct\nq\x00cnumpy\nndarray\nq\x01K\x00\x85q\x02'
    b'C\x01bq\x03\x87q\x04Rq\x05(K\x01)cnumpy\ndtype\nq\x06X\x02\x00\x00\x00O8q\x07\x89\x88\x87'
    b'q\x08Rq\t(K\x03X\x01\x00\x00\x00|q\nNNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK?tq\x0bb\x89]q'
    b'\x0cNatq\rb.'
)
MAX_NONE: tp.Final = 1024


class Header(tp.NamedTuple):
    dtype: np.dtype
    shape: tuple[int, ...]
    fortran: bool
    length: int


def read_header(stream: tp.IO[bytes]) -> Header:
    """Reads the start of a member; the data follow.

    Raises:
        ValueError: If it is damaged, or no array of numbers, strings or None.
    """
    start = stream.read(8)
    if len(start) < 8 or start[:6] != _MAGIC or start[6] not in (1, 2, 3):
        raise ValueError('it is no array in the format of NumPy')
    width = 2 if start[6] == 1 else 4
    size = stream.read(width)
    length = int.from_bytes(size, 'little')
    if len(size) < width or length > _MAX_HEADER:
        raise ValueError(f'its header claims {length} bytes, at most {_MAX_HEADER} are allowed')
    text = stream.read(length)
    if len(text) < length:
        raise ValueError('it ends within its header')
    match = _HEADER.fullmatch(text.decode('latin1'))
    if match is None:
        raise ValueError(f'its header is none of a plain array: {text[:100]!r}')
    descr, fortran, dims = match.groups()
    try:
        dtype = np.dtype(descr)
    except TypeError:
        raise ValueError(f'its dtype {descr!r} is unknown') from None
    if dtype.kind not in 'biufcSUVO' or (dtype.kind == 'V' and dtype.itemsize != 2):
        raise ValueError(f'its dtype {descr!r} is none that is saved')
    if dtype.kind == 'V':
        dtype = _values.bfloat16()  # NumPy writes no name for it
    shape = tuple(int(n) for n in re.findall(r'[0-9]+', dims))
    _values.n_bytes(dtype, shape)
    return Header(dtype, shape, fortran == 'True', 8 + width + length)


def check_none(payload: bytes) -> None:
    """Checks that a pickle is that of an array of no dimensions that holds None.

    The pickle is read, never run: its steps are put together as plain tuples and compared.

    Raises:
        ValueError: If it is anything else.
    """
    try:
        parsed = _parse(payload)
    except Exception:  # whatever is wrong with it, the answer is the same
        parsed = None
    if parsed is None or parsed != _OF_NONE:
        raise ValueError(
            'it is an array of objects, which is stored as a pickle, and loading a pickle can run '
            'any code. Only None is accepted'
        )


def _parse(payload: bytes) -> tp.Any:
    if len(payload) > MAX_NONE:
        raise ValueError
    stack: list[tp.Any] = []
    memo: dict[int, tp.Any] = {}

    def take(n: int) -> tuple[tp.Any, ...]:
        if n > len(stack):
            raise ValueError
        items = tuple(stack[len(stack) - n :])
        del stack[len(stack) - n :]
        return items

    end = 0
    steps: tp.Iterator[tuple[tp.Any, tp.Any, tp.Any]] = pickletools.genops(payload)
    for op, argument, position in steps:
        name = op.name
        if name in ('PROTO', 'FRAME'):
            pass
        elif name in ('PUT', 'BINPUT', 'LONG_BINPUT'):
            memo[argument] = stack[-1]
        elif name == 'MEMOIZE':
            memo[len(memo)] = stack[-1]
        elif name in ('GET', 'BINGET', 'LONG_BINGET'):
            stack.append(memo[argument])
        elif name == 'GLOBAL':
            stack.append(('global', *argument.replace('numpy._core', 'numpy.core').split(' ')))
        elif name == 'STACK_GLOBAL':
            module, attribute = take(2)
            stack.append(('global', module.replace('numpy._core', 'numpy.core'), attribute))
        elif name in ('NONE', 'NEWTRUE', 'NEWFALSE'):
            stack.append({'NONE': None, 'NEWTRUE': True, 'NEWFALSE': False}[name])
        elif name in ('MARK', 'EMPTY_TUPLE', 'EMPTY_LIST'):
            stack.append({'MARK': _MARK, 'EMPTY_TUPLE': (), 'EMPTY_LIST': ('list',)}[name])
        elif name in ('TUPLE1', 'TUPLE2', 'TUPLE3'):
            stack.append(take(int(name[-1])))
        elif name == 'TUPLE':
            items = take(stack[::-1].index(_MARK))
            stack[-1] = items
        elif name == 'APPEND':
            (item,) = take(1)
            stack[-1] = (*stack[-1], item)
        elif name == 'REDUCE':
            function, arguments = take(2)
            is_bytes = function == ('global', '_codecs', 'encode')  # of protocol 2
            stack.append(arguments[0] if is_bytes else ('call', function, arguments))
        elif name == 'BUILD':
            stack.append(('state', *take(2)))
        elif name == 'STOP':
            end = position + 1
        elif isinstance(argument, bytes | str):
            stack.append(argument if isinstance(argument, str) else argument.decode('latin1'))
        elif isinstance(argument, int):
            stack.append(argument)
        else:
            raise ValueError
    (result,) = stack
    return result if end == len(payload) else None


_MARK: tp.Final = object()
_OF_NONE: tp.Final = _parse(NONE[128:])
