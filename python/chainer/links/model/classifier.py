"""`Classifier`: a predictor with a loss and an accuracy."""

from __future__ import annotations

import typing as tp

from chainer import reporter
from chainer.functions.evaluation.accuracy import accuracy
from chainer.functions.loss.softmax_cross_entropy import softmax_cross_entropy
from chainer.link import Chain
from chainer.variable import Variable

if tp.TYPE_CHECKING:
    from chainer._typing import Layer


class Classifier(Chain):
    """Computes a loss of the output of a predictor, and reports loss and accuracy.

    Args:
        predictor: A link, or another callable.
        lossfun: Called with prediction and label.
        accfun: The same, for the accuracy; None for none.
        label_key: Which argument is the label: an index of the positional ones, or a keyword.

    Attributes:
        compute_accuracy (bool): Whether the accuracy is computed.
        y, loss, accuracy: Of the last call.
    """

    compute_accuracy = True

    def __init__(
        self,
        predictor: Layer,
        lossfun: Layer = softmax_cross_entropy,
        accfun: Layer = accuracy,
        label_key: int | str = -1,
    ) -> None:
        if not isinstance(label_key, int | str):
            raise TypeError(f'label_key must be int or str, but is {type(label_key)}')
        super().__init__()
        self.lossfun = lossfun
        self.accfun = accfun
        self.y: Variable | None = None
        self.loss: tp.Any = None
        self.accuracy: tp.Any = None
        self.label_key = label_key
        with self.init_scope():
            self.predictor = predictor

    def forward(self, *args: object, **kwargs: object) -> Variable:
        """Compute the loss; all arguments but the label go to the predictor.

        Args:
            *args: The arguments of the predictor, and the label if `label_key` is an index.
            **kwargs: Keyword arguments of the predictor, and the label if `label_key` is a keyword.

        Returns:
            Variable: The loss.

        Raises:
            ValueError: If there is no label.
        """
        key = self.label_key
        if isinstance(key, int):
            if not -len(args) <= key < len(args):
                raise ValueError(
                    f'Label key {key} is out of bounds: there are {len(args)} positional arguments'
                    + (f', and the keywords {", ".join(kwargs)}' if kwargs else '')
                )
            t = args[key]
            args = args[:key] + args[key + 1 :] if key != -1 else args[:-1]
        else:
            if key not in kwargs:
                names = ', '.join(kwargs) or 'none'
                raise ValueError(f'Label key "{key}" is not found; the keywords are: {names}')
            t = kwargs.pop(key)

        # Not kept over an error.
        self.y = self.loss = self.accuracy = None
        self.y = self.predictor(*args, **kwargs)
        self.loss = self.lossfun(self.y, t)
        reporter.report({'loss': self.loss}, self)
        if self.compute_accuracy:
            self.accuracy = self.accfun(self.y, t)
            reporter.report({'accuracy': self.accuracy}, self)
        return self.loss
