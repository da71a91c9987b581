"""Kernels of the user's own: expressions per element, reductions, and CUDA C++ as it is.

The syntax is that of CuPy's kernels of these names, so that code which was written for
``chainer.backends.cuda.elementwise`` and kin works on arrays of ``cuda:`` devices.
"""

from __future__ import annotations

import functools
import math
import operator
import typing as tp

from chainerx import _core
from chainerx._core import _cuda
from chainerx.cuda import _sources
from chainerx.cuda._operands import (
    SCALARS,
    Call,
    Operand,
    align,
    arrays_of,
    copy_overlapping,
    find_device,
    merge_shapes,
    normalize_axes,
    pack_address,
    pack_ints,
    pack_operands,
    pack_scalar,
    scalar_dtype,
    variables_of,
)

_MAX_BLOCKS = 2**31 - 1
#: Of a block, as in custom.h.
_THREADS = 256


#: The names of the kernels that were compiled, in order.
compiled: list[str] = []


def _compile(name: str, text: str, options: tuple[str, ...], device: tp.Any) -> _cuda.Kernel:
    compiled.append(name)
    return _cuda.Kernel(name, text, options, device)


class _Kernel:
    """What the kernels of expressions share: parameters, and compiled variants."""

    def __init__(self, in_params: str, out_params: str, name: str, options: tp.Iterable[str]):
        if not name.isidentifier():
            raise ValueError(f'name is {name!r}, expected an identifier of C')
        self.name = name
        self.in_params = _sources.parse_params(name, in_params)
        self.out_params = _sources.parse_params(name, out_params)
        _sources.check_names(name, self.in_params + self.out_params)
        self.nin = len(self.in_params)
        self.nout = len(self.out_params)
        if self.nout == 0:
            raise ValueError(f'{name}: it has no output')
        self.options = tuple(options)
        self._compiled: dict[tp.Any, tp.Any] = {}

    def __repr__(self) -> str:
        return f'<chainerx.cuda.{type(self).__name__} {self.name}>'

    def _split(self, args: tp.Sequence[tp.Any]) -> tuple[list[tp.Any], list[tp.Any]]:
        if len(args) not in (self.nin, self.nin + self.nout):
            raise TypeError(
                f'{self.name}: {len(args)} arguments, expected {self.nin}, or '
                f'{self.nin + self.nout} with the outputs'
            )
        outs = list(args[self.nin :]) or [None] * self.nout
        return list(args[: self.nin]), outs

    def _call(self, args: tp.Sequence[tp.Any]) -> tuple[Call, list[tp.Any]]:
        ins, outs = self._split(args)
        given = [(p, x) for p, x in zip(self.out_params, outs, strict=True) if x is not None]
        params = self.in_params + [p for p, _ in given]
        call = Call(self.name, params, ins + [x for _, x in given])
        del call.operands[self.nin :]
        return call, outs

    def _compile(self, call: Call, key: tp.Any, write: tp.Callable[[], str]) -> tp.Any:
        key = (call.device.name, key)
        if key not in self._compiled:
            self._compiled[key] = _compile(self.name, write(), self.options, call.device)
        return self._compiled[key]

    def _run(
        self, kernel: tp.Any, blocks: int, params: bytes, operands: tp.Sequence[Operand]
    ) -> None:
        """Launches; the outputs come last."""
        grid = (min(blocks, _MAX_BLOCKS), 1, 1)
        kernel.launch(grid, (_THREADS, 1, 1), 0, params, arrays_of(operands), self.nout)


class ElementwiseKernel(_Kernel):
    """A kernel that computes each element of its outputs by statements in C++.

    Parameters
    ----------
    in_params, out_params : str
        Types and names, as in ``'T x, float32 y, raw int32 z'``. A type is a dtype's name or a
        letter, which stands for the dtype of the arrays that are given. Arrays are broadcast, and a
        name is the element; of ``raw`` arrays it is the array, to be indexed in C order.
    operation : str
        Statements. ``i`` is the position of the element, ``n`` the number of them.
    name : str
        Of the kernel, in messages and profiles.
    preamble : str
        C++ before the kernel.
    options : sequence of str
        Of NVRTC.

    Raises
    ------
    chainerx.BackendError
        At the first call, if it does not compile: with NVRTC's log.

    Notes
    -----
    float16 and bfloat16 are computed as float. Not differentiable: results are in no graph. Indices
    of ``raw`` arrays are not checked.
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = 'kernel',
        reduce_dims: bool = True,
        preamble: str = '',
        no_return: bool = False,
        return_tuple: bool = False,
        loop_prep: str = '',
        after_loop: str = '',
        options: tp.Iterable[str] = (),
    ):
        super().__init__(in_params, out_params, name, options)
        self.operation = operation
        self.preamble = preamble
        self.no_return = no_return
        self.return_tuple = return_tuple
        self.loop_prep = loop_prep
        self.after_loop = after_loop

    def __call__(self, *args: tp.Any, size: int | None = None, block_size: int = 128) -> tp.Any:
        """Computes.

        Parameters
        ----------
        *args : ndarray or scalar
            The inputs; and the outputs, if they are to be written to given arrays.
        size : int
            The number of elements, if all arrays are raw.
        block_size : int
            Has no effect.

        Returns
        -------
        ndarray or tuple of ndarrays
            The outputs.
        """
        call, outs = self._call(args)
        given = [
            call.operand(p, x)
            for p, x in zip(self.out_params, outs, strict=True)
            if isinstance(x, _core.ndarray)
        ]
        shape = merge_shapes(self.name, call.operands + given)
        is_shaped = any(o.array is not None and not o.param.is_raw for o in call.operands + given)
        if size is not None:
            if is_shaped:
                raise ValueError(f'{self.name}: size is {size}, but arrays say the size')
            shape = (size,)
        elif not is_shaped and all(p.is_raw for p in self.in_params) and self.in_params:
            raise ValueError(f'{self.name}: all arrays are raw, so size must be given')
        outputs = [call.output(p, x, shape) for p, x in zip(self.out_params, outs, strict=True)]
        operands = copy_overlapping(call.operands, outputs, by_element=True) + outputs
        count = math.prod(shape)
        if count > 0:
            self._launch(call, operands, shape, count)
        if self.no_return:
            return None
        arrays = arrays_of(outputs)
        return arrays[0] if self.nout == 1 and not self.return_tuple else tuple(arrays)

    def _launch(
        self, call: Call, operands: list[Operand], shape: tuple[int, ...], count: int
    ) -> None:
        is_flat = all(
            o.array is None or o.param.is_raw or (o.array.shape == shape and o.array.is_contiguous)
            for o in operands
        )
        variables = variables_of(operands)
        kernel = self._compile(
            call,
            (is_flat, len(shape), *variables),
            lambda: _sources.write_elementwise(self, variables, len(shape), is_flat),
        )
        params = pack_ints([count] if is_flat else [count, *shape])
        params += pack_operands(operands, shape, is_flat)
        blocks = -(-count // _THREADS)
        self._run(kernel, blocks, params, operands)


class ReductionKernel(_Kernel):
    """A kernel that maps elements, reduces them along axes, and maps the results.

    Parameters
    ----------
    in_params, out_params : str
        As for :class:`ElementwiseKernel`.
    map_expr : str
        The expression that is reduced, of the inputs.
        ``_J`` is the position along the reduced axes, ``_j`` that in the whole array if all axes
        are reduced.
    reduce_expr : str
        The combination of two values, ``a`` and ``b``.
    post_map_expr : str
        Statements that set the outputs by the result ``a``; scalars and raw arrays are there, too.
    identity : str
        The result of nothing; None if there is no such thing.
    name : str
        Of the kernel, in messages and profiles.
    reduce_type : str
        The type in which values are reduced, in C++; that of the first output by default.
    preamble : str
        C++ before the kernel.
    options : sequence of str
        Of NVRTC.

    Notes
    -----
    A block of threads reduces for one output, in an order that is always the same. float16 and
    bfloat16 are computed as float. Not differentiable: results are in no graph.
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str,
        identity: tp.Any,
        name: str = 'reduce_kernel',
        reduce_type: str | None = None,
        reduce_dims: bool = True,
        preamble: str = '',
        options: tp.Iterable[str] = (),
    ):
        super().__init__(in_params, out_params, name, options)
        if any(p.is_raw for p in self.out_params):
            raise ValueError(f'{name}: an output of a reduction is raw')
        self.map_expr = map_expr
        self.reduce_expr = reduce_expr
        self.post_map_expr = post_map_expr
        self.identity = identity
        self.reduce_type = reduce_type
        self.preamble = preamble

    def __call__(
        self, *args: tp.Any, out: tp.Any = None, axis: tp.Any = None, keepdims: bool = False
    ) -> tp.Any:
        """Computes.

        Parameters
        ----------
        *args : ndarray or scalar
            The inputs; and the outputs, if they are to be written to given arrays.
        out : ndarray
            The output, if there is one, in another way.
        axis : int or tuple of ints
            The axes that are reduced; all by default.
        keepdims : bool
            Whether they stay, with length 1.

        Returns
        -------
        ndarray or tuple of ndarrays
            The outputs.
        """
        if out is not None:
            if self.nout != 1 or len(args) != self.nin:
                raise TypeError(f'{self.name}: out is given besides other outputs')
            args = (*args, out)
        call, outs = self._call(args)
        shape = merge_shapes(self.name, call.operands)
        axes = normalize_axes(self.name, axis, len(shape))
        kept = tuple(d for d in range(len(shape)) if d not in axes)
        out_shape = tuple(shape[d] for d in kept)
        if keepdims:
            out_shape = tuple(1 if d in axes else n for d, n in enumerate(shape))
        outputs = [call.output(p, x, out_shape) for p, x in zip(self.out_params, outs, strict=True)]
        reduced = math.prod(shape[d] for d in axes)
        if reduced == 0 and self.identity is None:
            raise ValueError(f'{self.name}: a reduction of nothing, which has no identity')
        if math.prod(out_shape) > 0:
            call.operands = copy_overlapping(call.operands, outputs, by_element=False)
            self._launch(call, outputs, shape, kept, axes)
        arrays = arrays_of(outputs)
        return arrays[0] if self.nout == 1 else tuple(arrays)

    def _launch(
        self,
        call: Call,
        outputs: list[Operand],
        shape: tuple[int, ...],
        kept: tuple[int, ...],
        axes: tuple[int, ...],
    ) -> None:
        order = kept + axes  # the reduced axes come last
        ordered = tuple(shape[d] for d in order)
        moved = [
            o
            if o.array is None or o.param.is_raw
            else o._replace(array=_core.broadcast_to(o.array, shape).transpose(order))
            for o in call.operands
        ]
        kept_shape = ordered[: len(kept)]
        squeezed = [
            o
            if o.array is None or o.array.ndim == len(kept)
            else o._replace(array=o.array.squeeze(axes))
            for o in outputs
        ]
        variables = (variables_of(moved), variables_of(squeezed))
        kernel = self._compile(
            call,
            (len(kept), len(axes), *variables[0], *variables[1]),
            lambda: _sources.write_reduction(self, *variables, len(kept), len(axes)),
        )
        blocks = math.prod(kept_shape)
        reduced = math.prod(ordered[len(kept) :])
        params = pack_ints([blocks, reduced, *ordered]) + pack_operands(moved, ordered, False)
        params += pack_operands(squeezed, kept_shape, False)
        self._run(kernel, blocks, params, [*moved, *squeezed])


class RawKernel:
    """A kernel in CUDA C++.

    Parameters
    ----------
    code : str
        The source, with a function ``extern "C" __global__``.
    name : str
        That function's name.
    options : sequence of str
        Of NVRTC.

    Raises
    ------
    chainerx.BackendError
        At the first call, if it does not compile: with NVRTC's log.

    Notes
    -----
    What the kernel does is not checked: a bad address ends the use of the GPU by this process.
    """

    def __init__(
        self,
        code: str,
        name: str,
        options: tp.Iterable[str] = (),
        backend: str = 'nvrtc',
        **others: object,
    ):
        unknown = others.keys() - {'translate_cucomplex', 'enable_cooperative_groups', 'jitify'}
        if unknown:
            raise TypeError(f'{name}: unexpected arguments {", ".join(sorted(unknown))}')
        if backend != 'nvrtc' or any(others.values()):
            raise NotImplementedError(f'{name}: only NVRTC is supported, without further options')
        self.code = code
        self.name = name
        self.options = tuple(options)
        self._compiled: dict[str, tp.Any] = {}

    def __repr__(self) -> str:
        return f'<chainerx.cuda.RawKernel {self.name}>'

    def __call__(
        self,
        grid: tp.Sequence[int],
        block: tp.Sequence[int],
        args: tp.Sequence[tp.Any],
        *,
        shared_mem: int = 0,
    ) -> None:
        """Queues the kernel to the current stream.

        Parameters
        ----------
        grid, block : tuple of ints
            How many blocks, and threads of a block, in up to three dimensions.
        args : sequence
            Arrays of one GPU, as pointers to their first elements, and numbers: those of NumPy in
            their dtype, those of Python as ``long long``, ``double`` or ``bool``.
        shared_mem : int
            Bytes of dynamic shared memory.
        """
        arrays = [x for x in args if isinstance(x, _core.ndarray)]
        device = find_device(self.name, arrays)
        params = b''
        for index, x in enumerate(args):
            if isinstance(x, _core.ndarray):
                data, alignment = pack_address(x), 8
            elif isinstance(x, SCALARS):
                dtype = scalar_dtype(x)
                data = pack_scalar(x, dtype)
                alignment = min(len(data), 8)
            else:
                raise TypeError(
                    f'{self.name}: argument {index} is a {type(x).__name__}, expected a '
                    'chainerx.ndarray or a number'
                )
            params = align(params, alignment) + data
        if device.name not in self._compiled:
            self._compiled[device.name] = _compile(self.name, self.code, self.options, device)
        blocks, threads = _three(self.name, 'grid', grid), _three(self.name, 'block', block)
        if math.prod(blocks) > 0:
            kernel = self._compiled[device.name]
            kernel.launch(blocks, threads, shared_mem, params, arrays, 0)


def _three(kernel: str, what: str, sizes: tp.Sequence[int]) -> tuple[int, int, int]:
    if not 1 <= len(sizes) <= 3 or min(sizes) < 0:
        raise ValueError(f'{kernel}: {what} is {tuple(sizes)}, expected one to three sizes')
    first, second, third = (*map(operator.index, sizes), 1, 1)[:3]
    return first, second, third


def elementwise(
    in_params: str, out_params: str, operation: str, name: str, **kwargs: tp.Any
) -> ElementwiseKernel:
    """Returns an :class:`ElementwiseKernel`, the same one for the same arguments."""
    return _remember(ElementwiseKernel, in_params, out_params, operation, name, **kwargs)


def reduce(
    in_params: str,
    out_params: str,
    map_expr: str,
    reduce_expr: str,
    post_map_expr: str,
    identity: tp.Any,
    name: str,
    **kwargs: tp.Any,
) -> ReductionKernel:
    """Returns a :class:`ReductionKernel`, the same one for the same arguments."""
    texts = (in_params, out_params, map_expr, reduce_expr, post_map_expr)
    return _remember(ReductionKernel, *texts, identity, name, **kwargs)


def raw(code: str, name: str, *args: tp.Any, **kwargs: tp.Any) -> RawKernel:
    """Returns a :class:`RawKernel`, the same one for the same arguments."""
    return _remember(RawKernel, code, name, *args, **kwargs)


@functools.cache
def _remember(kind: tp.Any, *args: tp.Any, **kwargs: tp.Any) -> tp.Any:
    return kind(*args, **kwargs)
