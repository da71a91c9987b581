"""The table of all ops, one file per family; a family's rows are its list `CASES`."""

import importlib
import pathlib

CASES = []
for _path in sorted(pathlib.Path(__file__).parent.glob('*/[!_]*.py')):
    CASES += importlib.import_module(f'{__name__}.{_path.parent.name}.{_path.stem}').CASES
