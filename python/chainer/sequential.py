"""`Sequential`.

The path of Chainer v7; the code is in `chainer._link.sequential`.
"""

from chainer._link.sequential import ChainList as ChainList
from chainer._link.sequential import Link as Link
from chainer._link.sequential import Sequential as Sequential

# What pickles, messages and documentation name.
for _object in (Sequential,):
    _object.__module__ = 'chainer.sequential'
