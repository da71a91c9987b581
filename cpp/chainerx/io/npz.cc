#include <memory>
#include <string_view>

#include "chainerx/core/error.h"
#include "chainerx/io/elements.h"
#include "chainerx/io/files.h"
#include "chainerx/io/names.h"
#include "chainerx/io/npy.h"
#include "chainerx/io/zip.h"

namespace chainerx::io {
namespace {

constexpr std::string_view kEntryEnd = ".npy";

}  // namespace

NamedArrays LoadNpz(const std::string& path, Device& device) {
    ZipReader zip{path};
    NamedArrays arrays;
    for (const ZipEntry& entry : zip.entries()) {
        const std::unique_ptr<Source> source = zip.Open(entry);
        std::string name = entry.name;
        if (name.ends_with(kEntryEnd)) name.resize(name.size() - kEntryEnd.size());
        arrays.emplace_back(std::move(name), ReadNpy(*source, device));
    }
    CheckNames(arrays, zip.file().what());
    return arrays;
}

void SaveNpz(const std::string& path, const NamedArrays& arrays) {
    CheckNames(arrays, StrCat("io: \"", path, "\""));
    ZipWriter zip{path};
    for (const auto& [name, x] : arrays) {
        const Array host = ToHostElements(x);
        const std::string_view data{host.raw_data(), static_cast<size_t>(host.GetNBytes())};
        zip.Add(StrCat(name, kEntryEnd), NpyHeader(host.dtype(), host.shape()), data);
    }
    zip.Close();
}

}  // namespace chainerx::io
