"""`Link`, `Chain` and `ChainList`.

The path of Chainer v7; the code is in `chainer._link.chain`.
"""

from chainer._link.chain import (  # noqa: F401
    Chain,
    ChainList,
    Link,
    Parameter,
)

# What pickles, messages and documentation name.
for _object in (
    Chain,
    ChainList,
):
    _object.__module__ = 'chainer.link'
