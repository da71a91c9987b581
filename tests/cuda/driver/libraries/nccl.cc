// NCCL: all-reduce and broadcast over communicators of one process, or of one GPU in each of
// several.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "chainerx/core/float16.h"
#include "standin.h"

namespace chainerx::cuda::standin {

#define CX_DRIVER(name, symbol, params) extern "C" CUresult symbol params;
#include "chainerx/cuda/driver/driver.def"
#undef CX_DRIVER

struct Call {
    bool is_reduction;
    const void* send;
    void* receive;
    std::size_t count;
    ncclDataType_t type;
    int choice;  // the operation, or the root
    CUstream stream;

    bool IsLike(const Call& other) const {
        return is_reduction == other.is_reduction && count == other.count && type == other.type &&
               choice == other.choice;
    }
};

namespace {

constexpr int kUnhandledCudaError = 1, kInvalidArgument = 4, kInvalidUsage = 5;
constexpr int kVersion = 22403;

}  // namespace

// Memory that processes share: where they meet, and a part of the numbers of each. Starts as zeros.
struct Shared {
    static constexpr std::size_t kSlot = 1 << 16, kMaxRanks = 16;

    struct Offer {
        std::size_t count;
        int type, choice;
        bool is_reduction;
        alignas(16) char data[kSlot];
    };

    std::atomic<int> arrived, round;
    Offer offers[kMaxRanks];

    // Waits until all have called it; a process that has gone would be waited for without end.
    void Meet(int size) {
        const int now = round.load();
        if (arrived.fetch_add(1) + 1 == size) {
            arrived = 0;
            round = now + 1;
            return;
        }
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{60};
        while (round.load() == now) {
            std::this_thread::sleep_for(std::chrono::microseconds{20});
            if (std::chrono::steady_clock::now() < end) continue;
            std::fprintf(stderr, "chainerx test driver: nccl: a process did not come\n");
            std::abort();
        }
    }
};

}  // namespace chainerx::cuda::standin

struct chainerx::cuda::ncclComm {
    std::vector<ncclComm*>* ranks;
    int rank;
    int device;
    std::vector<standin::Call> calls;   // of the open group
    standin::Shared* shared = nullptr;  // with other processes
    int size = 1;
};

namespace chainerx::cuda::standin {
namespace {

thread_local int depth = 0;
thread_local std::vector<ncclComm_t> grouped;  // with calls

void Check(bool condition, const char* what, int status = kInvalidArgument) {
    Require(condition, what, status);
}

std::size_t SizeOf(ncclDataType_t type) {
    constexpr std::size_t kSizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
    Check(type >= 0 && type <= ncclBfloat16, "nccl: the dtype is unknown");
    return kSizes[type];
}

// The context of a device is current.
class ContextScope {
 public:
    explicit ContextScope(int device) {
        cuCtxGetCurrent(&saved_);
        CUcontext context = nullptr;
        if (cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS) {
            cuCtxSetCurrent(context);
            cuDevicePrimaryCtxRelease_v2(device);
        }
    }
    ~ContextScope() { cuCtxSetCurrent(saved_); }

 private:
    CUcontext saved_ = nullptr;
};

// Pointers of this are what a kernel sees.
template <typename T, typename Sum>
void Compute(const std::vector<Call>& calls) {
    const Call& first = calls[0];
    for (std::size_t i = 0; i < first.count; ++i) {
        const auto value = [&](std::size_t r) {
            return static_cast<Sum>(static_cast<const T*>(calls[r].send)[i]);
        };
        Sum result = value(first.is_reduction ? 0 : static_cast<std::size_t>(first.choice));
        for (std::size_t r = 1; r < calls.size() && first.is_reduction; ++r) {
            switch (first.choice) {
                case ncclMax:
                    result = std::max(result, value(r));
                    break;
                case ncclMin:
                    result = std::min(result, value(r));
                    break;
                default:
                    result = static_cast<Sum>(result + value(r));
            }
        }
        if (first.is_reduction && first.choice == ncclAvg) {
            result = static_cast<Sum>(result / static_cast<Sum>(calls.size()));
        }
        for (const Call& call : calls) {
            if (call.receive != nullptr) static_cast<T*>(call.receive)[i] = T(result);
        }
    }
}

void ComputeAll(const std::vector<Call>& calls) {
    switch (calls[0].type) {
        case ncclInt8:
            return Compute<int8_t, int8_t>(calls);
        case ncclUint8:
            return Compute<uint8_t, uint8_t>(calls);
        case ncclInt32:
            return Compute<int32_t, int32_t>(calls);
        case ncclUint32:
            return Compute<uint32_t, uint32_t>(calls);
        case ncclInt64:
            return Compute<int64_t, int64_t>(calls);
        case ncclUint64:
            return Compute<uint64_t, uint64_t>(calls);
        case ncclFloat16:
            return Compute<Float16, float>(calls);
        case ncclBfloat16:
            return Compute<BFloat16, float>(calls);
        case ncclFloat32:
            return Compute<float, float>(calls);
        case ncclFloat64:
            return Compute<double, double>(calls);
    }
}

// A collective: the last stream that arrives computes, and the others wait for it, as kernels do.
class Meeting {
 public:
    explicit Meeting(std::vector<Call> calls) : calls_{std::move(calls)} {}

    void Arrive() {
        std::unique_lock lock{mutex_};
        if (++arrived_ == calls_.size()) {
            for (Call& call : calls_) {
                call.send = View(static_cast<const char*>(call.send));
                call.receive = View(static_cast<char*>(call.receive));
            }
            ComputeAll(calls_);
            all_.notify_all();
        }
        // In this mode, streams have no threads.
        const char* empty = std::getenv("CHAINERX_CUDA_TEST_EMPTY");
        if (empty != nullptr && std::atoi(empty) != 0) return;
        all_.wait(lock, [this] { return arrived_ == calls_.size(); });
    }

 private:
    std::vector<Call> calls_;
    std::size_t arrived_ = 0;
    std::mutex mutex_;
    std::condition_variable all_;
};

// A collective of several processes, part by part: all offer theirs, and each computes the whole.
void MeetProcesses(Shared& shared, int rank, int size, const Call& call) {
    const std::size_t item = SizeOf(call.type), most = Shared::kSlot / item;
    for (std::size_t begin = 0; begin < call.count; begin += most) {
        const std::size_t n = std::min(most, call.count - begin);
        Shared::Offer& own = shared.offers[rank];
        own.count = call.count;
        own.type = call.type;
        own.choice = call.choice;
        own.is_reduction = call.is_reduction;
        std::memcpy(own.data, View(static_cast<const char*>(call.send)) + begin * item, n * item);
        shared.Meet(size);
        std::vector<Call> calls(static_cast<std::size_t>(size), call);
        for (std::size_t r = 0; r < calls.size(); ++r) {
            const Shared::Offer& offer = shared.offers[r];
            if (offer.count != call.count || offer.type != call.type ||
                offer.choice != call.choice || offer.is_reduction != call.is_reduction) {
                std::fprintf(stderr, "chainerx test driver: nccl: processes differ in a call\n");
                std::abort();
            }
            calls[r].send = offer.data;
            calls[r].count = n;
            const bool is_own = r == static_cast<std::size_t>(rank);
            calls[r].receive =
                is_own ? View(static_cast<char*>(call.receive)) + begin * item : nullptr;
        }
        ComputeAll(calls);
        shared.Meet(size);  // before the next part overwrites this one
    }
}

int CurrentDevice() {
    CUcontext now = nullptr;
    cuCtxGetCurrent(&now);
    int devices = 0, found = -1;
    cuDeviceGetCount(&devices);
    for (int d = 0; d < devices && now != nullptr && found < 0; ++d) {
        CUcontext context = nullptr;
        cuDevicePrimaryCtxRetain(&context, d);
        cuDevicePrimaryCtxRelease_v2(d);
        if (context == now) found = d;
    }
    return found;
}

// Ends a group: every rank of a communicator must have made the same calls.
void RunCalls() {
    const std::vector<ncclComm_t> comms = std::move(grouped);
    grouped.clear();
    std::vector<std::vector<Call>> calls;
    for (const ncclComm_t comm : comms) calls.push_back(std::exchange(comm->calls, {}));
    for (std::size_t c = 0; c < comms.size(); ++c) {
        const std::vector<ncclComm*>& ranks = *comms[c]->ranks;
        std::vector<std::vector<Call>> all;
        for (const ncclComm* rank : ranks) {
            const auto found = std::find(comms.begin(), comms.end(), rank);
            Check(found != comms.end(), "nccl: a GPU is missing in a group: it would hang",
                  kInvalidUsage);
            all.push_back(calls[static_cast<std::size_t>(found - comms.begin())]);
            Check(all.back().size() == all[0].size(), "nccl: GPUs differ in their calls",
                  kInvalidUsage);
        }
        if (comms[c]->rank != 0) continue;
        for (std::size_t i = 0; i < all[0].size(); ++i) {
            std::vector<Call> together;
            for (const auto& list : all) {
                Check(list[i].IsLike(all[0][i]), "nccl: GPUs differ in count, dtype or operation",
                      kInvalidUsage);
                together.push_back(list[i]);
            }
            const auto meeting = std::make_shared<Meeting>(together);
            for (std::size_t r = 0; r < ranks.size(); ++r) {
                const ContextScope scope{ranks[r]->device};
                Enqueue(together[r].stream, [meeting] { meeting->Arrive(); }, kUnhandledCudaError);
            }
        }
    }
}

int Add(ncclComm_t comm, const Call& call) {
    return Run([&] {
        Check(comm != nullptr, "nccl: there is no communicator");
        Check(depth > 0 || comm->shared != nullptr || comm->ranks->size() == 1,
              "nccl: a thread with several GPUs needs a group", kInvalidUsage);
        const std::size_t nbytes = call.count * SizeOf(call.type);
        for (const void* p : {call.send, static_cast<const void*>(call.receive)}) {
            Check(IsMemory(p, nbytes, SizeOf(call.type)), "nccl: the memory is not there");
            int device = -1;
            cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                  reinterpret_cast<CUdeviceptr>(p));
            Check(device == comm->device, "nccl: the memory is of another device");
        }
        if (comm->shared != nullptr) {
            Enqueue(
                call.stream,
                [shared = comm->shared, rank = comm->rank, size = comm->size, call] {
                    MeetProcesses(*shared, rank, size, call);
                },
                kUnhandledCudaError);
            return;
        }
        if (comm->calls.empty()) grouped.push_back(comm);
        comm->calls.push_back(call);
        if (depth == 0) RunCalls();
    });
}

}  // namespace
}  // namespace chainerx::cuda::standin

using namespace chainerx::cuda;
using namespace chainerx::cuda::standin;

CX_EXPORT int ncclGetVersion(int* version) {
    *version = kVersion;
    return 0;
}

CX_EXPORT const char* ncclGetErrorString(int status) {
    switch (status) {
        case kUnhandledCudaError:
            return "unhandled cuda error";
        case kInvalidArgument:
            return "invalid argument";
        case kInvalidUsage:
            return "invalid usage";
        default:
            return "unknown result";
    }
}

CX_EXPORT int ncclCommInitAll(ncclComm_t* comms, int count, const int* devices) {
    return Run([&] {
        if (const char* fail = std::getenv("CHAINERX_CUDA_TEST_FAIL_NCCL")) {
            Check(std::atoi(fail) == 0, "nccl: no communicator, as planned", kUnhandledCudaError);
        }
        int devices_here = 0;
        cuDeviceGetCount(&devices_here);
        Check(comms != nullptr && devices != nullptr && count > 0, "nccl: there are no GPUs");
        auto* const ranks = new std::vector<ncclComm*>;  // never destroyed, as communicators here
        for (int r = 0; r < count; ++r) {
            Check(devices[r] >= 0 && devices[r] < devices_here, "nccl: there is no such GPU");
            Check(std::count(devices, devices + count, devices[r]) == 1,
                  "nccl: a GPU is there twice", kInvalidUsage);
            ranks->push_back(comms[r] = new ncclComm{ranks, r, devices[r], {}, nullptr, 1});
        }
    });
}

// Passed by value.
struct ncclUniqueId {
    char internal[128];
};

CX_EXPORT int ncclGetUniqueId(ncclUniqueId* id) {
    static std::atomic<int> count;
    *id = {};
    std::snprintf(id->internal, sizeof id->internal, "/chainerx-nccl-%d-%d", int(getpid()),
                  count++);
    return 0;
}

CX_EXPORT int ncclCommInitRank(ncclComm_t* comm, int size, ncclUniqueId id, int rank) {
    return Run([&] {
        if (const char* fail = std::getenv("CHAINERX_CUDA_TEST_FAIL_NCCL")) {
            Check(std::atoi(fail) == 0, "nccl: no communicator, as planned", kUnhandledCudaError);
        }
        Check(size > 0 && size <= int(Shared::kMaxRanks) && rank >= 0 && rank < size,
              "nccl: there is no such rank");
        const int device = CurrentDevice();
        Check(device >= 0, "nccl: no context of a GPU is current", kInvalidUsage);
        const int file = shm_open(id.internal, O_CREAT | O_RDWR, 0600);
        Check(file >= 0 && ftruncate(file, sizeof(Shared)) == 0, "nccl: the id is not valid");
        void* const memory =
            mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        close(file);
        Check(memory != MAP_FAILED, "nccl: no memory is shared");
        auto* const shared = static_cast<Shared*>(memory);
        shared->Meet(size);
        shm_unlink(id.internal);  // the first one succeeds
        *comm = new ncclComm{nullptr, rank, device, {}, shared, size};
    });
}

CX_EXPORT int ncclCommDestroy(ncclComm_t comm) {
    if (comm == nullptr) return kInvalidArgument;
    if (comm->shared != nullptr) {
        cuCtxSynchronize();
        munmap(comm->shared, sizeof(Shared));
        delete comm;
    }
    return 0;
}

CX_EXPORT int ncclCommGetAsyncError(ncclComm_t comm, int* error) {
    *error = 0;
    return comm != nullptr ? 0 : kInvalidArgument;
}

CX_EXPORT int ncclGroupStart() {
    ++depth;
    return 0;
}

CX_EXPORT int ncclGroupEnd() {
    return Run([] {
        Check(depth > 0, "nccl: there is no group to end", kInvalidUsage);
        if (--depth == 0) RunCalls();
    });
}

CX_EXPORT int ncclAllReduce(const void* send, void* receive, size_t count, ncclDataType_t type,
                            ncclRedOp_t op, ncclComm_t comm, CUstream stream) {
    if (op != ncclSum && op != ncclMax && op != ncclMin && op != ncclAvg) return kInvalidArgument;
    return Add(comm, {true, send, receive, count, type, op, stream});
}

CX_EXPORT int ncclBroadcast(const void* send, void* receive, size_t count, ncclDataType_t type,
                            int root, ncclComm_t comm, CUstream stream) {
    const bool is_rank = comm != nullptr && root >= 0 &&
                         root < (comm->shared != nullptr ? comm->size : int(comm->ranks->size()));
    if (!is_rank) return kInvalidArgument;
    return Add(comm, {false, send, receive, count, type, root, stream});
}
