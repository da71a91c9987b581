// Sums over several GPUs, and copies to all of them: by NCCL, or by copies between two.
#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>

#include "chainerx/core/capture_observer.h"
#include "chainerx/core/error.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/cuda/driver/libraries.h"
#include "chainerx/cuda/runtime/cuda_device.h"
#include "chainerx/kernels/algorithm.h"
#include "chainerx/kernels/elementwise/arithmetic.h"
#include "chainerx/kernels/strided/memory.h"

namespace chainerx::cuda {
namespace {

constexpr const char* kNames[] = {"nccl", "copies"};
constexpr int kCopiesRow = 1;
const AlgorithmChoice g_choice{"cuda_all_reduce", "CHAINERX_CUDA_ALL_REDUCE", kNames};

CudaDevice& DeviceOf(const Array& x) { return static_cast<CudaDevice&>(x.device()); }

Array MakeEmpty(const Array& like, Device& device) {
    const Strides strides{like.shape(), like.GetItemSize()};
    Buffer* buffer = device.Allocate(like.GetNBytes());
    return internal::MakeArray(like.shape(), strides, like.dtype(), device, buffer,
                               static_cast<char*>(buffer->data()));
}

// Checks an array of list r against the one at its place in list 0.
void CheckArray(const char* op, size_t r, const Array& x, const Array& first) {
    if (dynamic_cast<CudaDevice*>(&x.device()) == nullptr) {
        throw DeviceError{op,         ": arrays[",       r,
                          "] is on ", x.device().name(), ", expected a device of the backend cuda"};
    }
    if (x.shape() != first.shape()) {
        throw DimensionError{
            op, ": arrays[", r, "] has shape ", x.shape(), ", and arrays[0] has ", first.shape()};
    }
    if (x.dtype() != first.dtype()) {
        throw DtypeError{
            op, ": arrays[", r, "] has dtype ", x.dtype(), ", and arrays[0] has ", first.dtype()};
    }
}

// Each list is on a device of its own.
void CheckLists(const char* op, const ArrayLists& lists) {
    if (lists.empty()) throw ValueError{op, ": there are no arrays"};
    for (size_t r = 0; r < lists.size(); ++r) {
        if (lists[r].size() != lists[0].size()) {
            throw ValueError{op,
                             ": arrays[",
                             r,
                             "] has ",
                             lists[r].size(),
                             " arrays, and arrays[0] has ",
                             lists[0].size()};
        }
        for (size_t i = 0; i < lists[r].size(); ++i) {
            CheckArray(op, r, lists[r][i], lists[0][i]);
            CheckSameDevice(op, lists[r][0].device(), lists[r][i].device());
        }
        for (size_t other = 0; other < r && !lists[r].empty(); ++other) {
            const Device& device = lists[r][0].device();
            if (&lists[other][0].device() != &device) continue;
            throw DeviceError{op, ": arrays[",      other,        "] and arrays[",
                              r,  "] are both on ", device.name()};
        }
    }
}

void CheckDtype(const char* op, Dtype dtype, Reduction reduction) {
    const bool is_order = reduction == Reduction::kMax || reduction == Reduction::kMin;
    if (reduction == Reduction::kMean ? !IsFloat(dtype) && !IsComplex(dtype)
        : is_order                    ? IsComplex(dtype)
                                      : IsBool(dtype)) {
        constexpr const char* kWords[] = {"sum", "mean", "max", "min"};
        throw DtypeError{op, ": arrays of dtype ", dtype, " have no ",
                         kWords[static_cast<int>(reduction)]};
    }
}

// Contiguous arrays instead of others, which get the results in the end: all lists but `read`.
class Contiguous {
 public:
    explicit Contiguous(const ArrayLists& lists, size_t read = SIZE_MAX) : lists_{lists} {
        for (size_t r = 0; r < lists_.size(); ++r) {
            std::erase_if(lists_[r], [](const Array& x) { return x.GetTotalSize() == 0; });
            for (Array& x : lists_[r]) {
                if (r != read) x.buffer()->MarkWritten();
                if (x.IsContiguous()) continue;
                const Array packed = MakeEmpty(x, x.device());
                CallOn<kernels::AsType>(x.device(), x, packed);
                if (r != read) scattered_.emplace_back(packed, x);
                x = packed;
            }
        }
    }

    const ArrayLists& lists() const { return lists_; }
    void Finish() const {
        for (const auto& [packed, x] : scattered_) {
            CallOn<kernels::AsType>(x.device(), packed, x);
        }
    }

 private:
    ArrayLists lists_;
    std::vector<std::pair<Array, Array>> scattered_;
};

struct NcclType {
    ncclDataType_t type;
    int numbers;  // of an element
};

std::optional<NcclType> NcclTypeOf(Dtype dtype) {
    switch (dtype) {
        case Dtype::kInt8:
            return NcclType{ncclInt8, 1};
        case Dtype::kBool:
        case Dtype::kUInt8:
            return NcclType{ncclUint8, 1};
        case Dtype::kInt32:
            return NcclType{ncclInt32, 1};
        case Dtype::kInt64:
            return NcclType{ncclInt64, 1};
        case Dtype::kUInt32:
            return NcclType{ncclUint32, 1};
        case Dtype::kUInt64:
            return NcclType{ncclUint64, 1};
        case Dtype::kFloat16:
            return NcclType{ncclFloat16, 1};
        case Dtype::kBFloat16:
            return NcclType{ncclBfloat16, 1};
        case Dtype::kFloat32:
            return NcclType{ncclFloat32, 1};
        case Dtype::kFloat64:
            return NcclType{ncclFloat64, 1};
        case Dtype::kComplex64:
            return NcclType{ncclFloat32, 2};
        case Dtype::kComplex128:
            return NcclType{ncclFloat64, 2};
        default:
            return std::nullopt;
    }
}

// Whether NCCL is there and wanted.
bool UseNccl() {
    if (g_choice.MayBeForced()) [[unlikely]] {
        const AlgorithmChoice::Forced forced = g_choice.forced();
        if (forced.row == kCopiesRow) return false;
        if (forced.is_strict && forced.row >= 0) GetNccl();
    }
    if (FindNccl() != nullptr) return true;
    static constinit std::atomic<bool> is_said{false};
    if (!is_said.exchange(true)) {
        std::fprintf(stderr,
                     "chainerx: cuda: NCCL was not found, so GPUs exchange sums by copies; `pip "
                     "install nvidia-nccl-cu%d` installs it\n",
                     GetDriverVersion() >= 13000 ? 13 : 12);
    }
    return false;
}

using Communicators = std::vector<ncclComm_t>;

// Of each set of devices, for who holds the lock. They live as long as the process: so do the
// contexts of the devices.
std::map<std::vector<int>, Communicators>& MadeCommunicators() {
    static constinit std::map<std::vector<int>, Communicators>* made = nullptr;
    if (made == nullptr) made = new std::map<std::vector<int>, Communicators>;
    return *made;
}

const Communicators& CommunicatorsOf(const std::vector<CudaDevice*>& devices) {
    std::vector<int> indices;
    for (const CudaDevice* device : devices) indices.push_back(device->index());
    const auto found = MadeCommunicators().find(indices);
    if (found != MadeCommunicators().end()) {
        for (const ncclComm_t comm : found->second) {
            int error = 0;
            CX_NCCL_CALL(CommGetAsyncError, comm, &error);
            if (error != 0) CheckLibraryFailed(GetNccl().library, "ncclCommGetAsyncError", error);
        }
        return found->second;
    }
    Communicators comms(devices.size());
    const auto count = static_cast<int>(devices.size());
    // It does not tell a lack of memory from other failures, and the pools may hold all there is.
    if (GetNccl().CommInitAll == nullptr ||
        GetNccl().CommInitAll(comms.data(), count, indices.data()) != 0) {
        for (CudaDevice* device : devices) device->ReleaseCachedMemory();
        CX_NCCL_CALL(CommInitAll, comms.data(), count, indices.data());
    }
    return MadeCommunicators().emplace(std::move(indices), std::move(comms)).first->second;
}

// Calls f(array, type, count, communicator, stream) for each array, in one group.
template <typename F>
void RunGroup(const ArrayLists& lists, const F& f) {
    static constinit internal::ForkMutex mutex;
    std::vector<CudaDevice*> devices;
    for (const auto& list : lists) devices.push_back(&DeviceOf(list[0]));
    const std::lock_guard lock{mutex};  // all GPUs get the same groups in the same order
    const Communicators& comms = CommunicatorsOf(devices);
    CX_NCCL_CALL(GroupStart);
    try {
        for (size_t i = 0; i < lists[0].size(); ++i) {
            const NcclType type = *NcclTypeOf(lists[0][i].dtype());
            for (size_t r = 0; r < lists.size(); ++r) {
                const Array& x = lists[r][i];
                CudaStream& stream = devices[r]->current_stream();
                devices[r]->RecordUse(x, stream);
                f(x, type.type, static_cast<size_t>(x.GetTotalSize() * type.numbers), comms[r],
                  stream.handle());
            }
        }
    } catch (...) {
        GetNccl().GroupEnd();
        throw;
    }
    CX_NCCL_CALL(GroupEnd);
    for (CudaDevice* device : devices) {
        for (const CudaDevice* sender : devices) device->AddSender(*sender);
    }
}

// Takes out the arrays that NCCL moves.
ArrayLists TakeThoseOfNccl(ArrayLists& lists) {
    ArrayLists taken(lists.size());
    if (!UseNccl()) return taken;
    for (size_t r = 0; r < lists.size(); ++r) {
        const auto rest = std::stable_partition(
            lists[r].begin(), lists[r].end(),
            [](const Array& x) { return !NcclTypeOf(x.dtype()).has_value(); });
        taken[r].assign(rest, lists[r].end());
        lists[r].erase(rest, lists[r].end());
    }
    return taken;
}

void Combine(const Array& total, const Array& part, Reduction reduction) {
    Device& device = total.device();
    switch (reduction) {
        case Reduction::kMax:
            return CallOn<kernels::Maximum>(device, total, part, total);
        case Reduction::kMin:
            return CallOn<kernels::Minimum>(device, total, part, total);
        default:
            return CallOn<kernels::Add>(device, total, part, total);
    }
}

void BroadcastByCopies(const ArrayLists& lists, size_t root) {
    for (size_t i = 0; i < lists[0].size(); ++i) {
        for (size_t r = 0; r < lists.size(); ++r) {
            if (r != root) DeviceOf(lists[r][i]).CopyFromPeer(lists[root][i], lists[r][i]);
        }
    }
}

}  // namespace

void CudaDevice::AllReduce(const ArrayLists& lists, Reduction reduction) {
    constexpr const char* kOp = "all_reduce";
    CheckLists(kOp, lists);
    internal::CheckMayRead("all_reduce is called");
    for (const Array& x : lists[0]) CheckDtype(kOp, x.dtype(), reduction);
    if (lists.size() == 1) return;
    const Contiguous contiguous{lists};
    ArrayLists rest = contiguous.lists();
    if (rest[0].empty()) return;
    if (const ArrayLists taken = TakeThoseOfNccl(rest); !taken[0].empty()) {
        constexpr ncclRedOp_t kOps[] = {ncclSum, ncclAvg, ncclMax, ncclMin};
        RunGroup(taken, [&](const Array& x, ncclDataType_t type, size_t count, ncclComm_t comm,
                            CUstream stream) {
            CX_NCCL_CALL(AllReduce, x.raw_data(), x.raw_data(), count, type,
                         kOps[static_cast<int>(reduction)], comm, stream);
        });
    }
    for (size_t i = 0; i < rest[0].size(); ++i) {
        const Array& total = rest[0][i];
        for (size_t r = 1; r < rest.size(); ++r) {
            const Array part = MakeEmpty(total, total.device());
            DeviceOf(total).CopyFromPeer(rest[r][i], part);
            Combine(total, part, reduction);
        }
        if (reduction == Reduction::kMean) {
            const Scalar share{1.0 / static_cast<double>(rest.size())};
            CallOn<kernels::Multiply>(total.device(), total, share, total);
        }
    }
    BroadcastByCopies(rest, 0);
    contiguous.Finish();
}

void CudaDevice::Broadcast(const ArrayLists& lists, size_t root) {
    CheckLists("broadcast", lists);
    internal::CheckMayRead("broadcast is called");
    if (root >= lists.size()) {
        throw IndexError{"broadcast: root is ", root, ", and there are ", lists.size(), " GPUs"};
    }
    if (lists.size() == 1) return;
    const Contiguous contiguous{lists, root};
    ArrayLists rest = contiguous.lists();
    if (rest[0].empty()) return;
    if (const ArrayLists taken = TakeThoseOfNccl(rest); !taken[0].empty()) {
        RunGroup(taken, [&](const Array& x, ncclDataType_t type, size_t count, ncclComm_t comm,
                            CUstream stream) {
            CX_NCCL_CALL(Broadcast, x.raw_data(), x.raw_data(), count, type, static_cast<int>(root),
                         comm, stream);
        });
    }
    BroadcastByCopies(rest, root);
    contiguous.Finish();
}

}  // namespace chainerx::cuda
