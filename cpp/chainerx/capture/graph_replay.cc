#include "chainerx/capture/graph_replay.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "chainerx/core/device.h"
#include "chainerx/core/error.h"
#include "chainerx/core/overlap.h"
#include "chainerx/core/stream.h"
#include "chainerx/core/stream_pool.h"

namespace chainerx::internal {
namespace {

constexpr int64_t kAlign = 256;  // that of new arrays
constexpr size_t kMostGraphs = 4;
// A graph is recorded again when it was of no use so many times.
constexpr int kMostOthers = 2;
constexpr size_t kMostKeyBytes = 64;

int64_t RoundUp(int64_t n) { return (n + kAlign - 1) / kAlign * kAlign; }

uint32_t AlignmentOf(const char* data) {
    return uint32_t{1} << std::countr_zero(kAlign | reinterpret_cast<uintptr_t>(data));
}

Extent ExtentOf(const ArrayBody& x) {
    return internal::ExtentOf(x.data, x.shape, x.strides, GetItemSize(x.dtype));
}

bool HasNoGaps(const ArrayBody& x) {
    const Extent range = ExtentOf(x);
    return range.end - range.begin == x.shape.GetTotalSize() * GetItemSize(x.dtype);
}

// The one device of all calls; null if they have several, or there are none, or if code of the
// program is among them.
Device* FindDevice(const Recording& recording) {
    Device* device = nullptr;
    for (const RecordedCall& call : recording.calls) {
        if (call.host || (device != nullptr && call.device != device)) return nullptr;
        device = call.device;
    }
    return device;
}

}  // namespace

GraphReplay::GraphReplay(Recording& recording, const std::vector<bool>& is_fixed,
                         const std::vector<int>& results, const std::vector<int>& grads)
    : recording_{recording}, grads_{grads} {
    kernels_ = FindDevice(recording);
    if (kernels_ == nullptr || kernels_->default_stream() == nullptr) return;
    device_ = dynamic_cast<GraphDevice*>(kernels_);
    if (device_ == nullptr) return;
    for (const int memory : results) Stage(memory, false, true);
    if (!StageArguments(is_fixed) || !StageBytes()) return;
    PlaceStaged();
}

void GraphReplay::PlaceStaged() {
    int64_t nbytes = 0;
    for (Staged& staged : staged_) {
        staged.place = nbytes;
        nbytes += RoundUp(staged.end) + (staged.keeps_alignment ? kAlign : 0);
    }
    try {
        memory_ = EmptyUnchecked({std::max(nbytes, kAlign)}, Dtype::kUInt8, *kernels_);
    } catch (const OutOfMemoryError& e) {
        GiveUp(e.what());
    }
}

void GraphReplay::StageGrads() {
    for (const int memory : grads_) Stage(memory, false, true);
    grads_.clear();
    graphs_.clear();
    PlaceStaged();
}

void GraphReplay::GiveUp(std::string reason) {
    reason_ = std::move(reason);
    graphs_.clear();
}

int64_t GraphReplay::nbytes() const {
    int64_t nbytes = memory_.is_null() ? 0 : memory_.GetNBytes();
    for (const Graph& graph : graphs_) {
        if (graph.graph != nullptr) nbytes += graph.graph->nbytes();
    }
    return nbytes;
}

bool GraphReplay::is_used() const {
    return std::ranges::any_of(graphs_, [](const Graph& g) { return g.graph != nullptr; });
}

GraphReplay::Staged* GraphReplay::FindStaged(int memory) {
    Memory* const wanted = &recording_.memories[static_cast<size_t>(memory)];
    const auto it = std::ranges::find(staged_, wanted, &Staged::memory);
    return it != staged_.end() ? &*it : nullptr;
}

GraphReplay::Staged* GraphReplay::Stage(int memory, bool is_read, bool is_result) {
    Memory& m = recording_.memories[static_cast<size_t>(memory)];
    Staged staged{&m, 0, m.nbytes, 0, is_read, is_result, false};
    if (m.kind == MemoryKind::kArgument) {
        const auto* const base = static_cast<const char*>(m.stand_in->data());
        staged.begin = INT64_MAX;
        for (const ArrayBody* x : m.views) {
            const Extent range = ExtentOf(*x);
            if (range.begin == range.end) continue;
            staged.begin = std::min(staged.begin, range.begin - base);
            staged.end = std::max(staged.end, range.end - base);
            staged.keeps_alignment |= IsFloat(x->dtype) || IsComplex(x->dtype);
        }
        if (staged.end == 0) return nullptr;
    }
    return &staged_.emplace_back(staged);
}

bool GraphReplay::IsUsed(const RecordedCall& call, int memory) const {
    if (call.bytes) return call.bytes->to.memory == memory;
    return std::ranges::any_of(call.arrays,
                               [&](const RecordedArray& x) { return x.place.memory == memory; });
}

bool GraphReplay::IsChanged(int memory) const {
    return std::ranges::any_of(recording_.calls, [&](const RecordedCall& call) {
        return std::ranges::any_of(call.arrays, [&](const RecordedArray& x) {
            return x.place.memory == memory && x.role != OperandRole::kIn;
        });
    });
}

bool GraphReplay::StageArguments(const std::vector<bool>& is_fixed) {
    for (size_t i = 0; i < is_fixed.size(); ++i) {
        if (!is_fixed[i] && !StageArgument(recording_.argument_memories[i])) return false;
    }
    return std::ranges::all_of(recording_.grads, [&](const RecordedGrad& grad) {
        return grad.memory < 0 || grad.begin != nullptr || StageArgument(grad.memory);
    });
}

bool GraphReplay::StageArgument(int memory) {
    if (FindStaged(memory) != nullptr) return true;
    const bool is_changed = IsChanged(memory);
    Staged* const staged = Stage(memory, true, is_changed);
    if (staged == nullptr) return true;
    if (!is_changed) return true;
    // Copied back as a whole, which must not write what lies between its numbers.
    for (const ArrayBody* x : staged->memory->views) {
        const Extent range = ExtentOf(*x);
        if (range.end - range.begin == staged->end - staged->begin && HasNoGaps(*x)) return true;
    }
    reason_ = "it writes to an argument, or a gradient, that is not contiguous";
    return false;
}

// Bytes are written ahead of a launch, or once, if nothing else is in their memory before; else
// they are a part of the graph, which keys of random numbers can't be.
bool GraphReplay::StageBytes() {
    for (auto call = recording_.calls.begin(); call != recording_.calls.end(); ++call) {
        if (!call->bytes) continue;
        const HostBytes& bytes = *call->bytes;
        const int memory = bytes.to.memory;
        const Memory& m = recording_.memories[static_cast<size_t>(memory)];
        const auto is_use = [&](const RecordedCall& other) { return IsUsed(other, memory); };
        const auto is_more = [&](const RecordedCall& o) { return o.bytes && is_use(o); };
        bool is_ahead = m.kind == MemoryKind::kTemporary &&
                        std::none_of(recording_.calls.begin(), call, is_use);
        if (bytes.key >= 0) {
            const size_t nbytes = bytes.bytes.size();
            is_ahead &= nbytes % sizeof(uint64_t) == 0 && nbytes <= kMostKeyBytes;
            if (!is_ahead) {
                reason_ = "a key of random numbers is written where it can't be written ahead";
                return false;
            }
        } else {
            is_ahead &= FindStaged(memory) == nullptr && !IsChanged(memory) &&
                        std::none_of(call + 1, recording_.calls.end(), is_more);
        }
        if (!is_ahead) continue;
        if (FindStaged(memory) == nullptr) Stage(memory, false, false);
        written_.push_back({&bytes, &m});
    }
    return true;
}

bool GraphReplay::IsWritten(const HostBytes& bytes) const {
    return is_recording_ && std::ranges::find(written_, &bytes, &Written::bytes) != written_.end();
}

char* GraphReplay::AddressOf(const Staged& staged, const Graph& graph) const {
    char* const place = memory_.raw_data() + staged.place;
    if (!staged.keeps_alignment) return place;
    const uintptr_t alignment = graph.key[static_cast<size_t>(&staged - staged_.data())];
    return alignment == kAlign ? place : place + alignment;
}

GraphReplay::Graph* GraphReplay::FindGraph() {
    key_.clear();
    for (const Staged& staged : staged_) {
        key_.push_back(staged.keeps_alignment ? AlignmentOf(staged.now) : 0);
    }
    for (const int memory : grads_) {
        const Memory& m = recording_.memories[static_cast<size_t>(memory)];
        key_.push_back(reinterpret_cast<uintptr_t>(m.stand_in->data()));
    }
    auto it = std::ranges::find(graphs_, key_, &Graph::key);
    if (it == graphs_.end()) {
        if (graphs_.size() == kMostGraphs) return nullptr;
        it = graphs_.insert(it, {key_, nullptr});
    }
    return &*it;
}

void GraphReplay::CopyIn(const Graph& graph, std::span<const uint64_t> keys) {
    copies_.clear();
    words_.clear();
    for (const Staged& staged : staged_) {
        if (!staged.is_read) continue;
        copies_.push_back({staged.now + staged.begin, AddressOf(staged, graph) + staged.begin,
                           staged.end - staged.begin});
    }
    for (const auto& [bytes, memory] : written_) {
        if (bytes->key < 0) continue;
        const auto staged = std::ranges::find(staged_, memory, &Staged::memory);
        char* const to = AddressOf(*staged, graph) + bytes->to.offset;
        for (size_t i = 0; i < bytes->bytes.size(); i += sizeof(uint64_t)) {
            uint64_t word = keys[static_cast<size_t>(bytes->key)] + bytes->add;
            if (i != 0) std::memcpy(&word, bytes->bytes.data() + i, sizeof(word));
            words_.push_back({to + i, word});
        }
    }
    device_->WriteBlocks(copies_, words_);
}

void GraphReplay::CopyOut(const Graph& graph) {
    copies_.clear();
    for (const Staged& staged : staged_) {
        if (!staged.is_result) continue;
        copies_.push_back({AddressOf(staged, graph) + staged.begin, staged.now + staged.begin,
                           staged.end - staged.begin});
    }
    device_->WriteBlocks(copies_, {});
}

// The calls run once as they are, where the graph will have them: kernels are compiled and loaded
// for these addresses, and libraries choose. Then they are recorded.
void GraphReplay::Record(Graph& graph, std::span<const uint64_t> keys,
                         const std::function<void()>& run) {
    struct Guard {
        GraphReplay& self;
        ~Guard() {
            self.is_recording_ = false;
            for (const Staged& staged : self.staged_) staged.memory->MoveTo(staged.now);
        }
    } guard{*this};
    CopyIn(graph, keys);
    for (const Staged& staged : staged_) staged.memory->MoveTo(AddressOf(staged, graph));
    run();
    CopyOut(graph);
    is_recording_ = true;
    try {
        graph.graph = device_->RecordGraph(run);
    } catch (const ChainerxError& e) {
        GiveUp(e.what());
    }
}

void GraphReplay::Run(std::span<const uint64_t> keys, const std::function<void()>& run) {
    // Hooks see each call.
    if (!reason_.empty() || kernels_->kernels() == kNoKernels) return run();
    const auto locate = [&] {
        for (Staged& staged : staged_) {
            staged.now = static_cast<char*>(staged.memory->stand_in->data());
        }
    };
    locate();
    Graph* graph = FindGraph();
    if (graph == nullptr && !grads_.empty()) {
        StageGrads();
        if (!reason_.empty()) return run();
        locate();
        graph = FindGraph();
    }
    if (graph == nullptr) return run();
    StreamPool::KeepFor(*memory_.buffer(), *GetCurrentStream(*kernels_));
    if (graph->graph != nullptr && !graph->graph->IsCurrent()) {
        if (++graph->others < kMostOthers) return run();
        graph->graph = nullptr;
    }
    graph->others = 0;
    if (graph->graph == nullptr) return Record(*graph, keys, run);
    CopyIn(*graph, keys);
    try {
        graph->graph->Launch();
    } catch (const OutOfMemoryError& e) {
        GiveUp(e.what());
        return run();
    }
    CopyOut(*graph);
}

}  // namespace chainerx::internal
