"""``import chainerx`` takes little more time than ``import numpy``."""

import subprocess
import sys

PROGRAM = """
import sys
import numpy
before = set(sys.modules)
import chainerx
print(*sorted(set(sys.modules) - before))
"""


def test_modules_that_few_programs_need_are_not_imported():
    done = subprocess.run(
        [sys.executable, '-c', PROGRAM], check=True, capture_output=True, text=True
    )
    imported = set(done.stdout.split())
    assert 'chainerx._core' in imported
    # NumPy has its own modules for a first use, too: numpy.random brings OpenSSL.
    slow = {
        'hashlib',
        'inspect',
        'json',
        'multiprocessing',
        'numpy.random',
        'pathlib',
        'subprocess',
    }
    assert imported & slow == set()
