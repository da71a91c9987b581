import pathlib
import sys

import pytest

# Not `onnx` alone: without the package, that would be this folder.
pytest.importorskip('onnx.helper')

if (_here := str(pathlib.Path(__file__).parent)) not in sys.path:
    sys.path.append(_here)
