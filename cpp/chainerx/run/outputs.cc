#include "chainerx/run/outputs.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unordered_set>

#include "chainerx/core/error.h"

namespace chainerx::run {
namespace {

bool IsFile(const std::string& path) {
    return path.ends_with(".npy") || path.ends_with(".npz") || path.ends_with(".safetensors");
}

void AddArrays(const std::string& name, const onnx::Value& value, io::NamedArrays& arrays) {
    if (!value.array.is_null()) {
        arrays.emplace_back(name, value.array);
    } else if (value.sequence != nullptr) {
        for (size_t i = 0; i < value.sequence->size(); ++i) {
            AddArrays(StrCat(name, "[", i, "]"), (*value.sequence)[i], arrays);
        }
    }
}

}  // namespace

io::NamedArrays NameOutputs(const onnx::Model& model, const onnx::Values& values) {
    io::NamedArrays arrays;
    for (size_t i = 0; i < values.size(); ++i) {
        AddArrays(model.outputs()[i].name, values[i], arrays);
    }
    return arrays;
}

void CheckOutputPath(const onnx::Model& model, const std::string& path) {
    const size_t n = model.outputs().size();
    if (!path.ends_with(".npy") || n == 1) return;
    throw ValueError{"\"", path, "\" can have one output, but the model has ", n,
                     ": .npz, .safetensors and a folder have several"};
}

std::vector<std::string> WriteOutputs(const io::NamedArrays& arrays, const std::string& path) {
    if (IsFile(path)) {
        io::Save(path, arrays);
        return std::vector<std::string>(arrays.size(), path);
    }
    if (mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) {
        throw ValueError{"the folder \"", path, "\" can't be made: ", std::strerror(errno)};
    }
    std::vector<std::string> paths;
    std::unordered_set<std::string> made;
    for (const auto& [name, x] : arrays) {
        std::string file = name;
        std::ranges::replace(file, '/', '_');
        file = StrCat(path, path.ends_with("/") ? "" : "/", file, ".npy");
        if (!made.insert(file).second) {
            throw ValueError{"two outputs would be \"", file,
                             "\"; an .npz or .safetensors can have both"};
        }
        io::SaveNpy(file, x);
        paths.push_back(std::move(file));
    }
    return paths;
}

}  // namespace chainerx::run
