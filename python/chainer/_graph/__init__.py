"""Variables and function nodes: what users see of the graph, whose engine is C++."""
