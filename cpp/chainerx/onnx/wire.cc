#include "chainerx/onnx/wire.h"

#include <cstring>

#include "chainerx/core/error.h"

namespace chainerx::onnx {
namespace {

// Whether the bytes are UTF-8 without overlong forms, surrogates and zeros.
bool IsText(std::string_view bytes) {
    for (size_t i = 0; i < bytes.size();) {
        const auto lead = static_cast<unsigned char>(bytes[i++]);
        if (lead == 0) return false;
        if (lead < 0x80) continue;
        const int n = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
        if (lead < 0xC2 || lead > 0xF4 || bytes.size() - i < static_cast<size_t>(n)) return false;
        uint32_t code = lead & (0x3FU >> n);
        for (int k = 0; k < n; ++k) {
            const auto byte = static_cast<unsigned char>(bytes[i++]);
            if ((byte & 0xC0) != 0x80) return false;
            code = code << 6 | (byte & 0x3F);
        }
        constexpr uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
        if (code < kLeast[n] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
    }
    return true;
}

}  // namespace

void WireReader::Fail(const char* name, const char* what) const {
    throw ValueError{"onnx: ", message_, ".",           name, " at byte ",
                     place_,   " of ",   bytes_.size(), ": ", what};
}

uint64_t WireReader::ReadVarint(const char* name) {
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        if (place_ == bytes_.size()) Fail(name, "the file ends within a number");
        const auto byte = static_cast<unsigned char>(bytes_[place_++]);
        if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7F) << shift;
        if (byte < 0x80) return value;
    }
    Fail(name, "a number has more than 10 bytes");
}

bool WireReader::Next() {
    if (!is_read_) {
        switch (type_) {
            case WireType::kVarint:
                Varint("(unknown)");
                break;
            case WireType::kFixed64:
                Double("(unknown)");
                break;
            case WireType::kFixed32:
                Float("(unknown)");
                break;
            default:
                Bytes("(unknown)");
        }
    }
    if (place_ == bytes_.size()) return false;
    const uint64_t key = ReadVarint("(key)");
    const uint64_t field = key >> 3;
    const auto type = static_cast<int8_t>(key & 7);
    if (field == 0 || field > 0x1FFFFFFF) Fail("(key)", "a field has an impossible number");
    if (type != 0 && type != 1 && type != 2 && type != 5) {
        Fail("(key)", "a field is written in an unknown way");
    }
    field_ = static_cast<int>(field);
    type_ = static_cast<WireType>(type);
    is_read_ = false;
    return true;
}

void WireReader::Expect(const char* name, WireType type) {
    if (type_ != type) Fail(name, "the field has another type");
    is_read_ = true;
}

uint64_t WireReader::Varint(const char* name) {
    Expect(name, WireType::kVarint);
    return ReadVarint(name);
}

template <typename T>
T WireReader::ReadFixed(const char* name, WireType type) {
    Expect(name, type);
    if (bytes_.size() - place_ < sizeof(T)) Fail(name, "the file ends within a number");
    T value;
    std::memcpy(&value, bytes_.data() + place_, sizeof(T));
    place_ += sizeof(T);
    return value;
}

float WireReader::Float(const char* name) { return ReadFixed<float>(name, WireType::kFixed32); }
double WireReader::Double(const char* name) { return ReadFixed<double>(name, WireType::kFixed64); }

std::string_view WireReader::Bytes(const char* name) {
    Expect(name, WireType::kBytes);
    const uint64_t n = ReadVarint(name);
    if (n > bytes_.size() - place_) Fail(name, "its length is beyond the end of the message");
    const std::string_view value = bytes_.substr(place_, n);
    place_ += n;
    return value;
}

std::string WireReader::Text(const char* name) {
    const std::string_view bytes = Bytes(name);
    if (!IsText(bytes)) Fail(name, "the text is not UTF-8");
    return std::string{bytes};
}

void WireReader::AppendInts(const char* name, std::vector<int64_t>& values) {
    if (type_ == WireType::kVarint) {
        values.push_back(Int(name));
        return;
    }
    WireReader packed{message_, Bytes(name)};
    while (packed.place_ != packed.bytes_.size()) {
        values.push_back(static_cast<int64_t>(packed.ReadVarint(name)));
    }
}

template <typename T>
void WireReader::AppendFixed(const char* name, WireType type, std::vector<T>& values) {
    if (type_ == type) {
        values.push_back(ReadFixed<T>(name, type));
        return;
    }
    const std::string_view bytes = Bytes(name);
    if (bytes.size() % sizeof(T) != 0) Fail(name, "it ends within a number");
    const size_t n = values.size();
    values.resize(n + bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(values.data() + n, bytes.data(), bytes.size());
}

void WireReader::AppendFloats(const char* name, std::vector<float>& values) {
    AppendFixed(name, WireType::kFixed32, values);
}

void WireReader::AppendDoubles(const char* name, std::vector<double>& values) {
    AppendFixed(name, WireType::kFixed64, values);
}

}  // namespace chainerx::onnx
