"""The program chainerx-run, as tests call it."""

import os
import pathlib
import subprocess
import sysconfig

import chainerx
import scipy_openblas32
from onnx import helper
from onnx_models import info, make, node

__all__ = ['call', 'fail', 'find', 'identity', 'run']


# Python finds it for a build in place, too, where the program does not: same library, same bits.
ENVIRONMENT = {
    'CHAINERX_OPENBLAS': os.path.join(scipy_openblas32.get_lib_dir(), 'libscipy_openblas.so'),
    **os.environ,
}


def find():
    """A build in place has it in the package; else it lies where scripts lie."""
    inside = pathlib.Path(chainerx.__file__).parent / 'bin' / 'chainerx-run'
    return inside if inside.exists() else pathlib.Path(sysconfig.get_path('scripts'), inside.name)


def call(*arguments, **environment):
    return subprocess.run(
        [find(), *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**ENVIRONMENT, **environment},
        timeout=300,
        check=False,
    )


def run(*arguments, **environment):
    """What it prints."""
    done = call(*arguments, **environment)
    assert (done.returncode, done.stderr) == (0, ''), done
    return done.stdout


def fail(*arguments, code=1, **environment):
    """The message of its error."""
    done = call(*arguments, **environment)
    assert done.returncode == code, done
    return done.stderr


def identity(path, inputs):
    """Writes a model that returns its inputs as they are; `inputs` are dtypes of NumPy by name."""
    types = {name: helper.np_dtype_to_tensor_dtype(dtype) for name, dtype in inputs.items()}
    nodes = [node('Identity', [name], [f'{name}_out']) for name in inputs]
    path.write_bytes(
        make(
            nodes,
            [info(name, None, dtype) for name, dtype in types.items()],
            [info(f'{name}_out', None, dtype) for name, dtype in types.items()],
        )
    )
    return path
