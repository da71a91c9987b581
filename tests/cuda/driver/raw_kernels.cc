#include "raw_kernels.h"

#include <regex>
#include <set>

namespace chainerx::cuda::test {

std::string TranslateRawKernels(const std::string& text) {
    static const std::regex kernel{
        R"(__global__\s+(?:void\s+)?(?:__launch_bounds__\s*\([^)]*\)\s*)?(?:void\s+)?(\w+)\s*\()"};
    static const std::regex dynamic{
        R"(extern\s+__shared__\s+(?:__align__\s*\([^)]*\)\s*)?([\w:<> ]+?)\s+(\w+)\s*\[\s*\]\s*;)"};
    static const std::regex shared{R"(__shared__\s+([\w:<> ]+?)\s+(\w+)\s*((?:\[[^\]]*\])*)\s*;)"};
    std::set<std::string> names;
    for (std::sregex_iterator it{text.begin(), text.end(), kernel}, end; it != end; ++it) {
        names.insert((*it)[1]);
    }
    if (names.empty()) return text;
    std::string out = std::regex_replace(text, dynamic, "CX_DYNAMIC_SHARED($1, $2);");
    out = std::regex_replace(out, shared, "using $2_type = $1$3; CX_TEST_SHARED($2_type, $2);");
    for (const std::string& name : names) out += "\nCX_TEST_RAW_KERNEL(" + name + ")";
    return out + "\n";
}

}  // namespace chainerx::cuda::test
