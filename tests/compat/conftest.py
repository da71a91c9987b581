"""Makes the programs and their helpers importable for the tests of this folder."""

import pathlib
import sys

if (_here := str(pathlib.Path(__file__).parent)) not in sys.path:
    sys.path.append(_here)
