#include "chainerx/io/json.h"

#include <charconv>

#include "chainerx/core/error.h"

namespace chainerx::io {
namespace {

constexpr uint32_t kFirstHigh = 0xd800;  // surrogates: two stand for one character
constexpr uint32_t kFirstLow = 0xdc00;
constexpr uint32_t kBehindLow = 0xe000;

// What a letter behind a backslash stands for.
constexpr std::string_view kEscapes = "\"\\/bfnrt";
constexpr std::string_view kEscaped = "\"\\/\b\f\n\r\t";

void AppendUtf8(std::string& text, uint32_t code) {
    if (code < 0x80) {
        text += static_cast<char>(code);
        return;
    }
    const int n_more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    constexpr uint32_t kFirstBytes[] = {0, 0xc0, 0xe0, 0xf0};
    text += static_cast<char>(kFirstBytes[n_more] | (code >> (6 * n_more)));
    for (int i = n_more - 1; i >= 0; --i) {
        text += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3f));
    }
}

}  // namespace

void JsonReader::Fail(const std::string& why) const {
    throw ValueError{what_, ": ", why, " at byte ", at_, " of its header"};
}

void JsonReader::SkipSpaces() {
    at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
}

bool JsonReader::Take(char c) {
    SkipSpaces();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
}

void JsonReader::Expect(char c) {
    if (!Take(c)) Fail(StrCat("expected ", c));
}

void JsonReader::ExpectEnd() {
    SkipSpaces();
    if (at_ != text_.size()) Fail("expected nothing more");
}

uint32_t JsonReader::Hex4() {
    uint32_t value = 0;
    const std::string_view digits = text_.substr(at_, 4);
    const char* const end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, value, 16);
    if (error != std::errc{} || rest != end || digits.size() != 4) {
        Fail("expected four hexadecimal digits");
    }
    at_ += 4;
    return value;
}

void JsonReader::AppendEscape(std::string& value) {
    const char letter = at_ < text_.size() ? text_[at_++] : '\0';
    const size_t i = kEscapes.find(letter);
    if (i != std::string_view::npos) {
        value += kEscaped[i];
        return;
    }
    if (letter != 'u') Fail("unknown escape");
    uint32_t code = Hex4();
    if (code >= kFirstHigh && code < kFirstLow) {
        if (text_.substr(at_, 2) != "\\u") Fail("half of a character");
        at_ += 2;
        const uint32_t low = Hex4();
        if (low < kFirstLow || low >= kBehindLow) Fail("half of a character");
        code = 0x10000 + ((code - kFirstHigh) << 10) + (low - kFirstLow);
    } else if (code >= kFirstLow && code < kBehindLow) {
        Fail("half of a character");
    }
    AppendUtf8(value, code);
}

std::string JsonReader::String() {
    Expect('"');
    std::string value;
    while (true) {
        const size_t end = text_.find_first_of("\"\\", at_);
        if (end == std::string_view::npos) Fail("a string has no end");
        for (; at_ != end; ++at_) {
            if (static_cast<unsigned char>(text_[at_]) < 0x20) Fail("a control character");
            value += text_[at_];
        }
        ++at_;
        if (text_[end] == '"') return value;
        AppendEscape(value);
    }
}

uint64_t JsonReader::Number() {
    SkipSpaces();
    uint64_t value = 0;
    const char* const begin = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    const auto [rest, error] = std::from_chars(begin, end, value);
    const bool has_leading_zero = rest - begin > 1 && *begin == '0';
    if (error != std::errc{} || has_leading_zero ||
        (rest != end && (*rest == '.' || *rest == 'e' || *rest == 'E'))) {
        Fail("expected a whole number of 64 bits from 0 on");
    }
    at_ += static_cast<size_t>(rest - begin);
    return value;
}

std::vector<uint64_t> JsonReader::Numbers() {
    std::vector<uint64_t> values;
    Expect('[');
    if (Take(']')) return values;
    do {
        values.push_back(Number());
    } while (Take(','));
    Expect(']');
    return values;
}

std::string ToJson(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string json = "\"";
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            json += '\\';
            json += c;
        } else if (code < 0x20) {
            json += "\\u00";
            json += kDigits[code >> 4];
            json += kDigits[code & 15];
        } else {
            json += c;
        }
    }
    return json + '"';
}

}  // namespace chainerx::io
