#include "compiler.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

extern char** environ;

namespace chainerx::cuda::test {

namespace fs = std::filesystem;

namespace {

// Where this library lies, and beside it what build_driver.py made.
fs::path Folder() {
    Dl_info info;
    dladdr(reinterpret_cast<const void*>(&CompileShared), &info);
    return fs::absolute(info.dli_fname).parent_path();
}

// A folder that is deleted in the end.
class TemporaryFolder {
 public:
    TemporaryFolder() {
        std::string name = fs::temp_directory_path() / "chainerx_test_nvrtc_XXXXXX";
        if (mkdtemp(name.data()) != nullptr) path_ = name;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        if (std::getenv("CHAINERX_CUDA_TEST_KEEP") == nullptr) fs::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const fs::path& path() const { return path_; }

 private:
    fs::path path_;
};

std::string ReadFile(const fs::path& path) {
    std::ifstream in{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
}

bool Checked() {
    const char* value = std::getenv("CHAINERX_CUDA_TEST_CHECKED");
    return value != nullptr && std::atoi(value) != 0;
}

std::vector<std::string> Command(bool checked) {
    const char* compiler = std::getenv("CXX");
    std::vector<std::string> command{compiler == nullptr || *compiler == 0 ? "g++" : compiler};
    for (const char* option :
         {"-std=c++20", "-O1", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off",
          "-fno-math-errno", "-fwrapv", "-fno-strict-aliasing", "-fno-exceptions", "-fno-rtti",
          "-fno-gnu-unique", "-fno-stack-protector", "-fno-threadsafe-statics", "-U_FORTIFY_SOURCE",
          "-DCX_TEST_DRIVER", "-w"}) {
        command.emplace_back(option);
    }
#if defined(__x86_64__)
    if (__builtin_cpu_supports("fma")) command.emplace_back("-mfma");
#endif
    // The hooks are those of libcuda; the sanitizers' own libraries are not linked.
    if (checked) command.emplace_back("-fsanitize=thread,alignment");
    // A prelude that is precompiled lies in this folder as test_prelude.h.gch.
    command.push_back("-I" + (Folder() / (checked ? "checked" : "plain")).string());
    return command;
}

// Returns the exit status.
int Run(std::vector<std::string> command, const fs::path& folder, const fs::path& log) {
    std::vector<char*> argv;
    for (std::string& word : command) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
    posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t pid;
    const int error = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        std::ofstream{log} << argv[0] << ": " << std::strerror(error) << "\n";
        return 127;
    }
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

}  // namespace

std::optional<std::string> CompileShared(const Source& source,
                                         const std::vector<std::string>& options,
                                         std::string& log) {
    const TemporaryFolder folder;
    for (const auto& [name, text] : source.headers) {
        // Stand-ins for headers of the standard library, which the host has.
        if (name.find('/') == name.npos && name.find('.') == name.npos) continue;
        const fs::path path = folder.path() / name;
        fs::create_directories(path.parent_path());
        std::ofstream{path} << text;
    }
    std::ofstream{folder.path() / "kernel.cc"} << "#line 1 \"" << source.name << "\"\n"
                                               << source.text;
    const bool checked = Checked();
    std::vector<std::string> command = Command(checked);
    command.insert(command.end(), options.begin(), options.end());
    for (const char* option :
         {"-include", "test_prelude.h", "-I.", "-shared", "-pipe", "-s", "-Wl,-Bsymbolic",
          "-Wl,--build-id=none", "-o", "kernel.so", "kernel.cc", "-nodefaultlibs", "-L"}) {
        command.emplace_back(option);
    }
    command.push_back(Folder());
    for (const char* option : {"-l:libcuda.so.1", "-lm", "-lc", "-lgcc"})
        command.emplace_back(option);
    const fs::path messages = folder.path() / "log";
    const int status = Run(command, folder.path(), messages);
    log = ReadFile(messages);
    if (status != 0) return std::nullopt;
    return ReadFile(folder.path() / "kernel.so");
}

bool PrecompilePrelude() {
    for (const bool checked : {false, true}) {
        const fs::path folder = Folder() / (checked ? "checked" : "plain");
        std::vector<std::string> command = Command(checked);
        for (const char* option :
             {"-x", "c++-header", "-o", "test_prelude.h.gch", "test_prelude.h"}) {
            command.emplace_back(option);
        }
        if (Run(command, folder, folder / "log") != 0) return false;
    }
    return true;
}

}  // namespace chainerx::cuda::test
