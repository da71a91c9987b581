"""Drawings of graphs."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import chainer.computational_graph as c
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import FunctionNode, Variable
from chainer.variable import VariableNode

A = np.arange(6, dtype='f').reshape(2, 3) + 1


@pytest.fixture(params=[np, chainerx])
def y(request):
    x = Variable(request.param.array(A), name='x')
    y = F.sum(x * x)
    y.name = 'y'
    y.x = x
    return y


def normalized(dot):
    ids = {}
    return re.sub(r'\b\d{6,}\b', lambda m: f'n{ids.setdefault(m[0], len(ids))}', dot)


def test_the_module_comes_with_the_package():
    code = 'import chainer; chainer.computational_graph.build_computational_graph'
    subprocess.run([sys.executable, '-c', code], check=True)


def test_nodes_and_edges(y):
    g = c.build_computational_graph([y])
    assert sum(isinstance(n, VariableNode) for n in g.nodes) == 3
    functions = [n for n in g.nodes if isinstance(n, FunctionNode)]
    assert {n.label for n in functions} == {'Sum', '_ * _'}
    assert len(g.edges) == 4
    assert (y.creator_node, y.node) in g.edges
    assert (y.x.node, y.creator.inputs[0].creator_node) in g.edges
    for start in (y, y.node, [y, y.node]):
        assert len(c.build_computational_graph(start).nodes) == 5


def test_functions_to_start_from(y):
    for start in (y.creator, [y.creator_node]):
        g = c.build_computational_graph(start)
        assert y.creator_node in g.nodes
        assert y.node not in g.nodes
        assert len(g.nodes) == 4
        assert len(g.edges) == 3
        assert g.dump().count('->') == 3
        assert c.build_computational_graph(start, remove_variable=True).dump().count('->') == 1
        assert g.dump('svg').count('<text') == 4
    g = c.build_computational_graph([y.creator_node, y])
    assert len(g.nodes) == 5


def test_dot(y):
    style = 'shape="octagon",fillcolor="#E0E0E0",style="filled"'
    function = 'shape="record",fillcolor="#6495ED",style="filled"'
    dot = normalized(c.build_computational_graph([y]).dump())
    assert dot.startswith('digraph graphname{rankdir=TB;')
    for line in (
        f'[label="y: float32",{style}];',
        f'[label="(2, 3), float32",{style}];',
        f'[label="x: (2, 3), float32",{style}];',
        f'[label="_ * _",{function}];',
    ):
        assert dot.count(line) == 1
    assert dot.count('->') == 4
    assert dot.endswith(';}')


def test_options(y):
    g = c.build_computational_graph(
        [y],
        variable_style={'shape': 'box'},
        function_style={'color': 'red'},
        rankdir='LR',
        show_name=False,
    )
    dot = g.dump()
    assert 'rankdir=LR' in dot
    assert '[label="Sum",shape="box",color="red"]' in dot
    assert 'x: ' not in dot
    g = c.build_computational_graph([y], remove_variable=True)
    dot = normalized(g.dump())
    assert dot.count('label') == 2
    assert dot.count('->') == 1


def test_errors(y):
    with pytest.raises(ValueError, match='rankdir must be'):
        c.build_computational_graph([y], rankdir='XX')
    with pytest.raises(ValueError, match='remove_split'):
        c.build_computational_graph([y], remove_split=False)
    with pytest.raises(NotImplementedError, match='png'):
        c.build_computational_graph([y]).dump('png')
    for wrong in (None, A, y.array, 3, 'y'):
        with pytest.raises(TypeError, match=r'outputs\[1\] is a'):
            c.build_computational_graph([y, wrong])


@pytest.mark.parametrize('rankdir', ['TB', 'BT', 'LR', 'RL'])
def test_svg(y, rankdir):
    y.x.name = '<&">'
    g = c.build_computational_graph([y], rankdir=rankdir)
    svg = g.dump('svg')
    assert g._repr_svg_() == svg
    root = ET.fromstring(svg)
    texts = [e.text for e in root.iter('{http://www.w3.org/2000/svg}text')]
    assert '<&">: (2, 3), float32' in texts
    assert len(texts) == 5
    lines = list(root.iter('{http://www.w3.org/2000/svg}line'))
    assert len(lines) == 4
    width, height = float(root.get('width')), float(root.get('height'))
    for line in lines:
        assert 0 <= float(line.get('x1')) <= width
        assert 0 <= float(line.get('y2')) <= height


def test_names_are_escaped():
    x = Variable(A, name='a"b\\c')
    dot = c.build_computational_graph([x * 2]).dump()
    assert r'label="a\"b\\c: (2, 3), float32"' in dot


def test_a_leaf_and_nothing():
    assert len(c.build_computational_graph([Variable(A)]).nodes) == 1
    g = c.build_computational_graph([])
    assert g.dump() == 'digraph graphname{rankdir=TB;}'
    ET.fromstring(g.dump('svg'))


def test_large_graph():
    y = x = Variable(A)
    for _ in range(2000):
        y = y + x
    g = c.build_computational_graph([y])
    assert len(g.nodes) == 4001
    assert g.dump().count('->') == 5999  # the first adds x to itself


def test_dot_node():
    x = Variable(A, name='x')
    node = c.DotNode(x.node, {'fillcolor': 'red'})
    assert re.fullmatch(r'\d+ \[label="x: .*",shape="oval",fillcolor="red"\];', node.label)
    assert str(node) == node.label
    assert 'shape="box"' in c.DotNode((x * 2).creator_node).label
