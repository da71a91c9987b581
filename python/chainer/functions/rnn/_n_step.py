"""Base classes of functions over whole sequences."""

from __future__ import annotations

import itertools
import typing as tp

from chainerx._core import engine

from chainer import configuration, variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine
from chainer.utils import argument, type_check

if tp.TYPE_CHECKING:
    from chainer._typing import Arrays, InTypes, VariableLike

ListsOfArrays = tp.Sequence[tp.Sequence[tp.Any]]


def check_dropout(name: str, ratio: float) -> None:
    """Refuses a value that is not a valid ratio."""
    if not 0.0 <= ratio <= 1.0:
        raise ValueError(f'{name}: dropout_ratio is {ratio}, expected 0 to 1')


class NStep(BuiltinFunction):
    """Base of the functions: stacked layers, of which subclasses say the cell.

    Inputs are the states, the weights and biases one after the other, and the steps. Each has a
    twin, ``of_sequences``, that takes whole sequences in any order instead, as links do.
    """

    check_uses_attributes = False
    cell: tp.ClassVar[str]
    directions: tp.ClassVar[int] = 1
    by_sequence: tp.ClassVar[bool] = False
    of_sequences: tp.ClassVar[type[NStep]]

    def __init_subclass__(cls, **kwargs: object) -> None:
        if 'cell' in vars(cls):  # else it is a user's
            compute = engine.Native('n_step', cls.cell, cls.directions == 2, cls.by_sequence)
            cls.compose = routine(compute, n_layers=..., dropout_ratio=0.0, key=0)
        super().__init_subclass__(**kwargs)
        if 'cell' in vars(cls) and not cls.by_sequence:
            own = {'cell': cls.cell, 'by_sequence': True, '__module__': cls.__module__}
            cls.of_sequences = type(cls.__name__, (cls,), own)

    @classmethod
    def _n_states(cls) -> int:
        return 2 if cls.cell == 'lstm' else 1

    @classmethod
    def _n_weights(cls) -> int:
        """Return the number of weights per layer and direction; it has as many biases."""
        return {'lstm': 8, 'gru': 6}.get(cls.cell, 2)

    def _fits(self, arrays: Arrays | tuple) -> bool:
        """The check without texts, in a tenth of the time: there may be hundreds of inputs."""
        n_states, n_weights = self._n_states(), self._n_weights()
        dtype = arrays[0].dtype
        shapes = [x.shape for x in arrays]
        if dtype.kind != 'f' or len(shapes[0]) != 3 or any(x.dtype != dtype for x in arrays):
            return False
        n, rows, units = shapes[0]
        if n != self.n_layers * self.directions:
            return False
        first_b = n_states + n * n_weights
        first_x = first_b + n * n_weights
        steps = shapes[first_x:]
        if not steps or len(steps[0]) != 2:
            return False
        half = n_weights // 2
        of_state = [(units, units)] * half
        expected = [shapes[0]] * n_states
        for i in range(n):
            ins = steps[0][1] if i < self.directions else self.directions * units
            expected += [(units, ins)] * half + of_state
        expected += [(units,)] * (n * n_weights)
        if shapes[:first_x] != expected:
            return False
        if any(shape[1:] != steps[0][1:] for shape in steps):
            return False
        if self.by_sequence:
            return len(steps) == rows
        return rows >= steps[0][0] and all(x[0] >= y[0] for x, y in itertools.pairwise(steps))

    def check_type_forward(self, in_types: InTypes) -> None:
        if isinstance(in_types, type_check.LightTypeInfoTuple) and self._fits(in_types):
            return
        n_states, n_weights = self._n_states(), self._n_weights()
        hx = in_types[0]
        type_check._argname(in_types[:n_states], ('hx', 'cx')[:n_states])
        type_check.expect(hx.dtype.kind == 'f', hx.ndim == 3)
        n, _, units = type_check.eval(hx.shape)
        expected = type_check.make_variable(self.n_layers * self.directions, 'layers * directions')
        type_check.expect(hx.shape[0] == expected)
        ends = list(itertools.accumulate((n_states, n * n_weights, n * n_weights)))
        weights, biases, xs = (
            [in_types[i] for i in range(begin, end)]
            for begin, end in itertools.pairwise((*ends, type_check.eval(in_types.size())))
        )
        for name, arrays in (('ws', weights), ('bs', biases)):
            names = [f'{name}[{i}][{j}]' for i in range(n) for j in range(n_weights)]
            type_check._argname(tuple(arrays), tuple(names))
        type_check._argname(tuple(xs), tuple(f'xs[{t}]' for t in range(len(xs))))
        if n_states == 2:
            cx = in_types[1]
            type_check.expect(cx.dtype == hx.dtype, cx.shape == hx.shape)
        before = hx.shape[1]
        if self.by_sequence:
            type_check.expect(before == type_check.make_variable(len(xs), 'len(xs)'))
        for x in xs:
            type_check.expect(x.dtype == hx.dtype, x.ndim == 2, x.shape[1] == xs[0].shape[1])
            if not self.by_sequence:
                type_check.expect(x.shape[0] <= before)
                before = x.shape[0]
        for k, (w, b) in enumerate(zip(weights, biases, strict=True)):
            i, j = divmod(k, n_weights)
            is_first = i < self.directions and j < n_weights // 2
            wide = self.directions * units if j < n_weights // 2 else units
            features = xs[0].shape[1] if is_first else wide
            type_check.expect(w.dtype == hx.dtype, w.ndim == 2, w.shape[0] == units)
            type_check.expect(w.shape[1] == features)
            type_check.expect(b.dtype == hx.dtype, b.shape == (units,))

    @classmethod
    def _apply(
        cls,
        name: str,
        n_layers: int,
        dropout_ratio: float,
        states: tuple[VariableLike, ...],
        ws: ListsOfArrays,
        bs: ListsOfArrays,
        xs: tp.Sequence[VariableLike],
        removed: dict[str, object],
    ) -> tp.Any:
        """Implements the public functions."""
        if removed:
            argument.check_unexpected_kwargs(
                removed,
                train='train argument is not supported anymore. Use chainer.using_config',
                use_cudnn='use_cudnn argument is not supported anymore. Use chainer.using_config',
            )
            argument.assert_kwargs_empty(removed)
        cls._check_lists(name, n_layers, ws, bs)
        check_dropout(name, dropout_ratio)
        if not isinstance(xs, (list, tuple)):
            raise TypeError(f'{name}: xs is a {type(xs).__name__}, expected a list or tuple')
        lasts = tuple(variable.as_variable(x) for x in states)
        if not xs:
            return (*lasts, ())
        flat = itertools.chain.from_iterable
        outputs = cls.run(n_layers, dropout_ratio, [*states, *flat(ws), *flat(bs), *xs])
        return (*outputs[: len(states)], outputs[len(states) :])

    @classmethod
    def run(
        cls, n_layers: int, dropout_ratio: float, inputs: tp.Sequence[VariableLike]
    ) -> tuple[variable.Variable, ...]:
        """The last states, and the steps or sequences, one after the other."""
        if dropout_ratio and (n_layers == 1 or not configuration.config.train):
            dropout_ratio = 0.0
        key = engine.draw_key() if dropout_ratio else 0
        return cls.call(*inputs, n_layers=n_layers, dropout_ratio=dropout_ratio, key=key)

    @classmethod
    def _check_lists(cls, name: str, n_layers: int, ws: ListsOfArrays, bs: ListsOfArrays) -> None:
        if n_layers < 1:
            raise ValueError(f'{name}: n_layers is {n_layers}, expected at least 1')
        n, n_weights = n_layers * cls.directions, cls._n_weights()
        for lists_name, lists in (('ws', ws), ('bs', bs)):
            if len(lists) != n:
                raise ValueError(
                    f'{name}: {lists_name} has {len(lists)} lists, expected {n}: {n_layers} '
                    f'layers in {cls.directions} directions'
                )
            for i, arrays in enumerate(lists):
                if len(arrays) != n_weights:
                    raise ValueError(
                        f'{name}: {lists_name}[{i}] has {len(arrays)} arrays, expected {n_weights}'
                    )
