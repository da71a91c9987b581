"""Functions of Theano, which has ended."""

from chainer.links.theano.theano_function import TheanoFunction as TheanoFunction
