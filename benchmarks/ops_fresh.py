"""The same ops on 16M elements, with a newly allocated result of 64 MB each time.

The allocation dominates here: pages that the operating system must first find and clear cost more
than the arithmetic.
"""

from harness import main
from ops import OPS, rows_of


def rows(bench):
    """add, exp, tanh, sum, mean of 16M elements, with a newly allocated result."""
    rows_of(bench, '16M', (4000, 4000), OPS)


if __name__ == '__main__':
    main(rows, 'ops_fresh', threads=(1, 2), rounds=7, round_seconds=0.05)
