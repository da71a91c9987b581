// The checksum of zip files.
#pragma once

#include <cstdint>

namespace chainerx::io {

// CRC-32 (ISO 3309): of what `crc` is the checksum of, followed by these bytes. It begins with 0.
uint32_t Crc32(uint32_t crc, const void* bytes, uint64_t n);

}  // namespace chainerx::io
