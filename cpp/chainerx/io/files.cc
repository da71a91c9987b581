#include "chainerx/io/files.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_set>

#include "chainerx/core/error.h"
#include "chainerx/io/input_file.h"
#include "chainerx/io/names.h"
#include "chainerx/io/npy.h"

namespace chainerx::io {

void CheckNames(const NamedArrays& arrays, const std::string& what) {
    std::unordered_set<std::string_view> names;
    for (const auto& [name, x] : arrays) {
        if (!names.insert(name).second)
            throw ValueError{what, ": array \"", name, "\" is there twice"};
    }
}

NamedArrays Load(const std::string& path, Device& device) {
    char start[kNpyMagicSize]{};
    {
        const InputFile file{path};
        file.ReadAt(0, start, std::min<uint64_t>(file.size(), sizeof(start)));
    }
    if (std::memcmp(start, kNpyMagic, kNpyMagicSize) == 0) return {{"", LoadNpy(path, device)}};
    // Of a zip archive, which is empty in the second case.
    if (std::memcmp(start, "PK\3\4", 4) == 0 || std::memcmp(start, "PK\5\6", 4) == 0) {
        return LoadNpz(path, device);
    }
    return LoadSafetensors(path, device);
}

void Save(const std::string& path, const NamedArrays& arrays) {
    if (path.ends_with(".npz")) return SaveNpz(path, arrays);
    if (path.ends_with(".safetensors")) return SaveSafetensors(path, arrays);
    if (!path.ends_with(".npy")) {
        throw ValueError{"io: \"", path, "\" must end in .npy, .npz or .safetensors"};
    }
    if (arrays.size() != 1) {
        throw ValueError{"io: \"", path, "\" can have one array, not ", arrays.size(),
                         ": .npz and .safetensors have several"};
    }
    SaveNpy(path, arrays[0].second);
}

}  // namespace chainerx::io
