"""Small programs in the style of those that people wrote for Chainer v7.

Each is a module with `train(device, start)`: it runs some iterations, passes the initial values of
the first one to `start`, by name, and returns its observations, one row per iteration.
"""
