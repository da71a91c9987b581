"""The table of all functions, one file per family, with the rows in its list `CASES`."""

import importlib
import pkgutil

CASES = []
for _module in sorted(m.name for m in pkgutil.iter_modules(__path__)):
    if not _module.startswith('_'):
        CASES += importlib.import_module(f'{__name__}.{_module}').CASES
