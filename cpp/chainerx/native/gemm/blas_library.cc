#include "chainerx/native/gemm/blas_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <complex>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "chainerx/core/error.h"
#include "chainerx/core/fork_mutex.h"

namespace chainerx {
namespace {

std::atomic<const std::string*> g_path{nullptr};
std::atomic<const native::BlasLibrary*> g_library{nullptr};

void* FindSymbol(const native::BlasLibrary& library, const char* name) {
    return dlsym(library.handle, (library.prefix + std::string{name}).c_str());
}

template <typename T>
bool FindRoutines(const native::BlasLibrary& library, char letter, native::BlasRoutines<T>* out) {
    const std::string start = std::string{"cblas_"} + letter;
    void* gemm = FindSymbol(library, (start + "gemm").c_str());
    void* gemv = FindSymbol(library, (start + "gemv").c_str());
    out->gemm = reinterpret_cast<decltype(out->gemm)>(gemm);
    out->gemv = reinterpret_cast<decltype(out->gemv)>(gemv);
    return gemm != nullptr && gemv != nullptr;
}

template <typename F>
F* FindFunction(const native::BlasLibrary& library, const char* name) {
    return reinterpret_cast<F*>(FindSymbol(library, name));
}

// Turns off the library's own threads: they cut the work by their number, which changes bits; ours
// don't. MKL is also told that our integers have 32 bits, whatever its environment says.
void Configure(native::BlasLibrary& library) {
    library.threads = "as it likes";
    if (auto* layer = FindFunction<int(int)>(library, "MKL_Set_Interface_Layer")) {
        constexpr int kLp64 = 0;
        constexpr int kSequential = 1;
        layer(kLp64);
        if (auto* threading = FindFunction<int(int)>(library, "MKL_Set_Threading_Layer")) {
            threading(kSequential);
        }
    }
    for (const char* name : {"openblas_set_num_threads", "MKL_Set_Num_Threads"}) {
        if (auto* set = FindFunction<void(int)>(library, name)) {
            set(1);
            library.threads = "one for each call";
        }
    }
    if (auto* set = FindFunction<void(intptr_t)>(library, "bli_thread_set_num_threads")) {
        set(1);
        library.threads = "one for each call";
    }
    if (auto* config = FindFunction<char*()>(library, "openblas_get_config")) {
        library.version = config();
    } else if (auto* version = FindFunction<void(char*, int)>(library, "MKL_Get_Version_String")) {
        char text[200]{};
        version(text, sizeof(text) - 1);
        library.version = text;
        library.version.erase(library.version.find_last_not_of(' ') + 1);
    }
}

// Checks that products come out right: no symbol tells, for example, the width of integers.
template <typename T>
bool ComputesRight(const native::BlasLibrary& library) {
    using S = native::CblasScalar<T>;
    const native::BlasRoutines<T>& blas = library.Routines<T>();
    const T a[] = {1, 2, 3, 4, 5, 6};   // 2 x 3
    const T b[] = {1, -1, 2, 0, 1, 3};  // 3 x 2
    const T one{1};
    T c[] = {10, 10, 10, 10};
    blas.gemm(native::kRowMajor, native::kNoTrans, native::kNoTrans, 2, 2, 3, S::Pass(one), a, 3, b,
              2, S::Pass(one), c, 2);
    T y[] = {0, 0};
    const T zero{};
    blas.gemv(native::kRowMajor, native::kTrans, 3, 2, S::Pass(one), b, 2, a, 1, S::Pass(zero), y,
              1);
    const T expected_c[] = {18, 18, 30, 24};
    const T expected_y[] = {8, 8};
    return std::ranges::equal(c, expected_c) && std::ranges::equal(y, expected_y);
}

// Returns null if there is no such file or it has no CBLAS; `reason` then says why.
std::unique_ptr<native::BlasLibrary> Open(const std::string& path, std::string* reason) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        const char* error = dlerror();
        *reason = error == nullptr ? "dlopen failed" : error;
        return nullptr;
    }
    auto library = std::make_unique<native::BlasLibrary>();
    library->handle = handle;
    for (const char* prefix : {"scipy_", ""}) {
        library->prefix = prefix;
        if (!FindRoutines(*library, 's', &library->s) ||
            !FindRoutines(*library, 'd', &library->d) ||
            !FindRoutines(*library, 'c', &library->c) ||
            !FindRoutines(*library, 'z', &library->z)) {
            continue;
        }
        library->path = path;
        Configure(*library);
        if (ComputesRight<float>(*library) && ComputesRight<double>(*library) &&
            ComputesRight<std::complex<float>>(*library) &&
            ComputesRight<std::complex<double>>(*library)) {
            return library;
        }
        *reason = StrCat(path, " computes wrong products; are its integers of 32 bits?");
        return nullptr;  // it may have started threads, so it stays loaded
    }
    *reason = StrCat(path, " has no functions cblas_sgemm, cblas_sgemv and kin");
    dlclose(handle);
    return nullptr;
}

// The folder of the shared library that holds this code.
std::string OwnFolder() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&SetOpenBlasPath), &info) == 0 ||
        info.dli_fname == nullptr) {
        return ".";
    }
    const std::string file = info.dli_fname;
    const size_t slash = file.find_last_of('/');
    return slash == std::string::npos ? "." : file.substr(0, slash);
}

// Returns null if the variable is unset. An empty value counts as set.
const char* Environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr || *value == '\0' ? nullptr : value;
}

constexpr const char* kEngineVariable = "CHAINERX_BLAS";
constexpr const char* kPathVariable = "CHAINERX_OPENBLAS";

// In the order of BlasEngine; the last name stands for all other values.
constexpr const char* kEngineNames[] = {"auto", "openblas", "own", "plain", "file"};

std::unique_ptr<native::BlasLibrary> OpenOrThrow(const char* variable, const char* expected) {
    const char* value = Environment(variable);
    std::string reason;
    auto library = Open(value, &reason);
    if (library == nullptr) {
        throw ChainerxError{variable, " is '", value, "', which can't be used: ", reason, expected};
    }
    return library;
}

std::unique_ptr<native::BlasLibrary> None(std::string reason) {
    auto none = std::make_unique<native::BlasLibrary>();
    none->path = "none";
    none->threads = "those of chainerx";
    none->reason = std::move(reason);
    return none;
}

std::unique_ptr<native::BlasLibrary> Load() {
    const native::BlasEngine engine = native::GetBlasEngine();
    if (engine == native::BlasEngine::kPlain) {
        return None(StrCat(kEngineVariable, " is 'plain'"));
    }
    if (engine == native::BlasEngine::kFile) {
        return OpenOrThrow(kEngineVariable,
                           "; expected auto, openblas, own, plain or a library with CBLAS");
    }
    if (Environment(kPathVariable) != nullptr) return OpenOrThrow(kPathVariable, "");
    std::vector<std::string> paths;
    if (const std::string* path = g_path.load(std::memory_order_acquire)) {
        paths.push_back(*path);
    }
    const std::string folder = OwnFolder();
    // pip puts the package scipy-openblas32 into the second folder, relative to chainerx/lib.
    for (const char* name :
         {"/libscipy_openblas.so", "/../../scipy_openblas32/lib/libscipy_openblas.so",
          "/libopenblas.so.0"}) {
        paths.push_back(folder + name);
    }
    paths.push_back("libopenblas.so.0");
    paths.push_back("libopenblas.so");
    const bool only_openblas = engine == native::BlasEngine::kOpenBlas;
    if (!only_openblas) {
        paths.push_back("libcblas.so.3");
        paths.push_back("libblas.so.3");
    }
    std::string reason;
    std::string tried;
    for (const std::string& path : paths) {
        if (auto library = Open(path, &reason)) return library;
        tried += "\n  " + reason;
    }
    if (only_openblas) {
        throw ChainerxError{kEngineVariable, " is 'openblas', but there is none (", kPathVariable,
                            " may say where it is); tried:", tried};
    }
    return None("tried:" + tried);
}

// Address space that OpenBLAS maps for a call, plus a margin. Pages are committed when written.
constexpr size_t kWorkBytes = size_t{144} << 20;
// Address space that loading it needs, including its first call.
constexpr size_t kLoadBytes = kWorkBytes + (size_t{64} << 20);

// Throws OutOfMemoryError if less address space is left.
void RequireAddresses(size_t nbytes) {
    void* p = mmap(nullptr, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        throw OutOfMemoryError{"out of memory: OpenBLAS needs ", nbytes, " bytes of addresses"};
    }
    munmap(p, nbytes);
}

}  // namespace

void SetOpenBlasPath(const char* path) {
    // The old string leaks, since another thread may be reading it.
    g_path.store(new std::string{path}, std::memory_order_release);
}

BlasInfo GetBlasInfo() {
    const native::BlasEngine engine = native::GetBlasEngine();
    const native::BlasLibrary& library = native::GetBlasLibrary();
    return {kEngineNames[static_cast<int>(engine)], library.path, library.version, library.threads,
            library.reason};
}

namespace native {

BlasEngine GetBlasEngine() {
    static std::atomic<int> known{-1};  // races are benign: all threads find the same
    int engine = known.load(std::memory_order_relaxed);
    if (engine < 0) [[unlikely]] {
        engine = 0;
        if (const char* value = Environment(kEngineVariable)) {
            constexpr int kFile = static_cast<int>(BlasEngine::kFile);
            while (engine < kFile && kEngineNames[engine] != std::string_view{value}) ++engine;
        }
        known.store(engine, std::memory_order_relaxed);
    }
    return static_cast<BlasEngine>(engine);
}

const BlasLibrary& GetBlasLibrary() {
    const BlasLibrary* library = g_library.load(std::memory_order_acquire);
    if (library != nullptr) return *library;
    // One thread at a time: if another thread sets the number of threads of a library, the library
    // computes wrong products meanwhile, and would be rejected.
    const std::lock_guard lock{internal::CreationMutex()};
    library = g_library.load(std::memory_order_relaxed);
    if (library != nullptr) return *library;
    RequireAddresses(kLoadBytes);
    std::unique_ptr<BlasLibrary> loaded = Load();
    loaded->is_avoided = GetBlasEngine() == BlasEngine::kOwn;
    BlasCall::WatchTheEnd();
    library = loaded.release();
    g_library.store(library, std::memory_order_release);
    return *library;
}

std::atomic<uint32_t> BlasCall::running_{0};
std::atomic<uint32_t> BlasCall::known_{0};

namespace {

// The thread that ends the process may still compute, in functions that run at exit.
thread_local bool t_ends_process = false;

}  // namespace

void BlasCall::WatchTheEnd() {
    std::atexit(&AwaitAll);
    // Calls that run in the parent never end in the child.
    pthread_atfork(nullptr, nullptr, [] { running_.store(0, std::memory_order_relaxed); });
}

void BlasCall::AwaitAll() {
    t_ends_process = true;
    running_.fetch_or(kEnding, std::memory_order_seq_cst);
    // Waits for the running calls, of some ten milliseconds each; the process ends in any case.
    for (int i = 0; i < 10'000 && running_.load(std::memory_order_seq_cst) != kEnding; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
}

void BlasCall::Begin(uint32_t others) {
    if (others >= kEnding) {
        Park();
        return;
    }
    const uint32_t count = others + 1;
    uint32_t known = known_.load(std::memory_order_relaxed);
    if (known < count) {  // another thread may have been first
        try {
            RequireAddresses((count - known) * kWorkBytes);
        } catch (...) {  // this call does not run
            running_.fetch_sub(1, std::memory_order_seq_cst);
            throw;
        }
    }
    while (known < count && !known_.compare_exchange_weak(known, count)) {
    }
}

void BlasCall::Park() {
    if (t_ends_process) return;
    running_.fetch_sub(1, std::memory_order_seq_cst);
    while (true) pause();
}

void* FindBlasSymbol(const char* name) {
    const BlasLibrary& library = GetBlasLibrary();
    return library.handle == nullptr ? nullptr : FindSymbol(library, name);
}

}  // namespace native
}  // namespace chainerx
