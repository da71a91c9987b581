"""The steps of recurrent links as single functions, for calls that nobody looks into."""

from __future__ import annotations

import typing as tp

from chainer._graph.builtin import BuiltinFunction

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes


class Cell(BuiltinFunction):
    """A step as one function of the input, the states, and `W` and `b` of each layer.

    A link of small layers spends more time between its functions than in them: without a graph, a
    step of a GRU takes a third of the time this way. The result is the same to the bit.
    `engine.apply_to_layers` calls it, where `engine.is_tracing` is false.
    """

    check_uses_attributes = False
    # Whether the output lies between the state and that of a layer, which must have its shape.
    interpolates: tp.ClassVar[bool] = False

    def check_type_forward(self, in_types: InTypes) -> None:
        """Refuses what the link's own way might refuse, or convert."""
        dtype = in_types[0].dtype
        x, *others = [array.shape for array in in_types]
        fits = dtype.kind == 'f' and all(array.dtype == dtype for array in in_types)
        if fits and self.interpolates:
            h, *parameters = others
            fits = all(h == (x[0], shape[0]) for shape in parameters)
        if not fits or len(x) < 2:
            raise ValueError(f'{type(self).__name__}: the arrays do not fit')
