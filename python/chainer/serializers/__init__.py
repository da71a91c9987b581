"""Saves objects to files and loads them: NumPy's npz, HDF5, safetensors."""

from chainer.serializers import hdf5, npz, safetensors
from chainer.serializers._any import load, save
from chainer.serializers.hdf5 import HDF5Deserializer, HDF5Serializer, load_hdf5, save_hdf5
from chainer.serializers.npz import DictionarySerializer, NpzDeserializer, load_npz, save_npz
from chainer.serializers.safetensors import load_safetensors, save_safetensors

__all__ = [
    'DictionarySerializer',
    'HDF5Deserializer',
    'HDF5Serializer',
    'NpzDeserializer',
    'hdf5',
    'load',
    'load_hdf5',
    'load_npz',
    'load_safetensors',
    'npz',
    'safetensors',
    'save',
    'save_hdf5',
    'save_npz',
    'save_safetensors',
]
