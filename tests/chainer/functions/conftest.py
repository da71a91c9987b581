"""Makes the table of functions importable, and that of chainerx, whose arguments it borrows."""

import pathlib
import sys

_here = pathlib.Path(__file__).parent
for _folder in (_here.parents[1] / 'chainerx', _here.parent):
    if str(_folder) not in sys.path:
        sys.path.insert(0, str(_folder))
