#include "chainerx/cuda/runtime/kernel.h"

#include <cctype>
#include <string_view>

namespace chainerx::cuda {

DeviceSource MakeSource(std::string name, const char* header, const char* params,
                        const std::string& call, const char* bounds) {
    std::string text = StrCat(
        "#include \"chainerx/cuda/", header, "\"\n\nnamespace chainerx::cuda {\n\nCX_KERNEL_OF(",
        name, ", ", params, ", ", bounds, ") {\n    CX_BEGIN();\n    ", call, "\n}\n\n}\n");
    return {std::move(name), std::move(text)};
}

DeviceSource MakeSource(const char* function, const char* header, const char* params,
                        const char* bounds, std::initializer_list<const char*> texts,
                        std::initializer_list<std::string> names) {
    constexpr std::string_view kPlaceholders = "TUV";
    const auto is_word = [](char c) { return std::isalnum(c) != 0 || c == '_'; };
    std::string name;
    std::string call;
    const auto add_to_name = [&](std::string_view text) {
        if (!name.empty()) name += '_';
        for (const char c : text) {
            if (is_word(c) || name.back() != '_') name += is_word(c) ? c : '_';
        }
    };
    for (std::string_view rest = function; !rest.empty();) {
        size_t n = 0;
        while (n < rest.size() && is_word(rest[n])) ++n;
        const std::string_view word = rest.substr(0, n);
        const size_t place = n == 1 ? kPlaceholders.find(word) : kPlaceholders.npos;
        if (place != kPlaceholders.npos) {
            call += texts.begin()[place];
        } else if (n != 0) {
            call += word;
            add_to_name(word);
        } else {
            n = 1;
            call += rest[0];
        }
        rest.remove_prefix(n);
    }
    for (const std::string& argument : names) add_to_name(argument);
    if (names.size() == 0) add_to_name("all");  // other than the function's
    return MakeSource(std::move(name), header, params, call + "(p);", bounds);
}

}  // namespace chainerx::cuda
