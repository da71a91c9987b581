"""Drawings of the graph that variables were computed by: dot text, SVG, and a view in notebooks."""

from __future__ import annotations

import html
import typing as tp

from chainer.function_node import FunctionNode
from chainer.variable import Variable, VariableNode

_VARIABLE_STYLE: tp.Final = {'shape': 'octagon', 'fillcolor': '#E0E0E0', 'style': 'filled'}
_FUNCTION_STYLE: tp.Final = {'shape': 'record', 'fillcolor': '#6495ED', 'style': 'filled'}
_DIRECTIONS: tp.Final = ('TB', 'BT', 'LR', 'RL')

Node: tp.TypeAlias = VariableNode | FunctionNode


class DotNode:
    """One node as dot text.

    Args:
        node (VariableNode or FunctionNode): What to draw.
        attribute (dict): Its attributes in dot, such as ``{'fillcolor': 'red'}``.
        show_name (bool): Whether the names of variables are drawn.
    """

    def __init__(
        self, node: Node, attribute: dict[str, str] | None = None, show_name: bool = True
    ) -> None:
        self.node = node
        self.id_ = id(node)
        shape = 'oval' if isinstance(node, VariableNode) else 'box'
        self.attribute = {'label': _label(node, show_name), 'shape': shape, **(attribute or {})}

    @property
    def label(self) -> str:
        """The text, quoted."""
        attributes = ','.join(f'{k}="{_escape(v)}"' for k, v in self.attribute.items())
        return f'{self.id_} [{attributes}];'

    def __str__(self) -> str:
        return self.label


def _escape(value: object) -> str:
    return str(value).replace('\\', '\\\\').replace('"', '\\"')


def _label(node: Node, show_name: bool) -> str:
    name = getattr(node, 'name', None) if isinstance(node, VariableNode) and show_name else None
    return f'{name}: {node.label}' if name else node.label


class ComputationalGraph:
    """A graph, ready to be drawn. In a notebook it shows itself.

    Args:
        nodes (sequence): `VariableNode` and `FunctionNode`.
        edges (sequence of tuple): Pairs of nodes, in the direction of the forward computation.
        variable_style (dict): Attributes of Graphviz for variables; 'default' for Chainer's.
        function_style (dict): The same for functions.
        rankdir (str): 'TB', 'BT', 'LR' or 'RL': from where to where it is drawn.
        remove_variable (bool): Whether functions are joined directly.
        show_name (bool): Whether names of variables are shown.

    Raises:
        ValueError: For an unknown ``rankdir``.

    Attributes:
        nodes (list): `VariableNode` and `FunctionNode`.
        edges (list of tuple): Pairs of nodes, in the direction of the forward computation.
    """

    def __init__(
        self,
        nodes: tp.Sequence[Node],
        edges: tp.Sequence[tuple[Node, Node]],
        variable_style: tp.Any = 'default',
        function_style: tp.Any = 'default',
        rankdir: str = 'TB',
        remove_variable: bool = False,
        show_name: bool = True,
    ) -> None:
        if rankdir not in _DIRECTIONS:
            raise ValueError(f'rankdir must be in TB, BT, LR or RL, got {rankdir!r}')
        self.nodes = list(nodes)
        self.edges = list(edges)
        self.variable_style = _VARIABLE_STYLE if variable_style == 'default' else variable_style
        self.function_style = _FUNCTION_STYLE if function_style == 'default' else function_style
        self.rankdir = rankdir
        self.remove_variable = remove_variable
        self.show_name = show_name
        if remove_variable:
            self._remove_variables()

    def _remove_variables(self) -> None:
        """Joins functions directly."""
        creators: dict[int, list[Node]] = {}
        for a, b in self.edges:
            if isinstance(b, VariableNode):
                creators.setdefault(id(b), []).append(a)
        self.edges = [
            (creator, b)
            for a, b in self.edges
            if isinstance(a, VariableNode)
            for creator in creators.get(id(a), [])
        ]
        self.nodes = [n for n in self.nodes if not isinstance(n, VariableNode)]

    def dump(self, format: str = 'dot') -> str:
        """The drawing as text.

        Args:
            format (str): 'dot' for Graphviz, or 'svg', which needs no other program.

        Raises:
            NotImplementedError: If the format is not known.
        """
        if format == 'dot':
            return self._to_dot()
        if format == 'svg':
            return self._to_svg()
        raise NotImplementedError(f'dump: format {format!r} is not supported, only dot and svg are')

    def _style(self, node: Node) -> tp.Any:
        return self.variable_style if isinstance(node, VariableNode) else self.function_style

    def _to_dot(self) -> str:
        nodes = ''.join(DotNode(n, self._style(n), self.show_name).label for n in self.nodes)
        edges = ''.join(f'{id(a)} -> {id(b)};' for a, b in self.edges)
        return f'digraph graphname{{rankdir={self.rankdir};{nodes}{edges}}}'

    def _to_svg(self) -> str:
        places, labels, width, height = _place(self)
        if self.rankdir in ('LR', 'RL'):
            width, height = height, width
        horizontal = self.rankdir in ('LR', 'RL')
        flipped = self.rankdir in ('BT', 'RL')

        def at(key: int) -> tuple[float, float]:
            across, along = places[key]
            x, y = (along, across) if horizontal else (across, along)
            if flipped:
                x, y = (width - x, y) if horizontal else (x, height - y)
            return x, y

        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif" font-size="12">',
            '<defs><marker id="arrow" markerWidth="8" markerHeight="8" refX="7" refY="3" '
            'orient="auto"><path d="M0,0 L7,3 L0,6 z"/></marker></defs>',
        ]
        for a, b in self.edges:
            (x1, y1), (x2, y2) = at(id(a)), at(id(b))
            x1, y1, x2, y2 = _shorten(x1, y1, x2, y2, labels[id(a)], labels[id(b)])
            parts.append(
                f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="black" '
                'marker-end="url(#arrow)"/>'
            )
        for node in self.nodes:
            x, y = at(id(node))
            w = _box_width(labels[id(node)])
            fill = (self._style(node) or {}).get('fillcolor', 'white')
            corner = 10 if isinstance(node, VariableNode) else 2
            parts.append(
                f'<rect x="{x - w / 2:.1f}" y="{y - _BOX / 2:.1f}" width="{w:.1f}" height="{_BOX}" '
                f'rx="{corner}" fill="{html.escape(str(fill))}" stroke="black"/>'
                f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle">'
                f'{html.escape(labels[id(node)])}</text>'
            )
        return '\n'.join([*parts, '</svg>'])

    def _repr_svg_(self) -> str:
        return self._to_svg()


# Pixels: the height of a box, the room around it.
_BOX: tp.Final = 24
_GAP: tp.Final = 24


def _box_width(label: str) -> float:
    return 7.2 * len(label) + 16


def _shorten(
    x1: float, y1: float, x2: float, y2: float, label1: str, label2: str
) -> tuple[float, float, float, float]:
    """The part of the line between two boxes that is outside of both."""

    def leave(dx: float, dy: float, label: str) -> float:
        w, h = _box_width(label) / 2, _BOX / 2
        return min(w / abs(dx) if dx else 1e9, h / abs(dy) if dy else 1e9, 1.0)

    dx, dy = x2 - x1, y2 - y1
    s, t = leave(dx, dy, label1), 1 - leave(dx, dy, label2)
    return x1 + dx * s, y1 + dy * s, x1 + dx * t, y1 + dy * t


def _place(
    graph: ComputationalGraph,
) -> tuple[dict[int, tuple[float, float]], dict[int, str], float, float]:
    """Layers by distance from the leaves; within a layer, near to what a node comes from."""
    labels = {id(n): _label(n, graph.show_name) for n in graph.nodes}
    before: dict[int, list[int]] = {id(n): [] for n in graph.nodes}
    for a, b in graph.edges:
        before[id(b)].append(id(a))
    layers: dict[int, list[int]] = {}
    for node in sorted(graph.nodes, key=_depth):
        layers.setdefault(_depth(node), []).append(id(node))
    across: dict[int, float] = {}
    rows = []
    horizontal = graph.rankdir in ('LR', 'RL')
    for depth in sorted(layers):
        row = layers[depth]
        centers = {
            k: sum(across[p] for p in before[k] if p in across) / max(1, len(before[k]))
            for k in row
        }
        row.sort(key=centers.__getitem__)
        position = 0.0
        for k in row:
            size = _BOX if horizontal else _box_width(labels[k])
            across[k] = position + size / 2
            position += size + _GAP
        rows.append((row, position - _GAP))
    total = max((w for _, w in rows), default=0.0) + 2 * _GAP
    places = {}
    along = float(_GAP)
    for row, w in rows:
        step = max(_box_width(labels[k]) for k in row) if horizontal else _BOX
        for k in row:
            places[k] = (across[k] + (total - w) / 2, along + step / 2)
        along += step + _GAP
    return places, labels, total, along


def _depth(node: Node) -> int:
    return 2 * node.rank + (not isinstance(node, VariableNode))


def _start(i: int, output: object) -> Node:
    if isinstance(output, Variable):
        return output.node
    if isinstance(output, VariableNode | FunctionNode):
        return output
    raise TypeError(
        f'build_computational_graph: outputs[{i}] is a {type(output).__name__}, expected a '
        'Variable, a VariableNode or a FunctionNode'
    )


def build_computational_graph(
    outputs: tp.Iterable[Variable | Node] | Variable | Node,
    remove_split: bool = True,
    variable_style: tp.Any = 'default',
    function_style: tp.Any = 'default',
    rankdir: str = 'TB',
    remove_variable: bool = False,
    show_name: bool = True,
) -> ComputationalGraph:
    """The graph that variables were computed by, on any kind of array.

    Args:
        outputs (list of Variable, VariableNode or FunctionNode): Where to start. What functions
            of the list compute is not drawn.
        remove_split (bool): True; nothing else is supported.
        variable_style, function_style (dict): Attributes of nodes in dot.
        rankdir (str): 'TB', 'BT', 'LR' or 'RL', the direction of the drawing.
        remove_variable (bool): Whether only functions are drawn.
        show_name (bool): Whether names of variables are drawn.

    Returns:
        ComputationalGraph: ``dump()`` gives dot text, ``dump('svg')`` a picture.

    Raises:
        TypeError: If ``outputs`` contains something else.
        ValueError: If ``remove_split`` is False.
    """
    if not remove_split:
        raise ValueError('remove_split=False is not supported anymore')
    if isinstance(outputs, Variable | VariableNode | FunctionNode):
        outputs = [outputs]
    nodes: dict[Node, None] = {}
    edges: dict[tuple[Node, Node], None] = {}
    todo: list[Node] = [_start(i, y) for i, y in enumerate(outputs)]
    while todo:
        node = todo.pop()
        if node in nodes:
            continue
        nodes[node] = None
        before: tp.Iterable[Node | None] = (
            (node.creator_node,) if isinstance(node, VariableNode) else node.inputs or ()
        )
        for n in before:
            if n is not None:
                edges[n, node] = None
                todo.append(n)
    return ComputationalGraph(
        list(nodes),
        list(edges),
        variable_style,
        function_style,
        rankdir,
        remove_variable,
        show_name,
    )
