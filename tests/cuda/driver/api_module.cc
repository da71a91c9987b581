// Modules, functions, launches.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "api.h"
#include "engine.h"
#include "handles.h"
#include "image.h"
#include "launch_log.h"
#include "settings.h"
#include "shared_memory.h"

namespace chainerx::cuda {

using test::Handles, test::SharedMemory;

namespace {

// A file is needed, and a name that no other module had: dlopen compares them.
void* Open(const char* code, std::size_t nbytes) {
    static std::atomic<int> count{0};
    const auto path = std::filesystem::temp_directory_path() /
                      ("chainerx_test_module_" + std::to_string(getpid()) + "_" +
                       std::to_string(++count) + ".so");
    std::ofstream{path, std::ios::binary}.write(code, static_cast<std::streamsize>(nbytes));
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) std::fprintf(stderr, "chainerx test driver: %s\n", dlerror());
    std::filesystem::remove(path);
    Require(library != nullptr, CUDA_ERROR_INVALID_IMAGE);
    return library;
}

// A copy of the parameters, aligned for every struct.
std::shared_ptr<void> CopyParams(const test::Kernel& kernel, void** params, void** extra) {
    const void* source = nullptr;
    if (extra != nullptr) {
        std::size_t nbytes = ~std::size_t{0};
        for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
            if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) source = extra[1];
            if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
                nbytes = *static_cast<std::size_t*>(extra[1]);
        }
        Require(nbytes == kernel.params_size);
    } else {
        Require(params != nullptr);
        source = params[0];
    }
    Require(source != nullptr);
    std::shared_ptr<void> copy{std::aligned_alloc(64, (kernel.params_size + 63) / 64 * 64),
                               &std::free};
    std::memcpy(copy.get(), source, kernel.params_size);
    return copy;
}

bool MustBegin(const CUlaunchConfig& config) {
    bool must = false;
    for (unsigned i = 0; i < config.numAttrs; ++i) {
        const CUlaunchAttribute& attribute = config.attrs[i];
        Require(attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
        must = must || attribute.value.programmaticStreamSerializationAllowed != 0;
    }
    return must;
}

}  // namespace

void impl::cuModuleLoadData(CUmodule* module, const void* image) {
    CUctx_st& context = CurrentContext();
    ForbidCapture();
    Require(module != nullptr && image != nullptr);
    test::ImageHeader header;
    std::memcpy(&header, image, sizeof header);
    Require(header.Valid(test::Checked()), CUDA_ERROR_INVALID_IMAGE);
    Require(header.RunsOn(static_cast<unsigned>(test::GetSettings().arch)),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
    auto made = std::make_unique<CUmod_st>();
    made->context = &context;
    made->library = Open(static_cast<const char*>(image) + sizeof header, header.nbytes);
    *module = Handles<CUmod_st>::Get().Add(std::move(made));
}

void impl::cuModuleGetFunction(CUfunction* function, CUmodule handle, const char* name) {
    CUmod_st& module = Handles<CUmod_st>::Get().At(handle);
    Require(function != nullptr && name != nullptr);
    const void* kernel = dlsym(module.library, (std::string{"cx_kernel_"} + name).c_str());
    Require(kernel != nullptr, CUDA_ERROR_NOT_FOUND);
    const std::lock_guard lock{module.mutex};
    for (const auto& known : module.functions) {
        if (known->name == name) *function = known.get();
        if (known->name == name) return;
    }
    auto made = std::make_unique<CUfunc_st>();
    made->name = name;
    made->kernel = *static_cast<const test::Kernel*>(kernel);
    made->context = module.context;
    *function = made.get();
    module.functions.push_back(std::move(made));
}

void impl::cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    Require(function != nullptr && attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    Require(value >= 0 && static_cast<std::size_t>(value) <= SharedMemory::kLimit);
    function->dynamic_shared_limit = value;
}

void impl::cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** params,
                            void** extra) {
    CUctx_st& context = CurrentContext();
    Require(config != nullptr && function != nullptr);
    Require(function->context == &context, CUDA_ERROR_INVALID_HANDLE);
    const CUlaunchConfig& c = *config;
    const test::Kernel& kernel = function->kernel;
    Require(c.gridDimX > 0 && c.gridDimX <= 0x7fffffff && c.gridDimY > 0 && c.gridDimY <= 65535 &&
            c.gridDimZ > 0 && c.gridDimZ <= 65535);
    Require(c.blockDimX > 0 && c.blockDimX <= 1024 && c.blockDimY > 0 && c.blockDimY <= 1024 &&
            c.blockDimZ > 0 && c.blockDimZ <= 64);
    Require(c.blockDimX * c.blockDimY * c.blockDimZ <= kernel.max_threads);
    Require(c.sharedMemBytes <= static_cast<unsigned>(function->dynamic_shared_limit.load()));
    const bool must_begin = MustBegin(c);
    test::LogLaunch(function->name);
    if (test::GetSettings().empty) return;
    test::Launch launch{function->name,
                        kernel,
                        {c.gridDimX, c.gridDimY, c.gridDimZ},
                        {c.blockDimX, c.blockDimY, c.blockDimZ},
                        c.sharedMemBytes,
                        must_begin,
                        &context,
                        CopyParams(kernel, params, extra)};
    Enqueue(context.Stream(c.hStream), [launch = std::move(launch)] {
        if (launch.context->error != CUDA_SUCCESS) return;
        const std::string fault = test::Engine::Get()->Run(launch);
        if (!fault.empty()) launch.context->Break(fault);
    });
}

}  // namespace chainerx::cuda
