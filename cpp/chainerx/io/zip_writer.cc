#include <algorithm>

#include "chainerx/core/error.h"
#include "chainerx/io/crc32.h"
#include "chainerx/io/zip.h"
#include "chainerx/io/zip_format.h"

namespace chainerx::io {
namespace {

constexpr uint16_t kVersion = 20;
constexpr uint16_t kVersion64 = 45;
constexpr uint16_t kUtf8Flag = 1 << 11;
constexpr uint16_t kFirstDate = (1 << 5) | 1;  // 1980-01-01: files of equal arrays are equal

bool Needs64(uint64_t value) { return value >= kSee64Of32; }

uint32_t Low(uint64_t value) {
    return static_cast<uint32_t>(std::min<uint64_t>(value, kSee64Of32));
}

// The record of 64 bits of the numbers that need it.
std::string Extra64(std::initializer_list<uint64_t> values) {
    std::string numbers;
    for (const uint64_t value : values) {
        if (Needs64(value)) AppendNumber(numbers, value);
    }
    if (numbers.empty()) return "";
    std::string extra;
    AppendNumber(extra, kExtra64);
    AppendNumber(extra, static_cast<uint16_t>(numbers.size()));
    return extra + numbers;
}

// What both headers of an entry have: from the version that is needed on, to the length of extra.
std::string CommonPart(const std::string& name, uint32_t crc, uint64_t size, bool needs_64,
                       uint16_t extra_size) {
    const bool is_ascii =
        std::ranges::all_of(name, [](char c) { return static_cast<unsigned char>(c) < 128; });
    std::string part;
    AppendNumber(part, needs_64 ? kVersion64 : kVersion);
    AppendNumber(part, is_ascii ? uint16_t{0} : kUtf8Flag);
    AppendNumber(part, kStored);
    AppendNumber(part, uint16_t{0});  // midnight
    AppendNumber(part, kFirstDate);
    AppendNumber(part, crc);
    AppendNumber(part, Low(size));
    AppendNumber(part, Low(size));
    AppendNumber(part, static_cast<uint16_t>(name.size()));
    AppendNumber(part, extra_size);
    return part;
}

}  // namespace

void ZipWriter::Add(const std::string& name, std::string_view head, std::string_view tail) {
    constexpr size_t kMaxName = 65535;
    if (name.size() > kMaxName) {
        throw ValueError{"io: the name of an entry has ", name.size(), " bytes, at most ", kMaxName,
                         " are possible"};
    }
    const uint64_t offset = file_.size();
    const uint64_t size = head.size() + tail.size();
    const uint32_t crc = Crc32(Crc32(0, head.data(), head.size()), tail.data(), tail.size());
    const std::string local_extra = Extra64({size, size});
    std::string local;
    AppendNumber(local, kLocalSignature);
    local += CommonPart(name, crc, size, !local_extra.empty(),
                        static_cast<uint16_t>(local_extra.size()));
    file_.Write(local + name + local_extra);
    file_.Write(head);
    file_.Write(tail);

    const std::string extra = Extra64({size, size, offset});
    AppendNumber(directory_, kEntrySignature);
    AppendNumber(directory_, kVersion64);
    directory_ += CommonPart(name, crc, size, !extra.empty(), static_cast<uint16_t>(extra.size()));
    AppendNumber(directory_, uint16_t{0});  // comment
    AppendNumber(directory_, uint16_t{0});  // disk
    AppendNumber(directory_, uint16_t{0});  // attributes
    AppendNumber(directory_, uint32_t{0});
    AppendNumber(directory_, Low(offset));
    directory_ += name + extra;
    ++n_entries_;
}

void ZipWriter::Close() {
    const uint64_t offset = file_.size();
    const uint64_t size = directory_.size();
    if (Needs64(offset) || Needs64(size) || n_entries_ >= kSee64Of16) {
        AppendNumber(directory_, kEnd64Signature);
        AppendNumber(directory_, uint64_t{kEnd64Size - 12});  // of what follows
        AppendNumber(directory_, kVersion64);
        AppendNumber(directory_, kVersion64);
        AppendNumber(directory_, uint32_t{0});  // disks
        AppendNumber(directory_, uint32_t{0});
        AppendNumber(directory_, n_entries_);
        AppendNumber(directory_, n_entries_);
        AppendNumber(directory_, size);
        AppendNumber(directory_, offset);
        AppendNumber(directory_, kLocator64Signature);
        AppendNumber(directory_, uint32_t{0});
        AppendNumber(directory_, offset + size);
        AppendNumber(directory_, uint32_t{1});  // disks in all
    }
    const auto n = static_cast<uint16_t>(std::min<uint64_t>(n_entries_, kSee64Of16));
    AppendNumber(directory_, kEndSignature);
    AppendNumber(directory_, uint32_t{0});  // both disks
    AppendNumber(directory_, n);
    AppendNumber(directory_, n);
    AppendNumber(directory_, Low(size));
    AppendNumber(directory_, Low(offset));
    AppendNumber(directory_, uint16_t{0});  // comment
    file_.Write(directory_);
    file_.Close();
}

}  // namespace chainerx::io
