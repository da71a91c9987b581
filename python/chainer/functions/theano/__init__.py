"""Functions of Theano, which has ended."""
