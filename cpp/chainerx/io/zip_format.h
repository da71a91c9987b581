// The records of zip archives, as both reading and writing need them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace chainerx::io {

inline constexpr uint32_t kLocalSignature = 0x04034b50;
inline constexpr uint32_t kEntrySignature = 0x02014b50;
inline constexpr uint32_t kEndSignature = 0x06054b50;
inline constexpr uint32_t kEnd64Signature = 0x06064b50;
inline constexpr uint32_t kLocator64Signature = 0x07064b50;

// Bytes of the records, without names and the like.
inline constexpr uint64_t kLocalSize = 30;
inline constexpr uint64_t kEntrySize = 46;
inline constexpr uint64_t kEndSize = 22;
inline constexpr uint64_t kEnd64Size = 56;
inline constexpr uint64_t kLocator64Size = 20;

// A field that has this says that the number stands in a record of 64 bits.
inline constexpr uint16_t kSee64Of16 = 0xffff;
inline constexpr uint32_t kSee64Of32 = 0xffffffff;
inline constexpr uint16_t kExtra64 = 1;  // the id of such a record

inline constexpr uint16_t kStored = 0;
inline constexpr uint16_t kDeflated = 8;

// A number of the record; its place must be within it.
template <typename T>
T NumberAt(std::string_view record, size_t offset) {
    T value;
    std::memcpy(&value, record.data() + offset, sizeof(T));
    return value;
}

template <typename T>
void AppendNumber(std::string& record, T value) {
    record.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

}  // namespace chainerx::io
