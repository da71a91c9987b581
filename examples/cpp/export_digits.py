"""Write the real 8x8 digits of scikit-learn to a CSV file: a label and 64 pixels (0-16) per line.

    python examples/cpp/export_digits.py digits.csv

The order is that of examples/digits.py: the first 1,437 lines for training, 360 for testing.
"""

import sys

import numpy as np
from sklearn.datasets import load_digits


def main(path):
    digits = load_digits()
    order = np.random.RandomState(0).permutation(len(digits.target))
    rows = np.column_stack([digits.target, digits.data])[order].astype(int)
    np.savetxt(path, rows, fmt='%d', delimiter=',')
    print(f'{path}: {len(rows)} digits')


if __name__ == '__main__':
    main(sys.argv[1] if len(sys.argv) > 1 else 'digits.csv')
