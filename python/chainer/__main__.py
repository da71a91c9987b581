"""``python -m chainer``, which is the command ``chainer``."""

import sys

from chainer._command import main

if __name__ == '__main__':
    sys.exit(main())
