#include "chainerx/native/blas_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "chainerx/core/error.h"

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

// Null if there is no such file, or it has no CBLAS; then `reason` says why.
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
        library->name = path;
        // Its own threads cut the work by their number, which changes bits; ours don't.
        if (void* set = FindSymbol(*library, "openblas_set_num_threads")) {
            reinterpret_cast<void (*)(int)>(set)(1);
        }
        if (void* config = FindSymbol(*library, "openblas_get_config")) {
            library->name += StrCat(" (", reinterpret_cast<char* (*)()>(config)(), ")");
        }
        return library;
    }
    *reason = StrCat(path, " has no cblas_sgemm");
    dlclose(handle);
    return nullptr;
}

// The folder of the library that this code is in.
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

std::unique_ptr<native::BlasLibrary> Load() {
    std::string reason;
    if (const char* path = std::getenv("CHAINERX_OPENBLAS"); path != nullptr && *path != '\0') {
        auto library = Open(path, &reason);
        if (library == nullptr) {
            throw ChainerxError{"CHAINERX_OPENBLAS is '", path, "', which can't be used: ", reason};
        }
        return library;
    }
    std::vector<std::string> paths;
    if (const std::string* path = g_path.load(std::memory_order_acquire)) {
        paths.push_back(*path);
    }
    const std::string folder = OwnFolder();
    // The second is where pip puts the package scipy-openblas32, seen from chainerx/lib.
    paths.push_back(folder + "/libscipy_openblas.so");
    paths.push_back(folder + "/../../scipy_openblas32/lib/libscipy_openblas.so");
    paths.push_back(folder + "/libopenblas.so.0");
    for (const char* name :
         {"libopenblas.so.0", "libopenblas.so", "libcblas.so.3", "libblas.so.3"}) {
        paths.push_back(name);
    }
    for (const std::string& path : paths) {
        if (auto library = Open(path, &reason)) {
            return library;
        }
    }
    auto none = std::make_unique<native::BlasLibrary>();
    none->name = "none";
    return none;
}

}  // namespace

namespace {

// What OpenBLAS maps for a call, and some more. Only addresses: pages come when written.
constexpr size_t kWorkBytes = size_t{144} << 20;
// What it needs to be loaded, for it works as soon as it is.
constexpr size_t kLoadBytes = kWorkBytes + (size_t{64} << 20);

// OutOfMemoryError if there are not so many left.
void RequireAddresses(size_t nbytes) {
    void* p = mmap(nullptr, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        throw OutOfMemoryError{"out of memory: OpenBLAS needs ", nbytes, " bytes of addresses"};
    }
    munmap(p, nbytes);
}

}  // namespace

void SetOpenBlasPath(const char* path) {
    // The old string stays: another thread may be reading it.
    g_path.store(new std::string{path}, std::memory_order_release);
}

std::string GetBlasName() { return native::GetBlasLibrary().name; }

namespace native {

const BlasLibrary& GetBlasLibrary() {
    const BlasLibrary* library = g_library.load(std::memory_order_acquire);
    if (library == nullptr) {
        // Several threads may come here at once: each opens it, and one wins. A lock could be left
        // locked in a forked child.
        RequireAddresses(kLoadBytes);
        std::unique_ptr<BlasLibrary> loaded = Load();
        if (g_library.compare_exchange_strong(library, loaded.get(), std::memory_order_acq_rel)) {
            BlasCall::WatchTheEnd();
            library = loaded.release();
        }
    }
    return *library;
}

std::atomic<uint32_t> BlasCall::running_{0};
std::atomic<uint32_t> BlasCall::known_{0};

namespace {

// The thread that ends the process may still compute, in what runs at exit.
thread_local bool t_ends_process = false;

}  // namespace

void BlasCall::WatchTheEnd() {
    std::atexit(&AwaitAll);
    // Of those that run in the parent none will end in the child.
    pthread_atfork(nullptr, nullptr, [] { running_.store(0, std::memory_order_relaxed); });
}

void BlasCall::AwaitAll() {
    t_ends_process = true;
    running_.fetch_or(kEnding, std::memory_order_seq_cst);
    // Calls are parts of some ten milliseconds; whatever else happens, the process ends.
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
    if (known < count) {  // another thread may have been here meanwhile
        try {
            RequireAddresses((count - known) * kWorkBytes);
        } catch (...) {  // this call does not run, then
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
