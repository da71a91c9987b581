#include "chainerx/io/crc32.h"

#include <array>
#include <cstring>

namespace chainerx::io {
namespace {

// Eight bytes are looked up at once ("slicing by 8": Kounavis and Berry, 2005).
constexpr int kSlices = 8;
using Tables = std::array<std::array<uint32_t, 256>, kSlices>;

// Tables[k][b] is the checksum of byte b, followed by k bytes of zero.
constexpr Tables MakeTables() {
    constexpr uint32_t kPolynomial = 0xedb88320;  // the lowest bit first
    Tables tables{};
    for (uint32_t b = 0; b < 256; ++b) {
        uint32_t crc = b;
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
        tables[0][b] = crc;
    }
    for (size_t k = 1; k < kSlices; ++k) {
        for (uint32_t b = 0; b < 256; ++b) {
            const uint32_t before = tables[k - 1][b];
            tables[k][b] = (before >> 8) ^ tables[0][before & 0xff];
        }
    }
    return tables;
}

constexpr Tables kTables = MakeTables();

}  // namespace

uint32_t Crc32(uint32_t crc, const void* bytes, uint64_t n) {
    const auto* p = static_cast<const unsigned char*>(bytes);
    crc = ~crc;
    for (; n >= kSlices; n -= kSlices, p += kSlices) {
        uint32_t low;
        std::memcpy(&low, p, sizeof(low));
        crc ^= low;
        crc = kTables[7][crc & 0xff] ^ kTables[6][(crc >> 8) & 0xff] ^
              kTables[5][(crc >> 16) & 0xff] ^ kTables[4][crc >> 24] ^ kTables[3][p[4]] ^
              kTables[2][p[5]] ^ kTables[1][p[6]] ^ kTables[0][p[7]];
    }
    for (; n > 0; --n, ++p) crc = (crc >> 8) ^ kTables[0][(crc ^ *p) & 0xff];
    return ~crc;
}

}  // namespace chainerx::io
