#include "context.h"

#include <cstdio>
#include <thread>

#include "engine.h"
#include "fault.h"
#include "memory.h"
#include "settings.h"

namespace chainerx::cuda {

void CUctx_st::Break(const std::string& what, CUresult code) {
    CUresult none = CUDA_SUCCESS;
    if (!error.compare_exchange_strong(none, code)) return;
    std::fprintf(stderr, "chainerx test driver: %s\n", what.c_str());
}

std::shared_ptr<CUstream_st> CUctx_st::Stream(CUstream handle) {
    const std::lock_guard lock{mutex};
    if (handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
        if (null_stream == nullptr) {
            null_stream = std::make_shared<CUstream_st>(this);
            CUstream_st::Start(null_stream);
        }
        return null_stream;
    }
    for (const auto& stream : streams) {
        if (stream.get() == handle) return stream;
    }
    throw CUDA_ERROR_INVALID_HANDLE;
}

bool CUctx_st::InvalidateCaptures(bool only_blocking) {
    const std::lock_guard lock{mutex};
    bool found = false;
    for (const auto& capture : captures) {
        if (only_blocking && !capture->blocks) continue;
        found = true;
        capture->valid = false;
    }
    return found;
}

void CUctx_st::Synchronize() {
    std::unique_lock lock{mutex};
    std::vector<std::shared_ptr<CUstream_st>> all{streams.begin(), streams.end()};
    if (null_stream != nullptr) all.push_back(null_stream);
    for (const auto& closed : closed_streams) {
        if (auto stream = closed.lock()) all.push_back(std::move(stream));
    }
    lock.unlock();
    for (const auto& stream : all) stream->Synchronize();
}

void CUctx_st::Destroy() {
    Synchronize();
    const std::lock_guard lock{mutex};
    for (const auto& stream : streams) {
        stream->Close();
        if (stream->capture != nullptr) stream->capture->ended = true;
    }
    if (null_stream != nullptr) null_stream->Close();
    streams.clear();
    captures.clear();
    null_stream.reset();
    test::Memory::Get().FreeAll(device);
    error = CUDA_SUCCESS;
}

void CUstream_st::Start(const std::shared_ptr<CUstream_st>& stream) {
    if (test::GetSettings().empty) return;
    std::thread{[stream] { stream->Run(); }}.detach();
}

void CUstream_st::Push(test::Task task) {
    if (test::GetSettings().empty) return task();
    const std::lock_guard lock{mutex_};
    tasks_.push_back(std::move(task));
    ++pushed_;
    changed_.notify_all();
}

bool CUstream_st::Idle() {
    const std::lock_guard lock{mutex_};
    return finished_ == pushed_;
}

void CUstream_st::Synchronize() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this, until = pushed_] { return finished_ >= until; });
}

void CUstream_st::Close() {
    const std::lock_guard lock{mutex_};
    closed_ = true;
    changed_.notify_all();
}

void CUstream_st::Run() {
    test::Engine engine;
    const test::FaultStack stack;
    const int delay = test::GetSettings().delay;
    std::unique_lock lock{mutex_};
    for (;;) {
        changed_.wait(lock, [this] { return closed_ || !tasks_.empty(); });
        if (tasks_.empty()) return;
        test::Task task = std::move(tasks_.front());
        tasks_.pop_front();
        lock.unlock();
        const std::uint64_t random = test::NextRandom();
        if (delay > 0 || (delay < 0 && random % 16 == 0)) {
            const auto time = delay > 0 ? static_cast<unsigned>(delay) : 20 + random / 16 % 400;
            std::this_thread::sleep_for(std::chrono::microseconds{time});
        }
        task();
        task = nullptr;
        lock.lock();
        ++finished_;
        changed_.notify_all();
    }
}

}  // namespace chainerx::cuda
