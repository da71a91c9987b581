"""Compares our declarations of NVIDIA's libraries with NVIDIA's own headers.

``cpp/chainerx/cuda/driver`` declares what the backend calls, so that no header of CUDA is needed to
build it. Run this when a version of CUDA comes out, or when a declaration is added::

    pip install --target /tmp/cu13 nvidia-cublas nvidia-cufft nvidia-cusolver nvidia-cusparse \
        nvidia-cuda-runtime nvidia-cuda-crt nvidia-cuda-cccl nvidia-cuda-nvrtc \
        nvidia-cuda-profiler-api nvidia-cudnn-cu13 nvidia-nccl-cu13
    python tools/check_cuda_headers.py \
        /tmp/cu13/nvidia/{cu13/include{,/cccl},cudnn/include,nccl/include}

For CUDA 12, whose headers lie in a folder for each part, give all of these. Exit status 1 and the
names of what differs: functions (every parameter), constants, structures (sizes and offsets).
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

DRIVER = Path(__file__).resolve().parents[1] / 'cpp/chainerx/cuda/driver'
HEADERS = [
    'cuda.h',
    'cudaProfiler.h',
    'nvrtc.h',
    'cublasLt.h',
    'cudnn.h',
    'cufft.h',
    'cufftXt.h',
    'cusolverDn.h',
    'nccl.h',
]
TYPES = ['types.h', 'library_types.h', 'cudnn_types.h']
RESULTS = {
    'driver': 'CUresult',
    'nvrtc': 'nvrtcResult',
    'cublaslt': 'cublasStatus_t',
    'cudnn': 'cudnnStatus_t',
    'cufft': 'cufftResult',
    'cusolver': 'cusolverStatus_t',
    'nccl': 'ncclResult_t',
}
#: Structures whose fields are named as NVIDIA's.
STRUCTURES = {
    'CUmemAllocationProp': ['type', 'location', 'allocFlags'],
    'CUmemAccessDesc': ['location', 'flags'],
    'CUlaunchAttribute': ['id', 'value'],
    'CUlaunchConfig': ['gridDimX', 'sharedMemBytes', 'hStream', 'attrs', 'numAttrs'],
    'cublasLtMatmulAlgo_t': [],
    'cublasLtMatmulHeuristicResult_t': ['algo', 'workspaceSize', 'state', 'wavesCount'],
}
#: Ours is the numbers of C++.
COMPLEX = {'float': 'cuComplex', 'double': 'cuDoubleComplex'}

CODE = """
template <typename T> struct Theirs {{ using type = T; }};
{types}
template <typename T> struct Deep {{ using type = typename Theirs<T>::type; }};
template <typename T> struct Deep<const T> {{ using type = const typename Deep<T>::type; }};
template <typename T> struct Deep<T*> {{
    using mapped = typename Theirs<T*>::type;
    using type = std::conditional_t<std::is_same_v<mapped, T*>, typename Deep<T>::type*, mapped>;
}};
template <typename Result, typename F> struct Function;
template <typename Result, typename... Params> struct Function<Result, int(Params...)> {{
    using type = Result(typename Deep<Params>::type...);
}};

namespace chainerx::cuda {{
template <typename Result, typename Ours, typename F>
void CheckFunction(const char* name, F*) {{
    if (!std::is_same_v<typename Function<Result, Ours>::type, F>) std::puts(name);
}}
void Check() {{
{checks}
}}
}}
int main() {{
    chainerx::cuda::Check();
}}
"""


def write_program(text: str) -> str:
    """A program that prints the names of what differs; `text` is that of our headers."""
    handles = re.findall(r'using (\w+) = struct \w+\*;', text)
    enums = re.findall(r'enum (\w+) : ', text)
    constants = re.findall(r'\b((?:CU|CUDA|CUBLAS|CUBLASLT|CUDNN|CUSOLVER|NVRTC)_\w+) = -?\d', text)
    constants += re.findall(r'\b(nccl\w+) = \d', text)
    constants += re.findall(r'X\((CUDA_\w+), \d+\)', text)
    types = [
        f'template <> struct Theirs<chainerx::cuda::{name}> {{ using type = ::{name}; }};'
        for name in [*handles, *enums, *STRUCTURES]
        if name not in ('cublasLtReductionScheme_t', 'cublasLtEpilogue_t')  # values of attributes
    ]
    types += [
        f'template <> struct Theirs<std::complex<{ours}>> {{ using type = {theirs}; }};'
        for ours, theirs in COMPLEX.items()
    ]
    checks = []
    for file, result in RESULTS.items():
        for line in (DRIVER / f'{file}.def').read_text().splitlines():
            if found := re.fullmatch(r'CX_\w+\(\w+, (\w+), (\(.*\))\)', line):
                symbol, params = found.groups()
                params = params.replace('int* error', '::ncclResult_t* error')
                checks.append(
                    f'CheckFunction<::{result}, int{params}>("{symbol}", (decltype(&::{symbol}))0);'
                )
    checks += [
        f'if (static_cast<long long>({name}) != k_{name}) std::puts("{name}");'
        for name in constants
    ]
    for name, fields in STRUCTURES.items():
        checks.append(f'if (sizeof({name}) != sizeof(::{name})) std::puts("{name}");')
        checks += [
            f'if (offsetof({name}, {field}) != offsetof(::{name}, {field}))'
            f' std::puts("{name}.{field}");'
            for field in fields
        ]
    includes = ['complex', 'cstddef', 'cstdint', 'cstdio', 'type_traits', *HEADERS]
    lines = [f'#include <{name}>' for name in includes]
    # Some of theirs are macros, which would replace our names.
    lines += [
        f'constexpr long long k_{name} = static_cast<long long>({name});' for name in constants
    ]
    macros = set(re.findall(r'\b(?:CU|CUFFT)_\w+\b', text))
    lines += [f'#undef {name}' for name in sorted(macros)]
    lines += [f'#include "{DRIVER / name}"' for name in TYPES if name != 'types.h']
    return '\n'.join(lines) + CODE.format(types='\n'.join(types), checks='\n'.join(checks))


def find_differences(folders: list[Path]) -> list[str]:
    """The names of what differs from the headers in some folders."""
    text = ''.join((DRIVER / name).read_text() for name in TYPES)
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, 'check.cc'), Path(folder, 'check')
        source.write_text(write_program(text))
        includes = [f'-I{path}' for path in [DRIVER.parents[2], *folders]]
        compiler = os.environ.get('CXX') or 'g++'
        command = [compiler, '-std=c++20', '-w', *includes, str(source), '-o', str(program)]
        subprocess.run(command, check=True)
        return subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or '').split('\n')[0])
    parser.add_argument('folders', nargs='+', type=Path, help='with cuda.h, cublasLt.h and so on')
    differences = find_differences(parser.parse_args().folders)
    print(*differences or ["all declarations are NVIDIA's"], sep='\n')
    return 1 if differences else 0


if __name__ == '__main__':
    sys.exit(main())
