// Reads the wire format of protocol buffers: fields of numbers, of bytes, and of messages within.
// Every length is checked against the bytes that are there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chainerx/core/macro.h"

namespace chainerx::onnx {

// How a field is written.
enum class WireType : int8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// The fields of one message, in the order in which they are written. `message` names it in errors,
// each a ValueError.
//
//     for (WireReader r{"NodeProto", bytes}; r.Next();) {
//         if (r.field() == 1) node.inputs.push_back(r.Text("input"));
//     }
class WireReader {
 public:
    WireReader(const char* message, std::string_view bytes) : message_{message}, bytes_{bytes} {}

    // Moves to the next field, and returns false after the last one. A field that was not read is
    // skipped.
    bool Next();
    int field() const { return field_; }

    // The value of the current field. `name` is that of the field.
    uint64_t Varint(const char* name);
    int64_t Int(const char* name) { return static_cast<int64_t>(Varint(name)); }
    float Float(const char* name);
    double Double(const char* name);
    std::string_view Bytes(const char* name);
    // Bytes that must be UTF-8.
    std::string Text(const char* name);

    // Appends one number, or all of a packed field.
    void AppendInts(const char* name, std::vector<int64_t>& values);
    void AppendFloats(const char* name, std::vector<float>& values);
    void AppendDoubles(const char* name, std::vector<double>& values);

    [[noreturn]] CX_COLD void Fail(const char* name, const char* what) const;

 private:
    void Expect(const char* name, WireType type);
    uint64_t ReadVarint(const char* name);
    template <typename T>
    T ReadFixed(const char* name, WireType type);
    template <typename T>
    void AppendFixed(const char* name, WireType type, std::vector<T>& values);

    const char* message_;
    std::string_view bytes_;
    size_t place_{0};
    int field_{0};
    WireType type_{WireType::kVarint};
    bool is_read_{true};
};

}  // namespace chainerx::onnx
