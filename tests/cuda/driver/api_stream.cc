// Streams and events.
#include <algorithm>

#include "api.h"
#include "handles.h"

namespace chainerx::cuda {

using test::Handles;

void impl::cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    *least = 0;
    *greatest = -5;
}

void impl::cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
    CUctx_st& context = CurrentContext();
    Require(stream != nullptr && flags <= CU_STREAM_NON_BLOCKING);
    const auto created = std::make_shared<CUstream_st>(&context);
    created->priority = std::clamp(priority, -5, 0);
    created->blocks = flags != CU_STREAM_NON_BLOCKING;
    CUstream_st::Start(created);
    const std::lock_guard lock{context.mutex};
    context.streams.insert(created);
    *stream = created.get();
}

void impl::cuStreamDestroy_v2(CUstream handle) {
    CUctx_st& context = CurrentContext();
    Require(handle != nullptr, CUDA_ERROR_INVALID_HANDLE);
    const auto stream = context.Stream(handle);
    stream->Close();
    const std::lock_guard lock{context.mutex};
    context.streams.erase(stream);
    std::erase_if(context.closed_streams, [](const auto& closed) { return closed.expired(); });
    context.closed_streams.push_back(stream);
}

void impl::cuStreamGetPriority(CUstream handle, int* priority) {
    *priority = CurrentContext().Stream(handle)->priority;
}

void impl::cuStreamQuery(CUstream handle) {
    const auto stream = CurrentContext().Stream(handle);
    ForbidCapture(*stream);
    Require(stream->Idle(), CUDA_ERROR_NOT_READY);
}

void impl::cuStreamSynchronize(CUstream handle) {
    CUctx_st& context = CurrentContext();
    const auto stream = context.Stream(handle);
    ForbidCapture(*stream);
    stream->Synchronize();
    Require(context.error == CUDA_SUCCESS, context.error);
}

void impl::cuLaunchHostFunc(CUstream handle, CUhostFn f, void* data) {
    CUctx_st& context = CurrentContext();
    Require(f != nullptr);
    Enqueue(context.Stream(handle), [f, data, owner = &context] {
        if (owner->error == CUDA_SUCCESS) f(data);
    });
}

void impl::cuEventCreate(CUevent* event, unsigned flags) {
    CUctx_st& context = CurrentContext();
    Require(event != nullptr && flags < 8);
    auto created = std::make_unique<CUevent_st>();
    created->context = &context;
    created->timing = (flags & CU_EVENT_DISABLE_TIMING) == 0;
    *event = Handles<CUevent_st>::Get().Add(std::move(created));
}

void impl::cuEventDestroy_v2(CUevent event) {
    Require(Handles<CUevent_st>::Get().Remove(event) != nullptr, CUDA_ERROR_INVALID_HANDLE);
}

void impl::cuEventRecord(CUevent handle, CUstream stream_handle) {
    CUctx_st& context = CurrentContext();
    CUevent_st& event = Handles<CUevent_st>::Get().At(handle);
    const auto stream = context.Stream(stream_handle);
    Require(event.context == &context, CUDA_ERROR_INVALID_HANDLE);
    const std::lock_guard lock{event.mutex};
    event.mark.reset();
    event.capture = stream->capture;
    if (stream->capture != nullptr) {
        event.captured_stream = stream.get();
        event.captured_tasks = stream->capture->branches[stream.get()].added;
        return;
    }
    event.mark = std::make_shared<test::Mark>();
    stream->Push([mark = event.mark] {
        mark->time = std::chrono::steady_clock::now();
        mark->done = true;
        mark->done.notify_all();
    });
}

void impl::cuStreamWaitEvent(CUstream stream_handle, CUevent handle, unsigned flags) {
    CUctx_st& context = CurrentContext();
    CUevent_st& event = Handles<CUevent_st>::Get().At(handle);
    const auto stream = context.Stream(stream_handle);
    Require(flags == 0);
    const std::lock_guard lock{event.mutex};
    if (event.capture != nullptr) {
        if (stream->capture == nullptr) stream->capture = event.capture;
        Require(stream->capture == event.capture, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
        auto& branches = event.capture->branches;
        branches[stream.get()];
        auto& joined = branches[event.captured_stream].joined;
        if (event.captured_stream != stream.get()) joined = std::max(joined, event.captured_tasks);
        return;
    }
    if (stream->capture != nullptr) {
        stream->capture->valid = false;
        throw CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    if (event.mark != nullptr) stream->Push([mark = event.mark] { mark->done.wait(false); });
}

namespace {

// What was recorded last; throws if that was captured.
std::shared_ptr<test::Mark> LastMark(CUevent handle) {
    CUevent_st& event = Handles<CUevent_st>::Get().At(handle);
    const std::lock_guard lock{event.mutex};
    if (event.capture != nullptr) {
        event.capture->valid = false;
        throw CUDA_ERROR_CAPTURED_EVENT;
    }
    return event.mark;
}

}  // namespace

void impl::cuEventQuery(CUevent event) {
    ForbidCapture();
    const auto mark = LastMark(event);
    Require(mark == nullptr || mark->done, CUDA_ERROR_NOT_READY);
}

void impl::cuEventSynchronize(CUevent event) {
    CUctx_st& context = CurrentContext();
    ForbidCapture();
    if (const auto mark = LastMark(event)) mark->done.wait(false);
    Require(context.error == CUDA_SUCCESS, context.error);
}

void impl::cuEventElapsedTime(float* ms, CUevent start, CUevent end) {
    const auto first = LastMark(start), last = LastMark(end);
    Require(first != nullptr && last != nullptr && start->timing && end->timing,
            CUDA_ERROR_INVALID_HANDLE);
    Require(first->done && last->done, CUDA_ERROR_NOT_READY);
    *ms = std::chrono::duration<float, std::milli>(last->time - first->time).count();
}

}  // namespace chainerx::cuda
