"""`Sequential`.

The path of Chainer v7; the code is in `chainer._link.sequential`.
"""

from chainer._link.sequential import (  # noqa: F401
    ChainList,
    Link,
    Sequential,
)

# What pickles, messages and documentation name.
for _object in (Sequential,):
    _object.__module__ = 'chainer.sequential'
