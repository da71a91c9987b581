"""Links: functions with parameters, and models made of them."""

from chainer.links.connection.embed_id import EmbedID
from chainer.links.connection.linear import Linear

__all__ = ['EmbedID', 'Linear']
