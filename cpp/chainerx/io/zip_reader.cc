#include <algorithm>
#include <unordered_set>

#include "chainerx/core/error.h"
#include "chainerx/io/crc32.h"
#include "chainerx/io/zip.h"
#include "chainerx/io/zip_format.h"

namespace chainerx::io {
namespace {

constexpr uint64_t kMaxComment = 65535;
constexpr uint64_t kMaxRatio = 1032;  // of deflate: 258 bytes in two bits
constexpr uint16_t kEncryptedFlag = 1;

struct Directory {
    uint64_t offset;
    uint64_t size;
    uint64_t n_entries;
};

// Fails for an archive of several files.
void CheckDisks(uint32_t disk, uint32_t first_disk, const std::string& what) {
    if (disk != 0 || first_disk != 0) {
        throw ValueError{what, " is one of several files of an archive"};
    }
}

// Finds the directory that a record of 64 bits names, by the locator of that record, which lies
// right before `end_offset`. Returns false if there is none; sets `end` to where the directory must
// end.
bool FindDirectory64(const InputFile& file, uint64_t end_offset, Directory& found, uint64_t& end) {
    if (end_offset < kLocator64Size) return false;
    const std::string locator = file.ReadAt(end_offset - kLocator64Size, kLocator64Size);
    if (NumberAt<uint32_t>(locator, 0) != kLocator64Signature) return false;
    end = NumberAt<uint64_t>(locator, 8);
    const uint64_t most = end_offset - kLocator64Size;
    const std::string record =
        end <= most && kEnd64Size <= most - end ? file.ReadAt(end, kEnd64Size) : "";
    if (record.empty() || NumberAt<uint32_t>(record, 0) != kEnd64Signature) {
        throw ValueError{file.what(), " has no directory: its end is said to be at byte ", end};
    }
    CheckDisks(NumberAt<uint32_t>(record, 16), NumberAt<uint32_t>(record, 20), file.what());
    found = {NumberAt<uint64_t>(record, 48), NumberAt<uint64_t>(record, 40),
             NumberAt<uint64_t>(record, 32)};
    return true;
}

// Finds the directory by the record at the end of the file, behind which a comment may stand.
Directory FindDirectory(const InputFile& file) {
    const std::string what = file.what();
    const uint64_t n = std::min(file.size(), kMaxComment + kEndSize);
    const std::string tail = file.ReadAt(file.size() - n, n);
    for (uint64_t i = n < kEndSize ? 0 : n - kEndSize + 1; i-- > 0;) {
        const std::string_view record = std::string_view{tail}.substr(i);
        if (NumberAt<uint32_t>(record, 0) != kEndSignature ||
            NumberAt<uint16_t>(record, 20) != record.size() - kEndSize) {
            continue;
        }
        const uint64_t end_offset = file.size() - n + i;
        uint64_t end = end_offset;
        Directory d{NumberAt<uint32_t>(record, 16), NumberAt<uint32_t>(record, 12),
                    NumberAt<uint16_t>(record, 10)};
        if (!FindDirectory64(file, end_offset, d, end)) {
            CheckDisks(NumberAt<uint16_t>(record, 4), NumberAt<uint16_t>(record, 6), what);
        }
        if (d.offset > end || d.size != end - d.offset || d.n_entries > d.size / kEntrySize) {
            throw ValueError{what,        ": its directory is said to have ",
                             d.n_entries, " entries in ",
                             d.size,      " bytes from byte ",
                             d.offset,    " on, but ends at byte ",
                             end};
        }
        return d;
    }
    throw ValueError{what, " is cut off, or no .npz: it has no directory at its end"};
}

// Replaces numbers that stand in the record of 64 bits.
void ReadExtra64(std::string_view extra, ZipEntry& entry, const std::string& what) {
    constexpr size_t kHeadSize = 4;
    while (extra.size() >= kHeadSize) {
        const auto id = NumberAt<uint16_t>(extra, 0);
        const auto size = NumberAt<uint16_t>(extra, 2);
        extra.remove_prefix(kHeadSize);
        if (size > extra.size()) break;
        std::string_view record = extra.substr(0, size);
        extra.remove_prefix(size);
        if (id != kExtra64) continue;
        // In this order, those that have no room elsewhere.
        for (uint64_t* value : {&entry.size, &entry.compressed_size, &entry.header_offset}) {
            if (*value != kSee64Of32 || record.size() < sizeof(uint64_t)) continue;
            *value = NumberAt<uint64_t>(record, 0);
            record.remove_prefix(sizeof(uint64_t));
        }
        return;
    }
    for (const uint64_t value : {entry.size, entry.compressed_size, entry.header_offset}) {
        if (value == kSee64Of32) throw ValueError{what, ": its sizes of 64 bits are missing"};
    }
}

// Takes an entry off the directory.
ZipEntry TakeEntry(std::string_view& directory, const InputFile& file) {
    if (directory.size() < kEntrySize || NumberAt<uint32_t>(directory, 0) != kEntrySignature) {
        throw ValueError{file.what(), ": its directory is broken"};
    }
    const std::string_view record = directory.substr(0, kEntrySize);
    const auto name_size = NumberAt<uint16_t>(record, 28);
    const auto extra_size = NumberAt<uint16_t>(record, 30);
    const auto comment_size = NumberAt<uint16_t>(record, 32);
    directory.remove_prefix(kEntrySize);
    if (directory.size() < uint64_t{name_size} + extra_size + comment_size) {
        throw ValueError{file.what(), ": its directory is broken"};
    }
    ZipEntry entry;
    entry.name = directory.substr(0, name_size);
    const std::string what = StrCat(file.what(), ": entry \"", entry.name, "\"");
    entry.crc = NumberAt<uint32_t>(record, 16);
    entry.compressed_size = NumberAt<uint32_t>(record, 20);
    entry.size = NumberAt<uint32_t>(record, 24);
    entry.header_offset = NumberAt<uint32_t>(record, 42);
    ReadExtra64(directory.substr(name_size, extra_size), entry, what);
    directory.remove_prefix(size_t{name_size} + extra_size + comment_size);
    if ((NumberAt<uint16_t>(record, 8) & kEncryptedFlag) != 0) {
        throw ValueError{what, " is encrypted"};
    }
    const auto method = NumberAt<uint16_t>(record, 10);
    if (method != kStored && method != kDeflated) {
        throw ValueError{what,           " is compressed by method ",
                         int{method},    ", expected ",
                         int{kStored},   " (stored) or ",
                         int{kDeflated}, " (deflated)"};
    }
    entry.is_compressed = method == kDeflated;
    const bool fits = entry.is_compressed ? entry.size / kMaxRatio <= entry.compressed_size
                                          : entry.size == entry.compressed_size;
    if (!fits) {
        throw ValueError{what, " is said to have ", entry.size, " bytes, but is stored in ",
                         entry.compressed_size};
    }
    return entry;
}

// Finds the data of an entry behind its other header, which must end before `end`.
void FindData(ZipEntry& entry, const InputFile& file, uint64_t end) {
    const std::string what = StrCat(file.what(), ": entry \"", entry.name, "\"");
    const uint64_t at = entry.header_offset;
    if (at > end || end - at < kLocalSize) {
        throw ValueError{what, " is said to be at byte ", at, ", but entries end at byte ", end};
    }
    const std::string record = file.ReadAt(at, kLocalSize);
    const auto name_size = NumberAt<uint16_t>(record, 26);
    entry.data_offset = at + kLocalSize + name_size + NumberAt<uint16_t>(record, 28);
    if (NumberAt<uint32_t>(record, 0) != kLocalSignature || entry.data_offset > end ||
        file.ReadAt(at + kLocalSize, name_size) != entry.name) {
        throw ValueError{what, " is not at byte ", at, ", where the directory says"};
    }
    if (entry.compressed_size > end - entry.data_offset) {
        throw ValueError{what, " has ", end - entry.data_offset, " bytes, expected ",
                         entry.compressed_size};
    }
}

// Compares the checksum when all is read.
class CheckedSource : public Source {
 public:
    CheckedSource(std::unique_ptr<Source> source, uint32_t expected)
        : Source{source->what(), source->left()}, source_{std::move(source)}, expected_{expected} {}

 private:
    void ReadNext(void* to, uint64_t n) override {
        const bool is_last = n == left();
        source_->Read(to, n);
        crc_ = Crc32(crc_, to, n);
        if (is_last && crc_ != expected_) {
            throw ValueError{what(), " is damaged: its checksum is ", crc_, ", expected ",
                             expected_};
        }
    }

    std::unique_ptr<Source> source_;
    uint32_t expected_;
    uint32_t crc_{0};
};

}  // namespace

ZipReader::ZipReader(const std::string& path) : file_{path} {
    const Directory found = FindDirectory(file_);
    const std::string bytes = file_.ReadAt(found.offset, found.size);
    std::string_view directory = bytes;
    std::unordered_set<std::string> names;
    for (uint64_t i = 0; i < found.n_entries; ++i) {
        entries_.push_back(TakeEntry(directory, file_));
        FindData(entries_.back(), file_, found.offset);
        if (!names.insert(entries_.back().name).second) {
            throw ValueError{What(entries_.back()), " is there twice"};
        }
    }
    if (!directory.empty()) throw ValueError{file_.what(), ": its directory has more entries"};
    std::vector<const ZipEntry*> sorted;
    for (const ZipEntry& entry : entries_) sorted.push_back(&entry);
    std::ranges::sort(sorted, {}, &ZipEntry::header_offset);
    for (size_t i = 1; i < sorted.size(); ++i) {
        const ZipEntry& before = *sorted[i - 1];
        if (before.data_offset + before.compressed_size > sorted[i]->header_offset) {
            throw ValueError{What(*sorted[i]), " overlaps entry \"", before.name, "\""};
        }
    }
}

std::string ZipReader::What(const ZipEntry& entry) const {
    return StrCat(file_.what(), ": entry \"", entry.name, "\"");
}

std::unique_ptr<Source> ZipReader::Open(const ZipEntry& entry) {
    const std::string what = What(entry);
    std::unique_ptr<Source> source;
    if (entry.is_compressed) {
        if (!zlib_.has_value()) zlib_.emplace(what);
        source = std::make_unique<InflatedSource>(*zlib_, file_, entry.data_offset,
                                                  entry.compressed_size, entry.size, what);
    } else {
        source = std::make_unique<FileSource>(file_, entry.data_offset, entry.size, what);
    }
    return std::make_unique<CheckedSource>(std::move(source), entry.crc);
}

}  // namespace chainerx::io
