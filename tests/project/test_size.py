"""The installed package stays small."""

import os
import pathlib
import tomllib

import chainerx
import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.mark.skipif(
    'libasan' in os.environ.get('LD_PRELOAD', ''),
    reason='a build with sanitizers is several times as large, and nobody ships it',
)
def test_package_is_below_its_ceiling():
    # Unpacked, which is stricter than the ceiling for the compressed wheel. The plug-in for GPUs,
    # with chainerx.cuda, and models, chainerx.onnx and its library, have ceilings of their own. So
    # does what reads arrays, which is part of that library.
    limits = tomllib.loads((ROOT / 'benchmarks' / 'budgets.toml').read_text())['limits']
    folder = pathlib.Path(chainerx.__file__).parent
    if folder.is_relative_to(ROOT / 'python'):
        pytest.skip('what is built in place has the names of all functions, which nobody ships')
    sizes = dict.fromkeys(('wheel_mb', 'cuda_plugin_mb', 'onnx_mb'), 0)
    for file in folder.rglob('*'):
        if file.is_file():
            name = str(file.relative_to(folder))
            is_plugin = name.startswith(
                ('lib/libchainerx_cuda.', 'cuda/', 'include/chainerx/cuda/')
            )
            is_onnx = 'onnx' in name or name.startswith('include/chainerx/io/')
            part = 'cuda_plugin_mb' if is_plugin else 'onnx_mb' if is_onnx else 'wheel_mb'
            sizes[part] += file.stat().st_size
    for part, size in sizes.items():
        assert size < limits[part] * 1e6, f'{folder}: {part} is {size / 1e6:.2f}: {sizes}'
