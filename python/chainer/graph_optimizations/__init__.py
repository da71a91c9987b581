"""Static subgraphs of Chainer v7, here by `chainerx.capture`."""

from chainer.graph_optimizations import (
    static_graph as static_graph,
)
from chainer.graph_optimizations import (
    static_graph_utilities as static_graph_utilities,
)
from chainer.graph_optimizations.static_graph_utilities import static_code as static_code
