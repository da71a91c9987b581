// What the files api_*.cc define: each exported function, without what all have in common.
#pragma once

#include "chainerx/cuda/driver/types.h"
#include "context.h"
#include "errors.h"

namespace chainerx::cuda {

// They throw the CUresult that is to be returned. exports.cc has what precedes every call.
namespace impl {
#define CX_DRIVER(name, symbol, params) void symbol params;
#include "chainerx/cuda/driver/driver.def"
#undef CX_DRIVER
}  // namespace impl

// The handle of the context that is current in this thread.
CUcontext& CurrentHandle();
// Throws unless the thread has a context without error.
CUctx_st& CurrentContext();
// The context of a device, which may be in use or not; throws for a wrong number.
CUctx_st& PrimaryContext(CUdevice device);

// Throws, and invalidates the capture, if this thread captures: for calls that may synchronize.
void ForbidCapture();
// Throws, and invalidates the capture, if the stream is being captured.
void ForbidCapture(CUstream_st& stream);
// Adds the task to the stream's queue, or to the graph that is being captured.
void Enqueue(const std::shared_ptr<CUstream_st>& stream, test::Task task);

}  // namespace chainerx::cuda
