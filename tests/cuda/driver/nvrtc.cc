// The runtime compiler: the host's C++ compiler makes a shared object of the source.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "chainerx/cuda/driver/types.h"
#include "compiler.h"
#include "image.h"

namespace chainerx::cuda {

#pragma GCC visibility push(default)
extern "C" {
#define CX_NVRTC(name, symbol, params) nvrtcResult symbol params;
#include "chainerx/cuda/driver/nvrtc.def"
#undef CX_NVRTC
// Compiles the prelude, so that it need not be parsed again; returns 0 if it succeeds.
int cx_test_precompile();
}
#pragma GCC visibility pop

struct nvrtcProgram_st {
    test::Source source;
    bool compiled = false, ptx_only = false;
    std::string log, image;
};

namespace {

constexpr std::array kArchs{75, 80, 86, 89, 90, 100, 120};

// Options that change nothing here; those that end in '=' take any value.
constexpr std::array<std::string_view, 26> kIgnored{"-default-device",
                                                    "--device-as-default-execution-space",
                                                    "--std=",
                                                    "-std=",
                                                    "--fmad=",
                                                    "-fmad=",
                                                    "--ftz=",
                                                    "-ftz=",
                                                    "--prec-div=",
                                                    "-prec-div=",
                                                    "--prec-sqrt=",
                                                    "-prec-sqrt=",
                                                    "--ptxas-options=",
                                                    "-Xptxas=",
                                                    "--maxrregcount=",
                                                    "-maxrregcount=",
                                                    "--generate-line-info",
                                                    "-lineinfo",
                                                    "--minimal",
                                                    "-minimal",
                                                    "--no-cache",
                                                    "-no-cache",
                                                    "-dopt=",
                                                    "--diag-suppress=",
                                                    "-diag-suppress=",
                                                    "--disable-warnings"};

// sm_90, sm_90a, compute_90; returns false for what is unknown.
bool ParseArch(std::string_view text, std::uint32_t& arch, bool& ptx) {
    ptx = text.starts_with("compute_");
    if (!ptx && !text.starts_with("sm_")) return false;
    text.remove_prefix(text.find('_') + 1);
    if (text.ends_with('a') || text.ends_with('f')) text.remove_suffix(1);
    return std::any_of(kArchs.begin(), kArchs.end(), [&](int known) {
        arch = static_cast<std::uint32_t>(known);
        return std::to_string(known) == text;
    });
}

// Translates the options to the host compiler's; returns the one that is unknown, if there is one.
std::string Translate(const std::vector<std::string_view>& options, std::uint32_t& arch, bool& ptx,
                      std::vector<std::string>& translated) {
    for (std::size_t i = 0; i < options.size(); ++i) {
        const std::string_view option = options[i];
        const bool last = i + 1 == options.size();
        if (option == "-D" && !last) {
            translated.push_back("-D" + std::string{options[++i]});
        } else if (option.starts_with("-D") && option.size() > 2) {
            translated.emplace_back(option);
        } else if (option.starts_with("--define-macro=")) {
            translated.push_back("-D" + std::string{option.substr(15)});
        } else if (option.starts_with("--gpu-architecture=") || option.starts_with("-arch=")) {
            if (!ParseArch(option.substr(option.find('=') + 1), arch, ptx))
                return std::string{option};
        } else if ((option == "-arch" || option == "--gpu-architecture") && !last) {
            if (!ParseArch(options[++i], arch, ptx)) return std::string{options[i]};
        } else {
            const bool known =
                std::any_of(kIgnored.begin(), kIgnored.end(), [&](std::string_view k) {
                    return k.ends_with('=') ? option.starts_with(k) : option == k;
                });
            if (!known) return std::string{option};
        }
    }
    return "";
}

std::string MakeImage(std::uint32_t arch, bool ptx, const std::string& code) {
    test::ImageHeader header;
    header.arch = arch;
    header.ptx = ptx;
    header.nbytes = code.size();
    return std::string{reinterpret_cast<const char*>(&header), sizeof header} + code;
}

// Programs that are alive.
std::mutex mutex;
std::set<nvrtcProgram> programs;

template <typename F>
nvrtcResult With(nvrtcProgram program, F f) {
    {
        const std::lock_guard lock{mutex};
        if (!programs.contains(program)) return NVRTC_ERROR_INVALID_PROGRAM;
    }
    return f(*program);
}

nvrtcResult Compile(nvrtcProgram_st& program, const std::vector<std::string_view>& options) {
    std::uint32_t arch = 75;
    bool ptx = false;
    std::vector<std::string> translated;
    program.log.clear();
    program.compiled = false;
    if (const auto unknown = Translate(options, arch, ptx, translated); !unknown.empty()) {
        program.log = "nvrtc: error: invalid value or unknown option: " + unknown + "\n";
        return NVRTC_ERROR_INVALID_OPTION;
    }
    const auto code = test::CompileShared(program.source, translated, program.log);
    if (!code) return NVRTC_ERROR_COMPILATION;
    program.compiled = true;
    program.ptx_only = ptx;
    program.image = MakeImage(arch, ptx, *code);
    return NVRTC_SUCCESS;
}

// Where the image is, as PTX or as a cubin; PTX needs no cubin, and of `compute_` there is none.
nvrtcResult CopyImage(const nvrtcProgram_st& program, bool ptx, size_t* size, char* out) {
    if (!program.compiled) return NVRTC_ERROR_INVALID_PROGRAM;
    const bool empty = !ptx && program.ptx_only;
    if (size != nullptr) *size = empty ? 0 : program.image.size();
    if (out != nullptr && !empty) {
        program.image.copy(out, program.image.size());
        reinterpret_cast<test::ImageHeader*>(out)->ptx = ptx;
    }
    return NVRTC_SUCCESS;
}

}  // namespace

nvrtcResult nvrtcVersion(int* major, int* minor) {
    if (major == nullptr || minor == nullptr) return NVRTC_ERROR_INVALID_INPUT;
    *major = 13;
    *minor = 0;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
    if (count == nullptr) return NVRTC_ERROR_INVALID_INPUT;
    *count = static_cast<int>(kArchs.size());
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int* archs) {
    if (archs == nullptr) return NVRTC_ERROR_INVALID_INPUT;
    std::copy(kArchs.begin(), kArchs.end(), archs);
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char* name,
                               int header_count, const char* const* headers,
                               const char* const* header_names) {
    if (program == nullptr || source == nullptr || header_count < 0)
        return NVRTC_ERROR_INVALID_INPUT;
    auto* made = new nvrtcProgram_st;
    made->source.text = source;
    made->source.name = name == nullptr || *name == 0 ? "default_program" : name;
    for (int i = 0; i < header_count; ++i) {
        made->source.headers.emplace_back(header_names[i], headers[i]);
    }
    const std::lock_guard lock{mutex};
    programs.insert(made);
    *program = made;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
    if (program == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
    const std::lock_guard lock{mutex};
    if (programs.erase(*program) == 0) return NVRTC_ERROR_INVALID_PROGRAM;
    delete *program;
    *program = nullptr;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int option_count,
                                const char* const* options) {
    return With(program, [&](nvrtcProgram_st& p) {
        return Compile(p, std::vector<std::string_view>(options, options + option_count));
    });
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

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* size) {
    return With(program, [&](auto& p) { return CopyImage(p, false, size, nullptr); });
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* cubin) {
    return With(program, [&](auto& p) { return CopyImage(p, false, nullptr, cubin); });
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t* size) {
    return With(program, [&](auto& p) { return CopyImage(p, true, size, nullptr); });
}

nvrtcResult nvrtcGetPTX(nvrtcProgram program, char* ptx) {
    return With(program, [&](auto& p) { return CopyImage(p, true, nullptr, ptx); });
}

int cx_test_precompile() { return test::PrecompilePrelude() ? 0 : 1; }

}  // namespace chainerx::cuda
