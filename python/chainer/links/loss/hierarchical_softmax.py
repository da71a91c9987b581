"""`BinaryHierarchicalSoftmax`: a softmax whose classes are the leaves of a binary tree."""

from __future__ import annotations

import collections.abc as c
import heapq
import typing as tp

import chainerx
import numpy as np

from chainer import initializers
from chainer._base import environment, late_checks
from chainer._graph.builtin import BuiltinFunction, _as_chainerx, _to_numpy
from chainer._graph.gradients import recomputed
from chainer.link import Link
from chainer.utils import type_check
from chainer.variable import Parameter, Variable

if tp.TYPE_CHECKING:
    from chainer._typing import DTypeLike, InTypes, NdArray, VariableLike
    from chainer.device_resident import DeviceResidentsVisitor

Tree: tp.TypeAlias = 'int | tuple[Tree, ...]'


class TreeParser:
    """The ways from the root of a tree to its leaves.

    Args:
        dtype: That of the codes.
    """

    def __init__(self, dtype: DTypeLike) -> None:
        self.dtype = dtype
        self.next_id = 0
        self.paths: dict[int, np.ndarray] = {}
        self.codes: dict[int, np.ndarray] = {}

    def size(self) -> int:
        """The number of inner nodes."""
        return self.next_id

    def get_paths(self) -> dict[int, np.ndarray]:
        """For each leaf the inner nodes above it, int32, numbered as they are met from the left."""
        return self.paths

    def get_codes(self) -> dict[int, np.ndarray]:
        """For each leaf 1 where its way goes to the left, -1 where to the right."""
        return self.codes

    def parse(self, tree: Tree) -> None:
        """Takes the ways of a tree.

        Args:
            tree (tuple): Pairs of pairs and leaves, which are integers.

        Raises:
            ValueError: If a node has other than two children.
        """
        self.next_id = 0
        self.paths, self.codes = {}, {}
        # An explicit stack, because trees may be deep.
        todo: list[tuple[Tree, tuple[int, ...], tuple[int, ...]]] = [(tree, (), ())]
        while todo:
            node, path, code = todo.pop()
            if not isinstance(node, tuple):
                self.paths[node] = np.array(path, np.int32)
                self.codes[node] = np.array(code, self.dtype)
                continue
            if len(node) != 2:
                raise ValueError(
                    'BinaryHierarchicalSoftmax: All internal nodes must have two child nodes; '
                    f'one has {len(node)}'
                )
            left, right = node
            path = (*path, self.next_id)
            self.next_id += 1
            todo += [(right, path, (*code, -1)), (left, path, (*code, 1))]


def _losses(
    x: chainerx.ndarray, w: chainerx.ndarray, nodes: chainerx.ndarray, codes: chainerx.ndarray
) -> chainerx.ndarray:
    weights = chainerx.take(w, nodes, 0)
    scores = chainerx.matmul(weights, chainerx.expand_dims(x, 2)).squeeze(2)
    # A code of 0 stands for no node.
    return (chainerx.softplus(-codes * scores) * chainerx.absolute(codes)).sum()


# Keeps no rows of W.
_losses_again = recomputed('binary_hierarchical_softmax', _losses)


class BinaryHierarchicalSoftmaxFunction(BuiltinFunction):
    """See `BinaryHierarchicalSoftmax`.

    Args:
        tree: Pairs of pairs and leaves.
        dtype: That of the codes.

    Attributes:
        paths (array): The inner nodes above each leaf, one leaf behind the other.
        codes (array): Which way it goes from there.
        begins (array): Where in these each leaf begins.
        depth (int): The most nodes above a leaf.
    """

    is_called = True
    check_uses_attributes = False

    def __init__(self, tree: Tree, dtype: DTypeLike | None = None) -> None:
        parser = TreeParser(environment.get_dtype(dtype, map_mixed16=np.float32))
        parser.parse(tree)
        paths, codes = parser.get_paths(), parser.get_codes()
        n = max(max(paths) + 1, 0)
        empty = np.zeros(0, np.int32)
        lengths = [len(paths.get(i, empty)) for i in range(n)]
        self.paths = np.concatenate([empty, *[paths.get(i, empty) for i in range(n)]])
        self.codes = np.concatenate(
            [empty.astype(parser.dtype), *[codes.get(i, empty) for i in range(n)]]
        ).astype(parser.dtype)
        self.begins = np.cumsum([0, *lengths]).astype(np.int32)
        self.depth = max(lengths, default=0)
        self.parser_size = parser.size()

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check.expect(in_types.size() == 3)
        type_check._argname(in_types, ('x', 't', 'W'))
        x, t, w = in_types
        type_check.expect(
            x.dtype.kind == 'f',
            x.ndim == 2,
            t.dtype.kind == 'i',
            t.ndim == 1,
            x.shape[0] == t.shape[0],
            w.dtype == x.dtype,
            w.ndim == 2,
        )
        type_check.expect(w.shape[1] == x.shape[1])

    @staticmethod
    def compose(
        x: chainerx.ndarray,
        t: chainerx.ndarray,
        w: chainerx.ndarray,
        *,
        paths: NdArray,
        codes: NdArray,
        begins: NdArray,
        depth: int,
    ) -> chainerx.ndarray:
        _check_words(t, len(begins) - 1)
        if depth == 0 or len(t) == 0:
            return (x * 0).sum() + (w * 0).sum()
        paths, codes, begins = (
            _as_chainerx(array).to_device(x.device) for array in (paths, codes, begins)
        )
        first = chainerx.expand_dims(begins.take(t, 0), 1)
        end = chainerx.expand_dims(begins.take(t + 1, 0), 1)
        places = first + chainerx.arange(depth, dtype='int32', device=x.device)
        inside = places < end
        places = chainerx.where(inside, places, 0)
        ways = chainerx.where(inside, codes.take(places, 0), 0)
        return _losses_again(x, w, paths.take(places, 0), ways.astype(x.dtype))


def _check_words(t: chainerx.ndarray, n: int) -> None:
    def look(arrays: tuple[chainerx.ndarray]) -> None:
        words = _to_numpy(arrays[0])
        if words.size and not 0 <= words.min() <= words.max() < n:
            bad = words[(words < 0) | (words >= n)][0]
            raise IndexError(
                f'BinaryHierarchicalSoftmax: t has {bad}, but the tree has words from 0 to {n - 1}'
            )

    late_checks.check(('words', n), (t.as_grad_stopped(),), look)


class BinaryHierarchicalSoftmax(Link):
    """A softmax as a chain of decisions in a binary tree, with its weights.

    The probability of a word is the product of those of the turns on the way to it.

    Args:
        in_size: Features of the input.
        tree: Pairs of pairs and leaves, which are the numbers of words; as
            `create_huffman_tree` makes it.
        dtype: The dtype of the arrays that describe the tree.

    Attributes:
        W (Parameter): ``(inner nodes, in_size)``.

    Source: Morin and Bengio, AISTATS 2005.
    """

    def __init__(self, in_size: int, tree: Tree, dtype: DTypeLike | None = None) -> None:
        super().__init__()
        self._func = BinaryHierarchicalSoftmaxFunction(tree, dtype)
        with self.init_scope():
            self.W = Parameter(initializers.Uniform(1.0), (self._func.parser_size, in_size))

    def device_resident_accept(self, visitor: DeviceResidentsVisitor) -> None:
        super().device_resident_accept(visitor)
        for name in ('paths', 'codes', 'begins'):
            setattr(self._func, name, visitor.visit_array(getattr(self._func, name)))

    @staticmethod
    def create_huffman_tree(word_counts: c.Mapping[int, int]) -> Tree:
        """The tree in which frequent words are near the root.

        Args:
            word_counts (dict): How often each word occurs.

        Returns:
            tuple: Pairs of pairs and words; the word itself if there is only one.

        Raises:
            ValueError: If there is no word.

        Source: Huffman, 1952.
        """
        if not word_counts:
            raise ValueError('create_huffman_tree: Empty vocabulary')
        # Among equally frequent subtrees, the one with the smallest word comes first.
        heap: list[tuple[int, int, Tree]] = [(count, i, i) for i, count in word_counts.items()]
        heapq.heapify(heap)
        while len(heap) > 1:
            count1, least1, left = heapq.heappop(heap)
            count2, least2, right = heapq.heappop(heap)
            heapq.heappush(heap, (count1 + count2, min(least1, least2), (left, right)))
        return heap[0][2]

    def forward(self, x: VariableLike, t: VariableLike) -> Variable:
        """The sum of ``-log p(t)``.

        Args:
            x (Variable or array): (N, in_size).
            t (Variable or array): (N,), integers: words.

        Returns:
            Variable: 0-d.

        Raises:
            IndexError: If a word is not in the tree's range.
        """
        f = self._func
        options = {'paths': f.paths, 'codes': f.codes, 'begins': f.begins, 'depth': f.depth}
        return f.call(x, t, self.W, **options)
