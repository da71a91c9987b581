#include "chainerx/cuda/compile/compiler.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <vector>

#include "chainerx/core/error.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/cuda/compile/disk_cache.h"
#include "chainerx/cuda/compile/texts.h"
#include "chainerx/cuda/driver/nvrtc.h"

namespace chainerx::cuda {
namespace {

// The total time after which users learn what they are waiting for.
constexpr double kNoticeSeconds = 2;

constinit internal::ForkMutex g_mutex;  // of what follows
std::vector<DeviceSource> g_sources;
double g_seconds = 0;
bool g_noticed = false;

// Options that decide results: no fusing of products and sums but where the text asks for it, IEEE
// division and square roots, denormals kept, as on the CPU.
std::vector<std::string> OptionsFor(const DeviceSource& source, int arch) {
    const Nvrtc& nvrtc = GetNvrtc();
    const bool is_known = std::ranges::find(nvrtc.archs, arch) != nvrtc.archs.end();
    // An unknown GPU is newer than NVRTC: its driver compiles PTX for the newest one known.
    const int known = nvrtc.archs.empty() ? arch : *std::ranges::max_element(nvrtc.archs);
    const auto& custom = source.custom;
    const auto is_standard = [](const std::string& option) {
        return option.find("std=") != std::string::npos;
    };
    std::vector<std::string> options{is_known ? StrCat("--gpu-architecture=sm_", arch)
                                              : StrCat("--gpu-architecture=compute_", known)};
    if (!custom || std::ranges::none_of(*custom, is_standard)) options.emplace_back("--std=c++20");
    if (!custom) options.emplace_back("--fmad=false");
    options.insert(options.end(),
                   {"-default-device", "--disable-warnings", "-DCX_ISA=gpu", "-D__FMA__"});
    if (custom) options.insert(options.end(), custom->begin(), custom->end());
    return options;
}

bool MakesMachineCode(const std::vector<std::string>& options) {
    return options.front().find("=sm_") != std::string::npos;
}

[[noreturn]] void ThrowCompileError(const DeviceSource& source, const std::string& log) {
    if (source.custom) {
        throw BackendError{"cuda: the kernel ", source.kernel, " does not compile.\nLog:\n", log,
                           "\nSource:\n",       source.text};
    }
    throw BackendError{"cuda: the kernel ",
                       source.kernel,
                       " does not compile, which is a defect of chainerx or of this version of "
                       "NVRTC (",
                       GetNvrtc().library.path,
                       ").\nLog:\n",
                       log,
                       "\nSource:\n",
                       source.text};
}

struct Program {
    nvrtcProgram program{nullptr};
    ~Program() {
        if (program != nullptr) GetNvrtc().DestroyProgram(&program);
    }
};

std::string Compile(const DeviceSource& source, const std::vector<std::string>& options) {
    const Nvrtc& nvrtc = GetNvrtc();
    std::vector<const char*> texts;
    std::vector<const char*> names;
    for (const DeviceText& text : GetDeviceTexts()) {
        texts.push_back(text.text);
        names.push_back(text.name);
    }
    Program program;
    if (nvrtc.CreateProgram(&program.program, source.text.c_str(), source.kernel.c_str(),
                            static_cast<int>(texts.size()), texts.data(),
                            names.data()) != NVRTC_SUCCESS) {
        ThrowCompileError(source, "nvrtcCreateProgram failed");
    }
    std::vector<const char*> pointers;
    for (const std::string& option : options) pointers.push_back(option.c_str());
    const nvrtcResult result =
        nvrtc.CompileProgram(program.program, static_cast<int>(pointers.size()), pointers.data());
    if (result != NVRTC_SUCCESS) {
        size_t size = 0;
        nvrtc.GetProgramLogSize(program.program, &size);
        std::string log(size, '\0');
        nvrtc.GetProgramLog(program.program, log.data());
        log.resize(std::min(log.find('\0'), log.size()));  // it ends what() otherwise
        ThrowCompileError(source, log);
    }
    const bool is_machine_code = MakesMachineCode(options);
    size_t size = 0;
    const auto get_size = is_machine_code ? nvrtc.GetCubinSize : nvrtc.GetPtxSize;
    const auto get = is_machine_code ? nvrtc.GetCubin : nvrtc.GetPtx;
    if (get_size(program.program, &size) != NVRTC_SUCCESS || size == 0) {
        ThrowCompileError(source, "no code came out");
    }
    std::string code(size, '\0');
    get(program.program, code.data());
    return code;
}

void CountTime(double seconds) {
    const std::lock_guard lock{g_mutex};
    g_seconds += seconds;
    if (g_seconds < kNoticeSeconds || g_noticed) return;
    g_noticed = true;
    std::fprintf(stderr,
                 "chainerx: compiling CUDA kernels on their first use has taken %.0f s so far; the "
                 "next process finds them in %s\n",
                 g_seconds, DiskCache::Folder().c_str());
}

// All that the code depends on but the source's own text, as a text.
std::string Circumstances(const std::vector<std::string>& options) {
    const Nvrtc& nvrtc = GetNvrtc();
    std::string all = StrCat("NVRTC ", nvrtc.major, ".", nvrtc.minor, " ", nvrtc.library.path);
    for (const std::string& option : options) all += StrCat("\n", option);
    for (const DeviceText& text : GetDeviceTexts()) all += StrCat("\n", text.name, "\n", text.text);
    return all;
}

}  // namespace

std::vector<DeviceSource> GetCompiledSources() {
    const std::lock_guard lock{g_mutex};
    return g_sources;
}

std::string CompileForArch(const DeviceSource& source, int arch) {
    if (!source.custom) {
        const std::lock_guard lock{g_mutex};
        g_sources.push_back(source);
    }
    const std::vector<std::string> options = OptionsFor(source, arch);
    const DiskCache::Key key = DiskCache::KeyOf(Circumstances(options), source.text);
    if (std::string code = DiskCache::Find(key); !code.empty()) return code;
    const auto start = std::chrono::steady_clock::now();
    std::string code = Compile(source, options);
    CountTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    DiskCache::Put(key, code);
    return code;
}

}  // namespace chainerx::cuda
