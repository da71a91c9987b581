"""The steps of recurrent links as single functions, for calls that nobody looks into."""

from __future__ import annotations

import typing as tp

from chainerx._core import engine

from chainer._graph.builtin import BuiltinFunction

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes
    from chainer.links.connection.linear import Linear


class Cell(BuiltinFunction):
    """A step as one function of the input, the states, and `W` and `b` of each layer.

    A link of small layers spends more time between its functions than in them: without a graph, a
    step of a GRU takes half of the time this way. The result is the same to the bit.
    """

    check_uses_attributes = False
    # Whether the output lies between the state and that of a layer, which must have its shape.
    interpolates: tp.ClassVar[bool] = False

    @classmethod
    def step(cls, inputs: tuple[tp.Any, ...], *layers: Linear, **attributes: tp.Any) -> tp.Any:
        """The step, or None where the link has to call its layers and functions itself.

        To be called where `engine.is_tracing` is false.

        Args:
            inputs: The input and the states.
            *layers: The layers whose parameters follow.
            **attributes: All attributes of the function, in their order.

        Returns:
            Variable, or tuple of them: None if a layer is no plain `Linear`, if links have hooks,
            or if an array does not fit.
        """
        parameters = engine.linear_parameters(*layers)
        if parameters is None:
            return None
        try:
            return cls.call(*inputs, *parameters, **attributes)
        except Exception:
            return None  # the error of the link's own way names the layer

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
