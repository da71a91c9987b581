"""Models of Caffe."""

from chainer.links.caffe.caffe_function import CaffeFunction as CaffeFunction
