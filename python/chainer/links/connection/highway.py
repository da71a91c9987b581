"""`Highway`: a layer beside which its input passes."""

from __future__ import annotations

import collections.abc as c
import typing as tp

from chainer.functions.activation.relu import relu
from chainer.functions.activation.sigmoid import sigmoid
from chainer.link import Chain
from chainer.links.connection.linear import Linear
from chainer.variable import Variable

if tp.TYPE_CHECKING:
    from chainer._typing import InitializerSpec, VariableLike


class Highway(Chain):
    """A mean of a fully connected layer and its input, with weights from another such layer.

    Args:
        in_out_size: Features of input and output.
        nobias: Whether the layers have no biases.
        activate: Activation of the layer.
        init_Wh: Initializer of the weights of the layer; `LeCunNormal` by default.
        init_Wt: The same of the gate.
        init_bh: Initializer of the biases of the layer; 0 by default.
        init_bt: The same of the gate; -1 by default: at first, the input passes.

    Attributes:
        plain (Linear): The layer.
        transform (Linear): The gate.
        activate (callable): As given.

    Source: Srivastava et al., Highway Networks, 2015.
    """

    def __init__(
        self,
        in_out_size: int,
        nobias: bool = False,
        activate: c.Callable[[Variable], Variable] = relu,
        init_Wh: InitializerSpec | None = None,
        init_Wt: InitializerSpec | None = None,
        init_bh: InitializerSpec | None = None,
        init_bt: InitializerSpec | None = -1,
    ) -> None:
        super().__init__()
        self.activate = activate
        with self.init_scope():
            self.plain = Linear(
                in_out_size, in_out_size, nobias, initialW=init_Wh, initial_bias=init_bh
            )
            self.transform = Linear(
                in_out_size, in_out_size, nobias, initialW=init_Wt, initial_bias=init_bt
            )

    def forward(self, x: VariableLike) -> Variable:
        """Apply the layer.

        Args:
            x (Variable or array): (N, in_out_size).

        Returns:
            Variable: (N, in_out_size).
        """
        out = self.activate(self.plain(x))
        gate = sigmoid(self.transform(x))
        return out * gate + x * (1 - gate)
