"""The texts of kernels around a user's expressions (custom.h has what they are made of)."""

from __future__ import annotations

import re
import typing as tp

import numpy as np

#: The types of elements in device sources; those that users compute with are their `Value`.
_STORED = {
    'bool': 'chainerx::cuda::Bool8',
    'int8': 'int8_t',
    'int16': 'int16_t',
    'int32': 'int32_t',
    'int64': 'int64_t',
    'uint8': 'uint8_t',
    'uint16': 'uint16_t',
    'uint32': 'uint32_t',
    'uint64': 'uint64_t',
    'float16': 'chainerx::Float16',
    'bfloat16': 'chainerx::BFloat16',
    'float32': 'float',
    'float64': 'double',
    'complex64': 'chainerx::cuda::Complex64',
    'complex128': 'chainerx::cuda::Complex128',
}
#: The namespace of custom.h.
_CUSTOM = 'cx_custom'


class Param(tp.NamedTuple):
    """A parameter: its type is a dtype's name, or a letter."""

    type: str
    name: str
    is_raw: bool

    @property
    def is_letter(self) -> bool:
        return self.type not in _STORED


class Variable(tp.NamedTuple):
    """A parameter with its dtype; without dimensions it is a scalar."""

    param: Param
    dtype: str
    ndim: int | None

    @property
    def stored(self) -> str:
        return _STORED[self.dtype]

    @property
    def value(self) -> str:
        return f'{_CUSTOM}::Value<{self.stored}>'


def _parse_type(kernel: str, text: str, spelled: str) -> str:
    if len(text) == 1 and text.isalpha():
        return text
    try:
        name = text if text in _STORED else np.dtype(text).name
    except TypeError:
        name = ''
    if name not in _STORED:
        raise TypeError(
            f'{kernel}: the type of {spelled!r} is {text}, expected a letter or one of '
            f'{", ".join(_STORED)}'
        )
    return name


def parse_params(kernel: str, text: str) -> list[Param]:
    """Reads a list as ``'T x, raw float32 y'``.

    Raises
    ------
    TypeError
        If a type is unknown.
    ValueError
        If a parameter has not just a type and a name.
    """
    params = []
    for spelled in text.split(','):
        words = spelled.split()
        if not words and ',' not in text:
            break  # none
        is_raw = 'raw' in words[:-2]
        rest = [word for word in words[:-2] if word not in ('raw', 'const', '_non_atomic')]
        if len(words) < 2 or rest or not words[-1].isidentifier():
            raise ValueError(f'{kernel}: {spelled.strip()!r} is no parameter, as "float32 x" is')
        params.append(Param(_parse_type(kernel, words[-2], spelled.strip()), words[-1], is_raw))
    return params


def check_names(kernel: str, params: list[Param]) -> None:
    """Refuses names that are used twice, or by the kernel itself."""
    names = [p.name for p in params]
    for name in names:
        if names.count(name) > 1 or name in ('i', 'n') or name.endswith('_'):
            raise ValueError(f'{kernel}: a parameter can not be named {name} here')


def _is_used(name: str, *texts: str) -> bool:
    return any(re.search(rf'\b{name}\b', text) for text in texts)


def _write_member(variable: Variable, ndim: int, is_flat: bool) -> str:
    name = variable.param.name
    if variable.ndim is None:
        kind = f'ScalarParam<{variable.stored}>'
    elif variable.param.is_raw:
        kind = f'Raw<{variable.stored}, {max(variable.ndim, 1)}>'
    else:
        kind = f'Strided<{0 if is_flat else ndim}>'
    return f'    {_CUSTOM}::{kind} {name};\n'


def _write_typedefs(variables: tp.Iterable[Variable]) -> str:
    letters = {v.param.type: v.value for v in variables if v.param.is_letter}
    return ''.join(f'using {letter} = {value};\n' for letter, value in letters.items())


def _write_local(variable: Variable, is_output: bool, offset: str) -> str:
    """The declaration of the name that the user's text has for a parameter."""
    name = variable.param.name
    if variable.param.is_raw:
        return f'const auto& {name} = params_.{name};\n'
    if variable.ndim is None:
        return f'const {variable.value} {name} = params_.{name}.Get();\n'
    offset = offset.format(name=name, v=variable)
    at = f'{_CUSTOM}::At<{variable.stored}>(params_.{name}.data, {offset})'
    if is_output:
        return f'{_CUSTOM}::Reference<{variable.stored}> {name} = {at};\n'
    return f'const {variable.value} {name} = {at};\n'


def _indent(text: str, width: int) -> str:
    """The user's lines, so that messages of the compiler name those of the kernel's text."""
    return ''.join(f'{" " * width}{line.strip()}\n' for line in text.strip().splitlines())


def _write_source(kernel: tp.Any, params: str, typedefs: str, body: str) -> str:
    return (
        '#include "chainerx/cuda/custom/device/custom.h"\n\n'
        f'namespace {_CUSTOM} = chainerx::cuda::custom;\n'
        f'{typedefs}{kernel.preamble}\n'
        'namespace {\n\n'
        f'struct Params_ {{\n{params}}};\n\n'
        '}\n\n'
        f'CX_KERNEL({kernel.name}, Params_) {{\n'
        f'    CX_BEGIN();\n    const auto& params_ = p;\n{body}}}\n'
    )


def write_elementwise(
    kernel: tp.Any, variables: tp.Sequence[Variable], ndim: int, is_flat: bool
) -> str:
    """The source of an ElementwiseKernel for these dtypes."""
    dims = 0 if is_flat else ndim
    members = '    int64_t size;\n'
    if not is_flat:
        members += f'    {_CUSTOM}::Sizes<{dims}> shape;\n'
    members += ''.join(_write_member(v, ndim, is_flat) for v in variables)
    offset = 'i * sizeof({v.stored})' if is_flat else 'params_.{name}.Offset(_ind.get())'
    texts = (kernel.operation, kernel.loop_prep, kernel.after_loop)
    body = '    const int64_t n = params_.size;\n'
    body += _indent(kernel.loop_prep, 4)
    body += (
        f'    const int64_t step_ = static_cast<int64_t>(gridDim.x) * {_CUSTOM}::kThreads;\n'
        f'    for (int64_t i = static_cast<int64_t>(blockIdx.x) * {_CUSTOM}::kThreads + '
        'threadIdx.x; i < n; i += step_) {\n'
    )
    if not is_flat:
        body += f'        const {_CUSTOM}::Indexer<{dims}> _ind(params_.shape, i);\n'
    elif _is_used('_ind', *texts):
        body += f'        const {_CUSTOM}::Indexer<1> _ind({_CUSTOM}::Sizes<1>{{{{n}}}}, i);\n'
    for index, v in enumerate(variables):
        body += ' ' * 8 + _write_local(v, index >= kernel.nin, offset)
    body += _indent(kernel.operation + ';', 8) + '    }\n' + _indent(kernel.after_loop, 4)
    return _write_source(kernel, members, _write_typedefs(variables), body)


def write_reduction(
    kernel: tp.Any,
    ins: tp.Sequence[Variable],
    outs: tp.Sequence[Variable],
    kept: int,
    reduced: int,
) -> str:
    """The source of a ReductionKernel: axes that stay come first."""
    ndim = kept + reduced
    members = '    int64_t count;\n    int64_t reduced;\n'
    shapes = {'kept_shape': kept, 'reduced_shape': reduced}
    for name, dims in shapes.items():
        if dims > 0:
            members += f'    {_CUSTOM}::Sizes<{dims}> {name};\n'
    members += ''.join(_write_member(v, ndim, False) for v in ins)
    members += ''.join(_write_member(v, kept, False) for v in outs)
    typedefs = _write_typedefs([*ins, *outs])

    def from_params(name: str) -> str:
        return f' = params_.{name}' if shapes[name] > 0 else '{}'

    result = kernel.reduce_type or outs[0].value
    offset = 'params_.{name}.Offset(_in_ind.get())'
    each = f'            const {_CUSTOM}::Indexer<{ndim}> _in_ind(shape_, i_);\n'
    whole = ''
    for v in ins:
        if v.ndim is None or v.param.is_raw:
            whole += ' ' * 4 + _write_local(v, False, '')
        else:
            each += ' ' * 12 + _write_local(v, False, offset)
    body = (
        f'    using _type_reduce = {result};\n'
        f'{whole}'
        f'    CX_SHARED(_type_reduce, shared_, {_CUSTOM}::kThreads);\n'
        '    const auto combine_ = [](const _type_reduce& a, const _type_reduce& b) {\n'
        f'        return static_cast<_type_reduce>({kernel.reduce_expr});\n'
        '    };\n'
        f'    const {_CUSTOM}::Sizes<{kept}> kept_{from_params("kept_shape")};\n'
        f'    const {_CUSTOM}::Sizes<{reduced}> reduced_{from_params("reduced_shape")};\n'
        f'    const {_CUSTOM}::Sizes<{ndim}> shape_ = {_CUSTOM}::Join(kept_, reduced_);\n'
        '    for (int64_t out_ = blockIdx.x; out_ < params_.count; out_ += gridDim.x) {\n'
    )
    identity = kernel.identity
    body += (
        '        const auto map_ = [&](int64_t _J) {\n'
        '            const int64_t i_ = out_ * params_.reduced + _J;\n'
        '            const int64_t _j = _J * params_.count + out_;\n'
        f'{each}'
        f'            return static_cast<_type_reduce>({kernel.map_expr});\n'
        '        };\n'
    )
    if identity is None:
        # Threads beyond the number of values repeat the last one, and are left out below.
        body += (
            '        _type_reduce sum_ = map_(threadIdx.x < params_.reduced ? threadIdx.x : 0);\n'
        )
        start = f'threadIdx.x + {_CUSTOM}::kThreads'
    else:
        body += f'        _type_reduce sum_ = static_cast<_type_reduce>({identity});\n'
        start = 'threadIdx.x'
    body += (
        f'        for (int64_t j_ = {start}; j_ < params_.reduced; j_ += {_CUSTOM}::kThreads) {{\n'
        '            sum_ = combine_(sum_, map_(j_));\n'
        '        }\n'
        f'        const int64_t threads_ = min(params_.reduced, int64_t{{{_CUSTOM}::kThreads}});\n'
        f'        const _type_reduce a = {_CUSTOM}::ReduceBlock(shared_, sum_, threads_, '
        'combine_);\n'
        '        if (threadIdx.x == 0) {\n'
        f'            const {_CUSTOM}::Indexer<{kept}> _out_ind(kept_, out_);\n'
    )
    for v in outs:
        body += ' ' * 12 + _write_local(v, True, 'params_.{name}.Offset(_out_ind.get())')
    body += _indent(kernel.post_map_expr + ';', 12) + '        }\n        __syncthreads();\n    }\n'
    return _write_source(kernel, members, typedefs, body)
