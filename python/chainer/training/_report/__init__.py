"""A page of HTML about a training: `extensions.HTMLReport` and ``chainer report`` write it."""
