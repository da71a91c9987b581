"""Variables and function nodes: the Python side of the graph, whose engine is C++."""
