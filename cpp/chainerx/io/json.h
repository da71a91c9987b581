// What the headers of safetensors have of JSON: objects, lists, strings and natural numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chainerx::io {

// Reads one token after the other. Errors are ValueErrors that begin with `what`, and say where.
class JsonReader {
 public:
    JsonReader(std::string_view text, std::string what) : text_{text}, what_{std::move(what)} {}

    // Takes the character if it comes next.
    bool Take(char c);
    void Expect(char c);
    // Ends in an error unless only spaces are left.
    void ExpectEnd();
    // In UTF-8.
    std::string String();
    uint64_t Number();
    std::vector<uint64_t> Numbers();
    // Calls f with each key of an object; f reads the value.
    template <typename F>
    void Object(const F& f) {
        Expect('{');
        if (Take('}')) return;
        do {
            const std::string key = String();
            Expect(':');
            f(key);
        } while (Take(','));
        Expect('}');
    }
    [[noreturn]] void Fail(const std::string& why) const;

 private:
    void SkipSpaces();
    void AppendEscape(std::string& value);
    uint32_t Hex4();

    std::string_view text_;
    size_t at_{0};
    std::string what_;
};

// A string as JSON writes it. Bytes that are not ASCII stay as they are.
std::string ToJson(std::string_view text);

}  // namespace chainerx::io
