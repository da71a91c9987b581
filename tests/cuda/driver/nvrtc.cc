// The runtime compiler: the host's C++ compiler makes a shared object of the source.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chainerx/cuda/driver/types.h"
#include "compiler.h"
#include "handles.h"
#include "image.h"

namespace chainerx::cuda {

#pragma GCC visibility push(default)
extern "C" {
#define CX_NVRTC(name, symbol, params) nvrtcResult symbol params;
#include "chainerx/cuda/driver/nvrtc.def"
#undef CX_NVRTC
// Compiles the prelude, so that it need not be parsed again; returns 0 if it succeeds.
int cx_test_precompile() { return test::PrecompilePreludes() ? 0 : 1; }
}
#pragma GCC visibility pop

struct nvrtcProgram_st {
    test::Source source;
    test::ImageHeader header;
    std::string log, code;  // without code: not compiled
};

namespace {

using Programs = test::Handles<nvrtcProgram_st>;

constexpr std::array kArchs{75, 80, 86, 89, 90, 100, 120};

// Options that change nothing here, without dashes and values.
constexpr std::string_view kIgnored = " default-device std fmad disable-warnings ";

// sm_90, sm_90a, compute_90; is it known?
bool ParseArch(std::string_view text, test::ImageHeader& header) {
    header.ptx = text.starts_with("compute_");
    if (header.ptx == 0 && !text.starts_with("sm_")) return false;
    text.remove_prefix(text.find('_') + 1);
    if (text.ends_with('a') || text.ends_with('f')) text.remove_suffix(1);
    return std::any_of(kArchs.begin(), kArchs.end(), [&](int known) {
        header.arch = static_cast<std::uint32_t>(known);
        return std::to_string(known) == text;
    });
}

// Appends what the host's compiler understands; is the option known?
bool Translate(const std::string& option, std::vector<std::string>& translated,
               test::ImageHeader& header) {
    constexpr std::string_view kArch = "--gpu-architecture=";
    if (option.starts_with("-D")) {
        translated.push_back(option);
        return option.size() > 2;
    }
    if (option.starts_with(kArch)) return ParseArch(option.substr(kArch.size()), header);
    const std::string name = option.substr(0, option.find('='));
    const std::string key = " " + name.substr(std::min(name.find_first_not_of('-'), name.size()));
    return kIgnored.find(key + " ") != kIgnored.npos;
}

nvrtcResult Compile(nvrtcProgram_st& program, int count, const char* const* options) {
    std::vector<std::string> translated;
    program.log.clear();
    program.code.clear();
    program.header = {.arch = 75, .checked = test::Checked()};
    std::string words;
    for (int i = 0; i < count; ++i) words += std::string{" "} + options[i];
    for (int i = 0; i < count; ++i) {
        if (Translate(options[i], translated, program.header)) continue;
        program.log = "nvrtc: error: unknown option or value: " + std::string{options[i]} + "\n";
        return NVRTC_ERROR_INVALID_OPTION;
    }
    program.code = test::CompileShared(program.source, translated, program.log).value_or("");
    program.header.nbytes = program.code.size();
    if (program.code.empty()) return NVRTC_ERROR_COMPILATION;
    test::KeepSource(program.source, words);
    return NVRTC_SUCCESS;
}

template <typename F>
nvrtcResult With(nvrtcProgram program, F f) {
    return Programs::Get().Has(program) ? f(*program) : NVRTC_ERROR_INVALID_PROGRAM;
}

// Writes the image, or its size. Of `compute_` there is no cubin, and of `sm_` there is both.
nvrtcResult GetImage(nvrtcProgram handle, bool ptx, size_t* size, char* out) {
    return With(handle, [&](nvrtcProgram_st& program) {
        if (program.code.empty()) return NVRTC_ERROR_INVALID_PROGRAM;
        test::ImageHeader header = program.header;
        const bool empty = !ptx && header.ptx != 0;
        header.ptx = ptx;
        if (size != nullptr) *size = empty ? 0 : sizeof header + header.nbytes;
        if (out != nullptr && !empty) {
            std::memcpy(out, &header, sizeof header);
            program.code.copy(out + sizeof header, header.nbytes);
        }
        return NVRTC_SUCCESS;
    });
}

}  // namespace

// The minor version tells apart the preludes and the modes, so that no cache of kernels mixes them.
nvrtcResult nvrtcVersion(int* major, int* minor) {
    *major = 13;
    *minor = static_cast<int>(CX_PRELUDE_HASH % 100000 * 2) + test::Checked();
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
    *count = static_cast<int>(kArchs.size());
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int* archs) {
    std::copy(kArchs.begin(), kArchs.end(), archs);
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char* name,
                               int header_count, const char* const* headers,
                               const char* const* header_names) {
    if (program == nullptr || source == nullptr) return NVRTC_ERROR_INVALID_INPUT;
    auto made = std::make_unique<nvrtcProgram_st>();
    made->source.text = source;
    made->source.name = name == nullptr || *name == 0 ? "default_program" : name;
    for (int i = 0; i < header_count; ++i) {
        made->source.headers.emplace_back(header_names[i], headers[i]);
    }
    *program = Programs::Get().Add(std::move(made));
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
    const bool known = program != nullptr && Programs::Get().Remove(*program) != nullptr;
    if (known) *program = nullptr;
    return known ? NVRTC_SUCCESS : NVRTC_ERROR_INVALID_PROGRAM;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options) {
    return With(program, [&](nvrtcProgram_st& p) { return Compile(p, count, options); });
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t* size) {
    return With(program, [&](nvrtcProgram_st& p) {
        *size = p.log.size() + 1;
        return NVRTC_SUCCESS;
    });
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) {
    return With(program, [&](nvrtcProgram_st& p) {
        std::memcpy(log, p.log.c_str(), p.log.size() + 1);
        return NVRTC_SUCCESS;
    });
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram p, size_t* n) { return GetImage(p, false, n, nullptr); }
nvrtcResult nvrtcGetCUBIN(nvrtcProgram p, char* out) { return GetImage(p, false, nullptr, out); }
nvrtcResult nvrtcGetPTXSize(nvrtcProgram p, size_t* n) { return GetImage(p, true, n, nullptr); }
nvrtcResult nvrtcGetPTX(nvrtcProgram p, char* out) { return GetImage(p, true, nullptr, out); }

}  // namespace chainerx::cuda
