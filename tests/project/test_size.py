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
    # Unpacked, which is stricter than the ceiling for the compressed wheel. The plug-in for GPUs
    # and the library of models have ceilings of their own.
    limits = tomllib.loads((ROOT / 'benchmarks' / 'budgets.toml').read_text())['limits']
    folder = pathlib.Path(chainerx.__file__).parent
    if folder.is_relative_to(ROOT / 'python'):
        pytest.skip('what is built in place has the names of all functions, which nobody ships')
    apart = {'libchainerx_cuda.so': 'cuda_plugin_mb', 'libchainerx_onnx.so': 'onnx_mb'}
    size = sum(f.stat().st_size for f in folder.rglob('*') if f.is_file() and f.name not in apart)
    assert size < limits['wheel_mb'] * 1e6, f'{folder} has {size / 1e6:.1f} MB'
    for name, limit in apart.items():
        file = folder / 'lib' / name
        size = file.stat().st_size if file.is_file() else 0
        assert size < limits[limit] * 1e6, f'{file} has {size / 1e6:.1f} MB'
