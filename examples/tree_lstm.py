"""Read programs as trees: does a function of Python's library return a value? A tree-LSTM.

python examples/tree_lstm.py
python examples/tree_lstm.py --device @numpy --epochs 10

Trees are made by Python's own parser from functions of its library, so there is nothing to
download. A node has two children, its first child and its next sibling, as any tree can be written;
a missing one is zeros. The model only sees the type of a node: to know that `return` has a value,
and does not belong to an inner function, information from below must reach the root. The program
ends with an error below MIN_ACCURACY.
"""

import ast
import collections
import pathlib
import sys

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from _plots import save_confusion
from _programs import parse_args, run_batches, to_numpy

MIN_ACCURACY = 0.9
MODULES = """argparse ast base64 bdb calendar cmd code codecs configparser copy csv datetime difflib
    dis doctest enum fractions ftplib glob gzip heapq inspect locale mailbox optparse pathlib pdb
    pickle platform plistlib pprint pydoc random sched shlex shutil smtplib socket statistics string
    subprocess tarfile tempfile textwrap threading tokenize trace traceback types uuid zipfile"""
INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)

# `heights[k]` has the nodes whose children are all in lower ones: types, and for each child its
# height and index there, or None.
Tree = collections.namedtuple('Tree', 'heights label')


def returns_value(function):
    todo = list(function.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Return) and node.value is not None:
            return True
        if not isinstance(node, INNER):
            todo += ast.iter_child_nodes(node)
    return False


def make_tree(function, number):
    heights = []

    def add(nodes):
        """Adds the first of some siblings, with the next ones as its second child."""
        if not nodes:
            return None
        below = [add(list(ast.iter_child_nodes(nodes[0]))), add(nodes[1:])]
        height = max((child[0] + 1 for child in below if child), default=0)
        while len(heights) <= height:
            heights.append([])
        heights[height].append((number.setdefault(type(nodes[0]).__name__, len(number)), below))
        return height, len(heights[height]) - 1

    add(function.body)
    return Tree(heights, int(returns_value(function)))


def load_trees():
    """Trees of short functions, equally many of each label, in a fixed order."""
    number, found = {}, ([], [])
    for name in MODULES.split():
        path = pathlib.Path(ast.__file__).with_name(f'{name}.py')
        for node in ast.walk(ast.parse(path.read_text('utf-8'))) if path.exists() else ():
            if isinstance(node, ast.FunctionDef) and 10 <= sum(1 for _ in ast.walk(node)) <= 80:
                tree = make_tree(node, number)
                found[tree.label].append(tree)
    n = min(map(len, found))
    trees = [tree for some in found for tree in some[:n]]
    order = np.random.RandomState(0).permutation(len(trees))
    return [trees[i] for i in order], len(number)


class TreeNet(chainer.Chain):
    def __init__(self, n_kinds, n_units=48):
        super().__init__()
        self.n_units = n_units
        with self.init_scope():
            self.embed = L.EmbedID(n_kinds, n_units)
            self.tree = L.NaryTreeLSTM(n_units, n_units, n_ary=2)
            self.out = L.Linear(n_units, 2)

    def forward(self, trees):
        """Scores of the labels; all nodes of one height, of all trees, are computed at once."""
        zeros = chainer.Variable(self.xp.zeros((1, self.n_units), dtype=np.float32))
        known = {}  # (tree, height, index) -> (c, h)
        for height in range(max(len(tree.heights) for tree in trees)):
            places, kinds, children = [], [], ([], [])
            for i, tree in enumerate(trees):
                level = tree.heights[height] if height < len(tree.heights) else []
                for j, (kind, below) in enumerate(level):
                    places.append((i, height, j))
                    kinds.append(kind)
                    for side, child in zip(children, below, strict=True):
                        side.append(known[(i, *child)] if child else (zeros, zeros))
            x = self.embed(self.xp.array(kinds, dtype=np.int32))
            states = [F.concat([s[k] for s in side], axis=0) for k in (0, 1) for side in children]
            cs, hs = (F.split_axis(y, len(places), 0) for y in self.tree(*states, x))
            known.update(zip(places, zip(cs, hs, strict=True), strict=True))
        roots = [known[i, len(tree.heights) - 1, 0][1] for i, tree in enumerate(trees)]
        return self.out(F.concat(roots, axis=0))


def labels_of(trees, xp):
    return xp.array([tree.label for tree in trees], dtype=np.int32)


def main():
    args = parse_args(__doc__, epochs=4, batch_size=50)
    trees, n_kinds = load_trees()
    n_train = len(trees) * 4 // 5
    model = TreeNet(n_kinds)
    model.to_device(args.device)
    optimizer = chainer.optimizers.Adam(alpha=0.005)
    optimizer.setup(model)

    def step(indices):
        batch = [trees[i] for i in indices]
        loss = F.softmax_cross_entropy(model(batch), labels_of(batch, model.xp))
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss.array

    losses = run_batches(step, n_train, args)
    unseen = trees[n_train:]
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        guess = to_numpy(model(unseen).array).argmax(axis=1)
    truth = labels_of(unseen, np)
    accuracy = (guess == truth).mean()
    if not args.no_plots:
        save_confusion(args.out, 'tree_lstm.png', losses, ['nothing', 'a value'], truth, guess)
    print(f'Score: {accuracy:.4f} of {len(unseen)} unseen functions (device {args.device})')
    if accuracy < MIN_ACCURACY:
        sys.exit(f'The accuracy is {accuracy:.4f}, below the {MIN_ACCURACY} that it must reach.')


if __name__ == '__main__':
    main()
