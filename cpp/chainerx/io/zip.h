// Zip archives (PKWARE's APPNOTE 6.3), of more than 4 GiB too: what .npz files are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chainerx/io/inflate.h"
#include "chainerx/io/input_file.h"
#include "chainerx/io/output_file.h"
#include "chainerx/io/source.h"

namespace chainerx::io {

struct ZipEntry {
    std::string name;
    bool is_compressed{false};
    uint32_t crc{0};
    uint64_t compressed_size{0};
    uint64_t size{0};
    uint64_t header_offset{0};
    uint64_t data_offset{0};
};

class ZipReader {
 public:
    // Reads and checks the directory: entries lie in the file without overlaps, none is larger than
    // its compressed data can be, and their names differ. Else ValueError.
    explicit ZipReader(const std::string& path);

    const InputFile& file() const { return file_; }
    const std::vector<ZipEntry>& entries() const { return entries_; }
    // The bytes of an entry; the source checks them when the last one is read.
    std::unique_ptr<Source> Open(const ZipEntry& entry);

 private:
    std::string What(const ZipEntry& entry) const;

    InputFile file_;
    std::vector<ZipEntry> entries_;
    std::optional<Zlib> zlib_;
};

// Writes entries that are not compressed.
class ZipWriter {
 public:
    explicit ZipWriter(const std::string& path) : file_{path} {}
    // The bytes are those of both parts.
    void Add(const std::string& name, std::string_view head, std::string_view tail);
    void Close();

 private:
    OutputFile file_;
    std::string directory_;
    uint64_t n_entries_{0};
};

}  // namespace chainerx::io
