#include "compiler.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string_view>

#include "errors.h"
#include "image.h"
#include "raw_kernels.h"

namespace chainerx::cuda::test {

namespace fs = std::filesystem;

namespace {

constexpr const char* kOptions =
    " -std=c++20 -O1 -fPIC -fvisibility=hidden -ffp-contract=off -fno-math-errno -fwrapv"
    " -fno-strict-aliasing -fno-exceptions -fno-rtti -fno-gnu-unique -fno-stack-protector"
    " -fno-threadsafe-statics -U_FORTIFY_SOURCE -DCX_TEST_DRIVER -w";
constexpr const char* kLinkOptions =
    " -include test_prelude.h -I. -shared -pipe -s -Wl,-Bsymbolic -Wl,--build-id=none -o kernel.so"
    " kernel.cc -nodefaultlibs -l:libcuda.so.1 -lm -lc -lgcc -L ";

// A word of the shell.
std::string Quote(const std::string& text) {
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string{c};
    return quoted + "'";
}

// Where this library lies, and beside it what build_driver.py made.
std::string Folder() {
    Dl_info info;
    dladdr(reinterpret_cast<const void*>(&CompileShared), &info);
    return fs::absolute(info.dli_fname).parent_path();
}

// The preludes, which are precompiled, lie in a folder for each mode.
std::string PreludeFolder(bool checked) { return Folder() + (checked ? "/checked" : "/plain"); }

// The compiler, and what it is told in any folder.
std::string CompilerWithOptions(bool checked) {
    const char* compiler = std::getenv("CXX");
    std::string command = compiler == nullptr || *compiler == 0 ? "g++" : compiler;
    command += kOptions;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("fma")) command += " -mfma";
#endif
    // The hooks are those of libcuda; the sanitizers' own libraries are not linked.
    if (checked) command += " -fsanitize=thread,alignment";
    return command;
}

// Appends what the compiler prints to the log; does it succeed?
bool Run(const std::string& folder, bool checked, const std::string& options, std::string& log) {
    std::string command = "cd " + Quote(folder) + " && LC_ALL=C " + CompilerWithOptions(checked);
    command += " -I" + Quote(PreludeFolder(checked)) + options + " 2>&1";
    FILE* pipe = popen(command.c_str(), "re");
    if (pipe == nullptr) return false;
    char text[4096];
    while (const std::size_t n = std::fread(text, 1, sizeof text, pipe)) log.append(text, n);
    return pclose(pipe) == 0;
}

// The host has the headers of the standard library, and needs no stand-ins.
bool IsStandard(const std::string& header) {
    constexpr std::string_view names = " float.h limits.h math.h stddef.h stdint.h string.h ";
    return header.find_first_of("/.") == header.npos ||
           names.find(" " + header + " ") != names.npos;
}

void WriteFile(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream{path} << text;
}

// Another process may write the same: the file appears at once, with all of it.
void Keep(const fs::path& path, const std::string& text) {
    if (fs::exists(path)) return;
    const fs::path temporary = path.string() + "." + std::to_string(getpid());
    WriteFile(temporary, text);
    std::error_code ignored;
    fs::rename(temporary, path, ignored);
}

std::string ReadFile(const fs::path& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

// Where objects are kept over builds, by all that they depend on: compiling them is most of what
// tests on a new folder of this library take. Empty if they are not.
fs::path ObjectPath(const Source& source, const std::string& text, const std::string& words) {
    const char* folder = std::getenv("CHAINERX_CUDA_TEST_OBJECTS");
    if (folder == nullptr || *folder == 0) return {};
    std::string all = CompilerWithOptions(Checked()) + " " __VERSION__ " " + words + kLinkOptions;
    all += Format("%016llx", static_cast<unsigned long long>(CX_PRELUDE_HASH));
    for (const auto& [name, header] : source.headers) all += '\0' + name + '\0' + header;
    all += '\0' + text;
    const std::hash<std::string> hash;
    return fs::path{folder} / Format("%016zx%016zx.so", hash(all), hash(all + '\0'));
}

}  // namespace

void KeepSource(const Source& source, const std::string& options) {
    const char* folder = std::getenv("CHAINERX_CUDA_TEST_SOURCES");
    if (folder == nullptr || *folder == 0 || source.headers.empty()) return;
    const auto hash = [](const std::string& text) {
        return Format("%016zx", std::hash<std::string>{}(text));
    };
    std::string all;
    for (const auto& [name, text] : source.headers) all += name + '\0' + text + '\0';
    const fs::path headers = fs::path{folder} / ("headers-" + hash(all));
    for (const auto& [name, text] : source.headers) Keep(headers / name, text);
    const std::string text = "// " + headers.filename().string() + options + "\n" + source.text;
    Keep(fs::path{folder} / (source.name + "-" + hash(text) + ".cu"), text);
}

std::optional<std::string> CompileShared(const Source& source,
                                         const std::vector<std::string>& options,
                                         std::string& log) {
    const std::string text = "#line 1 \"" + source.name + "\"\n" + TranslateRawKernels(source.text);
    std::string words;
    for (const std::string& option : options) words += " " + Quote(option);
    const fs::path kept = ObjectPath(source, text, words);
    if (!kept.empty() && fs::exists(kept)) return ReadFile(kept);
    std::string folder = fs::temp_directory_path() / "chainerx_test_nvrtc_XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) return std::nullopt;
    for (const auto& [name, header] : source.headers) {
        if (!IsStandard(name)) WriteFile(folder + "/" + name, header);
    }
    WriteFile(folder + "/kernel.cc", text);
    const bool success = Run(folder, Checked(), words + kLinkOptions + Quote(Folder()), log);
    const std::string code = ReadFile(folder + "/kernel.so");
    if (success && !kept.empty()) Keep(kept, code);
    std::error_code ignored;
    if (std::getenv("CHAINERX_CUDA_TEST_KEEP") == nullptr) fs::remove_all(folder, ignored);
    return success ? std::optional{code} : std::nullopt;
}

bool PrecompilePreludes() {
    const char* options = " -x c++-header -o test_prelude.h.gch test_prelude.h";
    std::string log;
    const bool success = Run(PreludeFolder(false), false, options, log) &&
                         Run(PreludeFolder(true), true, options, log);
    std::fputs(log.c_str(), stderr);
    return success;
}

}  // namespace chainerx::cuda::test
