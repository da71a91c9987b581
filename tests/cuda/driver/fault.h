// Turns invalid accesses of kernels (SIGSEGV, SIGFPE) into errors of the driver.
#pragma once

#include <memory>

namespace chainerx::cuda::test {

// Once for the process; other faults go to the handlers that were there.
void InstallFaultHandlers();

// Makes faults of this thread run on a stack of their own, for its fibers' may have overflowed.
class FaultStack {
 public:
    FaultStack();
    ~FaultStack();
    FaultStack(const FaultStack&) = delete;
    FaultStack& operator=(const FaultStack&) = delete;

 private:
    std::unique_ptr<char[]> memory_;
};

}  // namespace chainerx::cuda::test
