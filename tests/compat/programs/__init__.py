"""Small programs in the manner of what people wrote for Chainer v7.

Each is a module with `train(device, start)`: it runs some iterations, hands what the first one
starts with to `start`, by name, and returns what it observed, a row for each iteration.
"""
