// Counts the calls of kernels and the time that they take.
#pragma once

#include <cstdint>
#include <vector>

#include "chainerx/core/macro.h"
#include "chainerx/kernels/hook.h"

namespace chainerx {

// Install it with InstallKernelHook(). Counts all threads.
class CX_API KernelProfiler : public KernelHook {
 public:
    struct Row {
        const KernelInfo* kernel;
        int64_t calls;
        double total;  // seconds, with the kernels that it called
        double self;   // seconds, without
    };

    // With `synchronize`, waits for the device after each call. Without, kernels of an asynchronous
    // device count for the time that it takes to launch them.
    explicit KernelProfiler(bool synchronize = false) : synchronize_{synchronize} {}

    void Run(KernelCall& call) override;

    // Those called since the last Reset(), the longest `self` first.
    std::vector<Row> rows() const;
    void Reset();

 private:
    const bool synchronize_;
    std::vector<Row> rows_;
};

}  // namespace chainerx
