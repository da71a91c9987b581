import pathlib
import sys

import pytest

pytest.importorskip('onnx')
pytest.importorskip('onnxruntime')

if (_here := str(pathlib.Path(__file__).parent)) not in sys.path:
    sys.path.append(_here)
