"""Lets the tests of this folder import the programs, and what is beside them."""

import pathlib
import sys

if (_here := str(pathlib.Path(__file__).parent)) not in sys.path:
    sys.path.append(_here)
