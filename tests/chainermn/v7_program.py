"""Trains a network on a part of the data in each process, as programs for ChainerMN do."""

import argparse

import chainer
import chainer.functions as F
import chainer.links as L
import chainermn
import numpy as np
from chainer import training
from chainer.training import extensions


class MLP(chainer.Chain):
    def __init__(self, n_units, n_out):
        super().__init__(l1=L.Linear(None, n_units), l2=L.Linear(n_units, n_out))

    def __call__(self, x):
        return self.l2(F.relu(self.l1(x)))


def get_data():
    random = np.random.RandomState(0)
    x = random.uniform(-1, 1, (1200, 5)).astype(np.float32)
    data = chainer.datasets.TupleDataset(x, (x[:, 0] + x[:, 1] > 0).astype(np.int32))
    return chainer.datasets.split_dataset(data, 1000)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--communicator', default='naive')
    parser.add_argument('--device', '-d', default='-1')
    parser.add_argument('--out', default='result')
    args = parser.parse_args()

    comm = chainermn.create_communicator(args.communicator)
    device = chainer.get_device(args.device)
    device.use()
    if comm.rank == 0:
        print(f'Num process: {comm.size}')

    model = L.Classifier(MLP(30, 2))
    model.to_device(device)
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.Adam(0.01), comm)
    optimizer.setup(model)

    train, test = get_data() if comm.rank == 0 else (None, None)
    train = chainermn.scatter_dataset(train, comm, shuffle=True, seed=1)
    test = chainermn.scatter_dataset(test, comm, shuffle=True)
    train_iter = chainer.iterators.SerialIterator(train, 20)
    test_iter = chainer.iterators.SerialIterator(test, 20, repeat=False, shuffle=False)

    updater = training.StandardUpdater(train_iter, optimizer, device=device)
    trainer = training.Trainer(updater, (3, 'epoch'), out=args.out)
    evaluator = extensions.Evaluator(test_iter, model, device=device)
    trainer.extend(chainermn.create_multi_node_evaluator(evaluator, comm))
    trainer.extend(chainermn.extensions.AllreducePersistent(model, comm))
    if comm.rank == 0:
        trainer.extend(extensions.LogReport())
        trainer.extend(extensions.observe_lr())
        keys = ['epoch', 'main/loss', 'lr', 'validation/main/loss', 'validation/main/accuracy']
        trainer.extend(extensions.PrintReport(keys))
    trainer.run()


if __name__ == '__main__':
    main()
