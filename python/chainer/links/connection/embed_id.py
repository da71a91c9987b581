"""`EmbedID`: a table of vectors."""

from __future__ import annotations

import typing as tp

from chainer import initializers
from chainer.functions.connection.embed_id import embed_id
from chainer.link import Link
from chainer.links.connection.linear import _as_array
from chainer.variable import Parameter, Variable

if tp.TYPE_CHECKING:
    from chainer._typing import InitializerSpec, VariableLike


class EmbedID(Link):
    """Rows of a table, chosen by integers.

    Args:
        in_size: Number of ids.
        out_size: Length of a row.
        initialW: Initializer of `W`; ``Normal(1)`` by default.
        ignore_label: Id whose row is all zeros, or None.

    Attributes:
        W (Parameter): Table, ``(in_size, out_size)``.
    """

    ignore_label: int | None = None

    def __init__(
        self,
        in_size: int,
        out_size: int,
        initialW: InitializerSpec | None = None,
        ignore_label: int | None = None,
    ) -> None:
        super().__init__()
        self.ignore_label = ignore_label
        initializer = initializers.Normal(1.0) if initialW is None else initialW
        with self.init_scope():
            self.W = Parameter(initializers._get_initializer(initializer), (in_size, out_size))

    @classmethod
    def from_params(cls, W: VariableLike, ignore_label: int | None = None) -> tp.Self:
        """Make the link from a table.

        Args:
            W (array or Variable): (in_size, out_size); it is copied.
            ignore_label (int): As in the constructor.

        Returns:
            EmbedID: A new one.
        """
        in_size, out_size = W.shape
        return cls(in_size, out_size, initialW=_as_array(W), ignore_label=ignore_label)

    def forward(self, x: VariableLike) -> Variable:
        """Look rows up.

        Args:
            x (Variable or array): Numbers of rows; any shape, any integer dtype.

        Returns:
            Variable: ``W[x]``, of shape ``x.shape + (out_size,)``.
        """
        return embed_id(x, self.W, ignore_label=self.ignore_label)
