// Runs work of the device other than kernels; invalid accesses break the context, as kernels' do.
#pragma once

#include "context.h"
#include "engine.h"

namespace chainerx::cuda::test {

inline void RunGuarded(CUcontext context, const char* name, const Task& task) {
    if (context->error != CUDA_SUCCESS) return;
    if (Engine::Get() == nullptr) return task();
    Launch launch;
    launch.name = name;
    launch.kernel.run = [](const void* p) { (*static_cast<const Task*>(p))(); };
    launch.params = std::shared_ptr<void>{std::shared_ptr<void>{}, const_cast<Task*>(&task)};
    launch.context = context;
    if (const std::string fault = Engine::Get()->Run(launch); !fault.empty()) context->Break(fault);
}

}  // namespace chainerx::cuda::test
