"""Fine-tune a model of ONNX: one that knows five digits learns all ten.

A LeNet learns the digits 0 to 4, and is written to OUT/five_digits.onnx. Then only the file is
used: all of it but the last layer becomes a link, with a new layer behind it. First that is trained
alone, then all together. Needs pip install ".[onnx]".

    python examples/finetune_onnx.py
    python examples/finetune_onnx.py --device @numpy --out result
"""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import onnx
import onnx_chainer
from _digits import load_data, parse_args, report
from digits_chainer import predict, train
from lenet import LeNet


def export_five_digits(path, args, x, t):
    model = LeNet().to_device(args.device)
    rows = np.resize(np.flatnonzero(t < 5), len(t))
    train(model, x[rows], t[rows], max(args.epochs // 2, 1), args.batch_size)
    # The first axis is open: any number of digits.
    model.to_device('@numpy')
    onnx_chainer.export(model, x[:3], path, input_shapes=('digits', 64))


class FineTuned(chainer.Chain):
    """All but the last layer of a model of ONNX, and a layer for other classes."""

    def __init__(self, path, n_classes):
        super().__init__()
        last = onnx.load(path).graph.node[-1]
        self.is_frozen = True
        with self.init_scope():
            self.features = L.ONNXFunction(path, outputs=[last.input[0]])
            self.last = L.Linear(None, n_classes)

    def forward(self, x):
        h = self.features(x)
        if self.is_frozen:
            h.unchain()
        return self.last(F.dropout(h, 0.3))


def main():
    args = parse_args(__doc__.split('\n')[0], '@numpy, native:0, cuda:0 or @cupy:0')
    np.random.seed(args.seed)  # initial weights, dropout and the order of minibatches
    x_train, t_train, x_test, t_test = load_data()
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / 'five_digits.onnx'
    export_five_digits(path, args, x_train, t_train)
    model = FineTuned(path, n_classes=10).to_device(args.device)
    losses = train(model, x_train, t_train, max(args.epochs // 4, 1), args.batch_size)
    accuracy = (predict(model, x_test) == t_test).mean()
    print(f'Test accuracy with the last layer alone: {accuracy:.4f}')
    model.is_frozen = False
    losses += train(model, x_train, t_train, args.epochs, args.batch_size)
    report(args, losses, t_test, predict(model, x_test))


if __name__ == '__main__':
    main()
