// What this process has of CUDA, for chainerx.cuda (python/chainerx/cuda) and for show_config. The
// functions have C's conventions and throw nothing.
#include <atomic>
#include <cstdio>
#include <string>
#include <utility>

#include "chainerx/core/error.h"
#include "chainerx/core/macro.h"
#include "chainerx/cuda/compile/compiler.h"
#include "chainerx/cuda/compile/disk_cache.h"
#include "chainerx/cuda/driver/cudnn.h"
#include "chainerx/cuda/driver/driver.h"
#include "chainerx/cuda/driver/libraries.h"
#include "chainerx/cuda/driver/nvrtc.h"

namespace chainerx::cuda {
namespace {

std::string Quote(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            quoted += '\\';
            quoted += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            char code[8];
            std::snprintf(code, sizeof(code), "\\u%04x", static_cast<unsigned>(c));
            quoted += code;
        } else {
            quoted += c;
        }
    }
    return quoted + '"';
}

std::string DescribeDevices(const Driver& driver) {
    int count = 0;
    CX_CU(DeviceGetCount, &count);
    std::string all;
    for (int i = 0; i < count; ++i) {
        CUdevice device = 0;
        char name[256] = "";
        size_t nbytes = 0;
        int major = 0;
        int minor = 0;
        int processors = 0;
        driver.DeviceGet(&device, i);
        driver.DeviceGetName(name, sizeof(name), device);
        driver.DeviceTotalMem(&nbytes, device);
        driver.DeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
        driver.DeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
        driver.DeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
        all += StrCat(i == 0 ? "" : ", ", "{\"name\": ", Quote(name),
                      ", \"compute_capability\": \"", major, ".", minor, "\", \"memory\": ", nbytes,
                      ", \"multiprocessors\": ", processors, "}");
    }
    return StrCat("[", all, "]");
}

// {"path": ..., "version": "13.0"}, or {"error": ...}.
template <typename F>
std::string DescribeLibrary(const F& describe) {
    try {
        return describe();
    } catch (const std::exception& e) {
        return StrCat("{\"error\": ", Quote(e.what()), "}");
    }
}

// Its members in the description.
template <typename L>
std::string DescribeWheel(const char* name, const L& (*get)()) {
    return StrCat(", \"", name, "\": ", DescribeLibrary([&] {
                      const L& library = get();
                      return StrCat("{\"path\": ", Quote(library.library.path),
                                    ", \"version\": ", Quote(library.version), "}");
                  }));
}

// With `all`, opens the libraries that kernels may need.
std::string Describe(bool all) {
    const std::string driver = DescribeLibrary([] {
        const Driver& d = GetDriver();
        return StrCat("{\"path\": ", Quote(d.library.path), ", \"version\": \"", d.version / 1000,
                      ".", d.version % 1000 / 10, "\", \"devices\": ", DescribeDevices(d), "}");
    });
    const std::string nvrtc = DescribeLibrary([] {
        const Nvrtc& n = GetNvrtc();
        return StrCat("{\"path\": ", Quote(n.library.path), ", \"version\": \"", n.major, ".",
                      n.minor, "\"}");
    });
    const std::string others =
        !all ? ""
             : StrCat(DescribeWheel("cufft", &GetCufft), DescribeWheel("cusolver", &GetCusolver),
                      DescribeWheel("cublaslt", &GetCublasLt), DescribeWheel("cudnn", &GetCudnn),
                      DescribeWheel("nccl", &GetNccl));
    const char* test_driver = TestDriverFolder();
    return StrCat("{\"driver\": ", driver, ", \"nvrtc\": ", nvrtc, others,
                  ", \"cache\": ", Quote(DiskCache::Folder()),
                  ", \"test_driver\": ", test_driver != nullptr ? Quote(test_driver) : "null", "}");
}

std::string DescribeSources() {
    std::string all;
    for (const DeviceSource& source : GetCompiledSources()) {
        all += StrCat(all.empty() ? "" : ",\n", "{\"kernel\": ", Quote(source.kernel),
                      ", \"text\": ", Quote(source.text), "}");
    }
    return StrCat("[", all, "]");
}

// Keeps a text for the caller of a function of C, until its thread calls again.
const char* Keep(std::string made) {
    static thread_local std::string text;
    text = std::move(made);
    return text.c_str();
}

}  // namespace
}  // namespace chainerx::cuda

// JSON; with `all` of all libraries.
extern "C" CX_API const char* ChainerxCudaDescribe(int all) {
    return chainerx::cuda::Keep(chainerx::cuda::Describe(all != 0));
}

// The sources that were compiled so far, or found on disk, as JSON.
extern "C" CX_API const char* ChainerxCudaSources() {
    return chainerx::cuda::Keep(chainerx::cuda::DescribeSources());
}

// Lets a profiler begin, or end. Returns an error, or "".
extern "C" CX_API const char* ChainerxCudaProfiler(int start) {
    try {
        const chainerx::cuda::Driver& driver = chainerx::cuda::GetDriver();
        chainerx::cuda::Check(start != 0 ? driver.ProfilerStart() : driver.ProfilerStop(),
                              start != 0 ? "cuProfilerStart" : "cuProfilerStop");
        return "";
    } catch (const std::exception& e) {
        return chainerx::cuda::Keep(e.what());
    }
}

// Compiles a source into the cache on disk, without a GPU. Returns an error, or "".
extern "C" CX_API const char* ChainerxCudaCompile(const char* kernel, const char* text, int arch) {
    try {
        chainerx::cuda::CompileForArch({kernel, text}, arch);
        return "";
    } catch (const std::exception& e) {
        return chainerx::cuda::Keep(e.what());
    }
}
