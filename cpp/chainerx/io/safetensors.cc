// Safetensors: the length of a header, the header in JSON, then the elements of all arrays.
#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "chainerx/core/error.h"
#include "chainerx/io/elements.h"
#include "chainerx/io/files.h"
#include "chainerx/io/input_file.h"
#include "chainerx/io/json.h"
#include "chainerx/io/names.h"
#include "chainerx/io/output_file.h"
#include "chainerx/io/source.h"

namespace chainerx::io {
namespace {

// Room for 100,000 arrays.
constexpr uint64_t kMaxHeader = uint64_t{1} << 24;
constexpr uint64_t kLengthSize = 8;
constexpr std::string_view kMetadata = "__metadata__";
constexpr size_t kAlignment = 8;

struct DtypeName {
    Dtype dtype;
    std::string_view name;
};

constexpr DtypeName kNames[] = {
    {Dtype::kBool, "BOOL"},   {Dtype::kInt8, "I8"},       {Dtype::kInt16, "I16"},
    {Dtype::kInt32, "I32"},   {Dtype::kInt64, "I64"},     {Dtype::kUInt8, "U8"},
    {Dtype::kUInt16, "U16"},  {Dtype::kUInt32, "U32"},    {Dtype::kUInt64, "U64"},
    {Dtype::kFloat16, "F16"}, {Dtype::kBFloat16, "BF16"}, {Dtype::kFloat32, "F32"},
    {Dtype::kFloat64, "F64"}, {Dtype::kComplex64, "C64"}};

struct Entry {
    std::string name;
    std::string what;
    Dtype dtype{Dtype::kFloat32};
    std::vector<int64_t> dims;
    uint64_t begin{0};
    uint64_t end{0};
};

Dtype ToDtype(const std::string& name, const std::string& what) {
    for (const DtypeName& row : kNames) {
        if (row.name == name) return row.dtype;
    }
    throw DtypeError{what, " has dtype ", name, ", which no array has"};
}

Entry ReadEntry(JsonReader& json, const std::string& name, const std::string& file) {
    Entry entry;
    entry.name = name;
    entry.what = StrCat(file, ": array \"", name, "\"");
    std::optional<std::string> dtype;
    std::optional<std::vector<uint64_t>> shape;
    std::optional<std::vector<uint64_t>> offsets;
    json.Object([&](const std::string& key) {
        if (key == "dtype" && !dtype.has_value()) {
            dtype = json.String();
        } else if (key == "shape" && !shape.has_value()) {
            shape = json.Numbers();
        } else if (key == "data_offsets" && !offsets.has_value()) {
            offsets = json.Numbers();
        } else {
            json.Fail(StrCat("array \"", name, "\" has an unknown or second entry \"", key, "\""));
        }
    });
    if (!dtype.has_value() || !shape.has_value() || !offsets.has_value()) {
        throw ValueError{entry.what, " lacks one of dtype, shape and data_offsets"};
    }
    entry.dtype = ToDtype(*dtype, entry.what);
    for (const uint64_t d : *shape) {
        entry.dims.push_back(static_cast<int64_t>(d));  // a larger one is negative: impossible
    }
    if (offsets->size() != 2 || (*offsets)[0] > (*offsets)[1]) {
        throw ValueError{entry.what, ": data_offsets must be a beginning and an end behind it"};
    }
    entry.begin = (*offsets)[0];
    entry.end = (*offsets)[1];
    return entry;
}

std::vector<Entry> ReadHeader(const std::string& text, const std::string& file) {
    std::vector<Entry> entries;
    JsonReader json{text, file};
    bool has_metadata = false;
    json.Object([&](const std::string& name) {
        if (name != kMetadata) {
            entries.push_back(ReadEntry(json, name, file));
            return;
        }
        if (has_metadata) json.Fail("a second __metadata__");
        has_metadata = true;
        json.Object([&json](const std::string&) { json.String(); });
    });
    json.ExpectEnd();
    return entries;
}

// Arrays must lie one behind the other, and fill the file.
void CheckOffsets(const std::vector<Entry>& entries, uint64_t size, const std::string& file) {
    std::vector<const Entry*> sorted;
    for (const Entry& entry : entries) sorted.push_back(&entry);
    std::ranges::sort(sorted, [](const Entry* a, const Entry* b) {
        return std::pair{a->begin, a->end} < std::pair{b->begin, b->end};
    });
    uint64_t end = 0;
    for (const Entry* entry : sorted) {
        if (entry->begin != end) {
            throw ValueError{entry->what,
                             " begins at byte ",
                             entry->begin,
                             " of the data, but ",
                             entry->begin < end ? "another one ends" : "the ones before end",
                             " at byte ",
                             end};
        }
        end = entry->end;
        if (end > size) {
            throw ValueError{entry->what, " ends at byte ", end, " of the data, which has ", size};
        }
    }
    if (end != size) {
        throw ValueError{file, " has ", size, " bytes of data, but its arrays end at byte ", end};
    }
}

}  // namespace

NamedArrays LoadSafetensors(const std::string& path, Device& device) {
    const InputFile file{path};
    const std::string what = file.what();
    uint64_t length = 0;
    if (file.size() >= kLengthSize) file.ReadAt(0, &length, kLengthSize);
    if (file.size() < kLengthSize || length > std::min(file.size() - kLengthSize, kMaxHeader)) {
        throw ValueError{what,
                         " is no .npy, .npz or .safetensors: as one of the last, its header "
                         "would have ",
                         length,
                         " of ",
                         file.size(),
                         " bytes, at most ",
                         kMaxHeader,
                         " are allowed"};
    }
    const std::vector<Entry> entries = ReadHeader(file.ReadAt(kLengthSize, length), what);
    const uint64_t start = kLengthSize + length;
    CheckOffsets(entries, file.size() - start, what);
    NamedArrays arrays;
    for (const Entry& e : entries) {
        const Shape shape = CheckShape(e.dims, e.dtype, e.end - e.begin, e.what);
        FileSource source{file, start + e.begin, e.end - e.begin, e.what};
        arrays.emplace_back(e.name,
                            ReadElements(source, shape, e.dtype, ByteOrder::kNative, device));
    }
    CheckNames(arrays, what);
    return arrays;
}

void SaveSafetensors(const std::string& path, const NamedArrays& arrays) {
    const std::string what = StrCat("io: \"", path, "\"");
    CheckNames(arrays, what);
    // The widest first, so that each array is aligned.
    std::vector<const NamedArrays::value_type*> sorted;
    for (const auto& pair : arrays) sorted.push_back(&pair);
    std::ranges::stable_sort(sorted, std::ranges::greater{},
                             [](const auto* pair) { return pair->second.GetItemSize(); });
    std::string header = "{";
    uint64_t end = 0;
    for (const auto* pair : sorted) {
        const auto& [name, x] = *pair;
        const auto* row = std::ranges::find(kNames, x.dtype(), &DtypeName::dtype);
        if (row == std::end(kNames)) {
            throw DtypeError{
                what, ": array \"", name, "\" has dtype ", x.dtype(), ", which safetensors lacks"};
        }
        if (name == kMetadata) throw ValueError{what, ": no array may have the name ", kMetadata};
        const uint64_t begin = end;
        end += static_cast<uint64_t>(x.GetNBytes());
        header += StrCat(header.size() > 1 ? "," : "", ToJson(name), ":{\"dtype\":\"", row->name,
                         "\",\"shape\":[");
        for (int64_t i = 0; i < x.ndim(); ++i) header += StrCat(i == 0 ? "" : ",", x.shape()[i]);
        header += StrCat("],\"data_offsets\":[", begin, ",", end, "]}");
    }
    header += '}';
    header.resize((header.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
    OutputFile file{path};
    const uint64_t length = header.size();
    file.Write(&length, sizeof(length));
    file.Write(header);
    for (const auto* pair : sorted) {
        const Array host = ToHostElements(pair->second);
        file.Write(host.raw_data(), static_cast<uint64_t>(host.GetNBytes()));
    }
    file.Close();
}

}  // namespace chainerx::io
