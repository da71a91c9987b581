// Arrays from files and to files: NumPy's .npy and .npz, and .safetensors.
//
//     chainerx::Array x = chainerx::io::LoadNpy("x.npy");
//     for (const auto& [name, w] : chainerx::io::Load("weights.npz")) model.SetParameter(name, w);
//
// Errors name the file and what is wrong in it: ValueError for a file that can't be read or
// contradicts itself, and for Python objects, which are never unpickled; DtypeError and
// DimensionError for dtypes and shapes that no array has. Memory is taken for no more than the file
// has. Bytes of numbers may be in any order, arrays in C's or Fortran's.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/device.h"
#include "chainerx/core/macro.h"

namespace chainerx::io {

// In the order of the file.
using NamedArrays = std::vector<std::pair<std::string, Array>>;

CX_API Array LoadNpy(const std::string& path, Device& device = GetDefaultDevice());
// What numpy.savez, numpy.savez_compressed and chainer.serializers.save_npz write. Compressed
// arrays need zlib: libz.so.1, or what $CHAINERX_ZLIB names.
CX_API NamedArrays LoadNpz(const std::string& path, Device& device = GetDefaultDevice());
CX_API NamedArrays LoadSafetensors(const std::string& path, Device& device = GetDefaultDevice());
// Any of them, by its contents. The array of an .npy has the name "".
CX_API NamedArrays Load(const std::string& path, Device& device = GetDefaultDevice());

// These write a whole file, then replace an old one by it. Arrays may be on any device and have any
// layout. The bytes of an .npy are those that NumPy writes; bfloat16, which its format lacks, is
// two raw bytes, as chainerx.save writes it. ValueError if a file can't be written, or if two
// arrays have one name; DtypeError for complex128 in .safetensors, which lacks it.
CX_API void SaveNpy(const std::string& path, const Array& x);
CX_API void SaveNpz(const std::string& path, const NamedArrays& arrays);
CX_API void SaveSafetensors(const std::string& path, const NamedArrays& arrays);
// By the end of the path; ValueError for another end, or if an .npy is to have several arrays.
CX_API void Save(const std::string& path, const NamedArrays& arrays);

}  // namespace chainerx::io
