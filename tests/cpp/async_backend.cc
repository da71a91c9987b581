// A backend as remote as an accelerator: kernels are queued to threads and run later, and the host
// can't access the memory, which proves that no other code does. The threads run native's kernels.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "chainerx/core/backend.h"
#include "chainerx/core/capture_observer.h"
#include "chainerx/core/context.h"
#include "chainerx/core/error.h"
#include "chainerx/core/foreign.h"
#include "chainerx/core/kernel_error.h"
#include "chainerx/core/stream.h"
#include "chainerx/core/stream_pool.h"
#include "chainerx/kernels/hook.h"
#include "chainerx/kernels/kept_call.h"
#include "chainerx/kernels/plugin.h"
#include "chainerx/native/native_backend.h"

namespace {

using chainerx::Array;
using chainerx::Buffer;
using chainerx::Context;
using chainerx::Device;
using chainerx::KeptCall;
using chainerx::KernelCallData;
using chainerx::KernelError;
using chainerx::Stream;

// Memory that is mapped twice; the mapping that the host knows is inaccessible.
class Arena {
 public:
    Arena() {
        const int file = memfd_create("async_toy", 0);
        if (file < 0 || ftruncate(file, kSize) != 0) Throw();
        shown_ = Map(PROT_READ | PROT_WRITE, MAP_SHARED, file);
        hidden_ = Map(PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
        close(file);
    }
    ~Arena() {
        munmap(shown_, kSize);
        munmap(hidden_, kSize);
    }
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    // Translates an address of the host for the threads of the device.
    char* Show(const void* p) const { return static_cast<const char*>(p) - hidden_ + shown_; }

    void* Take(int64_t nbytes) {
        const std::lock_guard lock{mutex_};
        if (const auto it = free_.find(nbytes); it != free_.end()) {
            void* p = it->second;
            free_.erase(it);
            return p;
        }
        if (nbytes > kSize - end_) return nullptr;
        end_ += nbytes;
        return hidden_ + end_ - nbytes;
    }
    void Give(void* p, int64_t nbytes) {
        const std::lock_guard lock{mutex_};
        free_.emplace(nbytes, p);
    }

 private:
    static constexpr int64_t kSize = int64_t{4} << 30;  // of addresses; committed on write

    [[noreturn]] static void Throw() {
        throw chainerx::OutOfMemoryError{"async_toy: ", std::strerror(errno)};
    }
    static char* Map(int protection, int flags, int file) {
        void* p = mmap(nullptr, kSize, protection, flags, file, 0);
        if (p == MAP_FAILED) Throw();
        return static_cast<char*>(p);
    }

    char* shown_;
    char* hidden_;
    std::mutex mutex_;
    int64_t end_{0};
    std::multimap<int64_t, void*> free_;
};

// A queue and its thread, which sometimes delays.
class AsyncStream : public Stream {
 public:
    explicit AsyncStream(Device& device) : Stream{device}, thread_{[this] { Work(); }} {}
    ~AsyncStream() override { Stop(); }

    void Stop() {
        if (!thread_.joinable()) return;
        Put({});
        thread_.join();
    }

    // An empty task is the last one.
    Ticket Put(std::function<void()> task) {
        const std::lock_guard lock{mutex_};
        tasks_.push_back(std::move(task));
        changed_.notify_all();
        return ++put_;
    }

    Ticket Mark() noexcept override {
        const std::lock_guard lock{mutex_};
        return put_;
    }
    bool IsDone(Ticket ticket) noexcept override {
        const std::lock_guard lock{mutex_};
        return done_ >= ticket;
    }
    void Wait(Ticket ticket) override {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [&] { return done_ >= ticket; });
    }
    void WaitFor(Stream& other, Ticket ticket) override {
        Put([&other, ticket] { other.Wait(ticket); });
    }

 private:
    void Work() {
        std::minstd_rand random{static_cast<unsigned>(reinterpret_cast<uintptr_t>(this) >> 4)};
        for (bool last = false; !last;) {
            std::unique_lock lock{mutex_};
            changed_.wait(lock, [&] { return !tasks_.empty(); });
            std::function<void()> task = std::move(tasks_.front());
            tasks_.pop_front();
            lock.unlock();
            if (random() % 16 == 0) {
                std::this_thread::sleep_for(std::chrono::microseconds{random() % 200});
            }
            last = !task;
            if (task) task();
            task = {};  // its resources are released before it counts as done
            lock.lock();
            ++done_;
            changed_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> tasks_;
    Ticket put_{0};
    Ticket done_{0};
    std::thread thread_;  // starts after the other members
};

// How often the host has waited for a device.
std::atomic<int64_t> reads{0};

class AsyncDevice : public Device, private chainerx::StreamPool {
 public:
    AsyncDevice(chainerx::Backend* backend, int index)
        : Device{backend, index},
          StreamPool{static_cast<Device&>(*this)},
          native_{context()->GetNativeBackend().GetDevice(0)},
          errors_{new (arena_.Show(arena_.Take(4096))) Errors} {
        SetDefaultStream(&NewStream());
    }
    ~AsyncDevice() override { streams_.clear(); }

    // All computation has finished.
    void Stop() {
        for (const auto& stream : streams_) stream->Stop();
    }

    Stream& NewStream() override {
        const std::lock_guard lock{mutex_};
        return *streams_.emplace_back(std::make_unique<AsyncStream>(*this));
    }

    // Never holds an earlier owner's data by chance.
    Buffer* Allocate(int64_t nbytes) override {
        Buffer* buffer = StreamPool::Allocate(nbytes);
        Current().Put([p = arena_.Show(buffer->data()), nbytes] {
            std::memset(p, 0xb6, static_cast<size_t>(nbytes));
        });
        return buffer;
    }

    chainerx::MemoryStats ReadMemoryStats() override { return StreamPool::GetStats(); }
    void ResetMemoryPeaks() override { StreamPool::ResetPeaks(); }

    void CopyFromHost(void* dst, const void* src, int64_t nbytes) override {
        const auto* from = static_cast<const char*>(src);
        Current().Put([to = arena_.Show(dst), bytes = std::vector<char>(from, from + nbytes)] {
            if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
        });
        if (auto* capture = chainerx::internal::CurrentCapture()) {
            capture->CopiedFromHost(*this, dst, src, nbytes);
        }
    }

    // Enqueues a call in the current stream. Only addresses are kept: the pool does not reuse the
    // memory earlier.
    void Launch(const KernelCallData& call) {
        AsyncStream& stream = Current();
        auto kept = std::make_shared<KeptCall>(call, [&](const Array& x) {
            RecordUse(*x.buffer(), stream);
            return chainerx::internal::WrapForeign(arena_.Show(x.raw_data()), x.shape(),
                                                   x.strides(), x.dtype(), native_, {}, true);
        });
        const chainerx::KernelFn kernel = chainerx::native::Kernels().fns[call.kernel.id];
        stream.Put([this, kept, kernel, thread = chainerx::internal::GetThreadToken()] {
            try {
                kept->Run(kernel);
            } catch (const chainerx::KernelCheckError& e) {
                KernelError error = e.error();
                error.thread = thread;
                errors_->Add(error);
            } catch (...) {
                Report(thread, std::current_exception());
            }
        });
    }

 protected:
    void ReadToHost(void* dst, const void* src, int64_t nbytes) override {
        ++reads;
        AsyncStream& stream = Current();
        stream.Wait(stream.Put([dst, from = arena_.Show(src), nbytes] {
            if (nbytes != 0) std::memcpy(dst, from, static_cast<size_t>(nbytes));
        }));
        ReportErrors();
    }
    void Wait(Stream* stream) override {
        if (stream != nullptr) {
            stream->Wait(stream->Mark());
        } else {
            std::vector<Stream*> all;
            {
                const std::lock_guard lock{mutex_};
                for (const auto& s : streams_) all.push_back(s.get());
            }
            for (Stream* s : all) s->Wait(s->Mark());
        }
        ReportErrors();
    }
    void* AllocateBlock(int64_t nbytes) override { return arena_.Take(nbytes); }
    void FreeBlock(void* data, int64_t nbytes) noexcept override { arena_.Give(data, nbytes); }

 private:
    // Errors found by kernels are stored in the memory of the device.
    struct Errors {
        std::mutex mutex;  // a device would count atomically
        int count{0};
        KernelError list[8];

        void Add(const KernelError& error) {
            const std::lock_guard lock{mutex};
            if (count < 8) list[count++] = error;
        }
    };

    AsyncStream& Current() { return static_cast<AsyncStream&>(*chainerx::GetCurrentStream(*this)); }
    void ReportErrors() {
        const std::lock_guard lock{errors_->mutex};
        for (int i = 0; i < errors_->count; ++i) Report(errors_->list[i]);
        errors_->count = 0;
    }

    Arena arena_;
    Device& native_;
    Errors* errors_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<AsyncStream>> streams_;
};

class AsyncBackend : public chainerx::Backend {
 public:
    // No table: all calls come to Launch.
    explicit AsyncBackend(Context& context) : Backend{context, "async_toy"} {}
    int GetDeviceCount() const override { return 2; }
    void Launch(const KernelCallData& call) override {
        static_cast<AsyncDevice&>(call.device).Launch(call);
    }

 protected:
    std::unique_ptr<Device> CreateDevice(int index) override {
        auto device = std::make_unique<AsyncDevice>(this, index);
        devices_.push_back(device.get());
        return device;
    }
    void OnRetired() noexcept override {
        for (AsyncDevice* device : devices_) device->Stop();
    }

 private:
    std::vector<AsyncDevice*> devices_;
};

}  // namespace

// For tests that data stays on the device.
extern "C" __attribute__((visibility("default"))) int64_t async_toy_reads() { return reads; }

CX_BACKEND_PLUGIN(AsyncBackend)
