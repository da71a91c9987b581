"""`Link`, `Chain` and `ChainList`.

The path of Chainer v7; the code is in `chainer._link.chain`.
"""

from chainer._link.chain import Chain as Chain
from chainer._link.chain import ChainList as ChainList
from chainer._link.chain import Link as Link
from chainer._link.chain import Parameter as Parameter

# What pickles, messages and documentation name.
for _object in (
    Chain,
    ChainList,
):
    _object.__module__ = 'chainer.link'
