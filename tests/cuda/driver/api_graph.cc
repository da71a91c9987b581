// Capture of streams, and the graphs made by it: lists of tasks in the order of the calls.
#include <algorithm>
#include <utility>

#include "api.h"
#include "handles.h"
#include "launch_log.h"

namespace chainerx::cuda {

namespace {

// The captures that this thread began and did not end, without relaxed ones.
thread_local std::vector<std::shared_ptr<test::Capture>> captures;

}  // namespace

void ForbidCapture() {
    // A capture has ended also when its context was destroyed.
    std::erase_if(captures, [](const auto& capture) { return capture->ended.load(); });
    if (captures.empty()) return;
    for (const auto& capture : captures) capture->valid = false;
    throw CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

void ForbidCapture(CUstream_st& stream) {
    if (stream.capture == nullptr) return;
    Require(stream.capture->valid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    stream.capture->valid = false;
    throw CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

void Enqueue(const std::shared_ptr<CUstream_st>& stream, test::Task task) {
    if (stream->capture == nullptr) {
        // CUDA_ERROR_STREAM_CAPTURE_IMPLICIT: it would have to wait for a stream that is captured.
        constexpr auto kImplicit = static_cast<CUresult>(906);
        const bool is_legacy = stream == stream->context->null_stream;
        Require(!is_legacy || !stream->context->InvalidateCaptures(true), kImplicit);
        return stream->Push(std::move(task));
    }
    Require(stream->capture->valid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    stream->capture->tasks.push_back(std::move(task));
    ++stream->capture->branches[stream.get()].added;
}

using test::Handles;

void impl::cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) {
    CUctx_st& context = CurrentContext();
    Require(handle != nullptr, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    const auto stream = context.Stream(handle);
    Require(stream->capture == nullptr);
    stream->capture = std::make_shared<test::Capture>();
    stream->capture->origin = handle;
    stream->capture->blocks = stream->blocks;
    {
        const std::lock_guard lock{context.mutex};
        context.captures.push_back(stream->capture);
    }
    if (mode != CU_STREAM_CAPTURE_MODE_RELAXED) captures.push_back(stream->capture);
}

void impl::cuStreamEndCapture(CUstream handle, CUgraph* graph) {
    CUctx_st& context = CurrentContext();
    const auto stream = context.Stream(handle);
    const auto capture = stream->capture;
    *graph = nullptr;
    Require(capture != nullptr && capture->origin == handle);
    bool joined = true;
    for (const auto& [member, branch] : capture->branches) {
        joined = joined && (member == handle || branch.joined == branch.added);
        // It may have been destroyed.
        try {
            context.Stream(member)->capture.reset();
        } catch (CUresult) {
        }
    }
    stream->capture.reset();
    capture->ended = true;
    {
        const std::lock_guard lock{context.mutex};
        std::erase(context.captures, capture);
    }
    Require(capture->valid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    Require(joined, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    auto made = std::make_unique<CUgraph_st>();
    made->tasks = std::move(capture->tasks);
    *graph = Handles<CUgraph_st>::Get().Add(std::move(made));
}

void impl::cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
    CUctx_st& context = CurrentContext();
    const auto capture = context.Stream(handle)->capture;
    *status = capture == nullptr ? CU_STREAM_CAPTURE_STATUS_NONE
              : capture->valid   ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                 : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
}

void impl::cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
    Require(exec != nullptr && flags == 0);
    auto made = std::make_unique<CUgraphExec_st>();
    made->tasks =
        std::make_shared<const std::vector<test::Task>>(Handles<CUgraph_st>::Get().At(graph).tasks);
    *exec = Handles<CUgraphExec_st>::Get().Add(std::move(made));
}

void impl::cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
    const auto& tasks = Handles<CUgraph_st>::Get().At(graph).tasks;
    if (nodes == nullptr) {
        *count = tasks.size();
        return;
    }
    for (std::size_t i = 0; i < *count; ++i) {
        nodes[i] = i < tasks.size()
                       ? reinterpret_cast<CUgraphNode>(const_cast<test::Task*>(&tasks[i]))
                       : nullptr;
    }
    *count = std::min(*count, tasks.size());
}

void impl::cuGraphLaunch(CUgraphExec exec, CUstream handle) {
    CUctx_st& context = CurrentContext();
    CUgraphExec_st& graph = Handles<CUgraphExec_st>::Get().At(exec);
    const auto stream = context.Stream(handle);
    test::LogLaunch("graph");
    const auto run = [tasks = graph.tasks] {
        for (const test::Task& task : *tasks) task();
    };
    if (stream->capture != nullptr) return Enqueue(stream, run);
    // One launch of it runs after another, on all streams.
    const auto mark = std::make_shared<test::Mark>();
    Enqueue(stream, [run, mark, before = std::exchange(graph.launched, mark)] {
        if (before != nullptr) before->done.wait(false);
        run();
        mark->done = true;
        mark->done.notify_all();
    });
}

void impl::cuGraphExecDestroy(CUgraphExec exec) {
    Require(Handles<CUgraphExec_st>::Get().Remove(exec) != nullptr, CUDA_ERROR_INVALID_HANDLE);
}

void impl::cuGraphDestroy(CUgraph graph) {
    Require(Handles<CUgraph_st>::Get().Remove(graph) != nullptr, CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace chainerx::cuda
