#include "chainerx/core/error.h"

#include <charconv>

namespace chainerx {
namespace internal {

void AppendDouble(std::string& out, double value) {
    char buffer[32];
    const std::to_chars_result r = std::to_chars(buffer, buffer + sizeof buffer, value);
    out.append(buffer, r.ptr);
}

void MessagePart::AppendText(std::string& out, const void* text) {
    out += static_cast<const char*>(text);
}

void MessagePart::AppendInt(std::string& out, const void* value) { Append<int>(out, value); }

void MessagePart::AppendInt64(std::string& out, const void* value) { Append<int64_t>(out, value); }

void MessagePart::AppendUInt64(std::string& out, const void* value) {
    Append<uint64_t>(out, value);
}

void MessagePart::AppendString(std::string& out, const void* text) {
    Append<std::string>(out, text);
}

std::string Concatenate(std::initializer_list<MessagePart> parts) {
    std::string out;
    for (const MessagePart& part : parts) part.AppendTo(out);
    return out;
}

}  // namespace internal

ChainerxError::ChainerxError(const Message& message)
    : std::runtime_error{internal::Concatenate(message.parts)} {}

// Key functions: they keep vtables and type information out of all other objects.
ChainerxError::~ChainerxError() = default;
#define CX_DEFINE_DESTRUCTOR(Name) Name::~Name() = default;
CX_ERROR_LIST(CX_DEFINE_DESTRUCTOR)
#undef CX_DEFINE_DESTRUCTOR
InterruptedError::~InterruptedError() = default;

}  // namespace chainerx
