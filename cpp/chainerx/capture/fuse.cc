#include "chainerx/capture/fuse.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "chainerx/capture/chain.h"
#include "chainerx/kernels/algorithm.h"

namespace chainerx::internal {
namespace {

constexpr std::array<const char*, 2> kNames{"large", "tiny"};
// "tiny" makes chains of arrays of any size, in blocks of a few elements: for tests.
const AlgorithmChoice g_choice{"fuse", "CHAINERX_FUSE", kNames};
constexpr int64_t kTinyBlock = 6;

// Of chains that are collected at a time, and of calls for which one is: arrays that it reads stay
// alive for longer.
constexpr size_t kMaxOpen = 8;
constexpr size_t kMaxWait = 256;

// By memory: how many operands lie in it, and one more if the step returns it.
std::vector<int> CountUses(const Recording& recording) {
    std::vector<int> uses(recording.memories.size());
    const auto use = [&](const Place& place) { ++uses[static_cast<size_t>(place.memory)]; };
    for (const RecordedCall& call : recording.calls) {
        for (const RecordedArray& x : call.arrays) use(x.place);
        if (call.bytes) use(call.bytes->to);
    }
    for (const RecordedOutput& output : recording.outputs) use(output.place);
    return uses;
}

// By memory: whether it is there after an error in the step, as memory from before the step and
// gradients are.
std::vector<bool> FindLasting(const Recording& recording) {
    std::vector<bool> lasting;
    for (const Memory& memory : recording.memories) {
        lasting.push_back(memory.kind != MemoryKind::kTemporary);
    }
    for (const RecordedGrad& grad : recording.grads) {
        if (grad.output < 0) continue;
        const RecordedOutput& output = recording.outputs[static_cast<size_t>(grad.output)];
        lasting[static_cast<size_t>(output.place.memory)] = true;
    }
    return lasting;
}

// Drops calls whose results nobody reads.
void DropDead(Recording& recording) {
    std::vector<bool> is_read(recording.memories.size());
    const auto memory_of = [](const RecordedArray& x) {
        return static_cast<size_t>(x.place.memory);
    };
    for (const RecordedOutput& output : recording.outputs) {
        is_read[static_cast<size_t>(output.place.memory)] = true;
    }
    const auto is_dead = [&](const RecordedCall& call) {
        if (!call.call || !IsPure(call.call->kernel())) return false;
        const size_t out = memory_of(call.arrays.back());
        return recording.memories[out].kind == MemoryKind::kTemporary && !is_read[out];
    };
    for (size_t i = recording.calls.size(); i-- != 0;) {
        RecordedCall& call = recording.calls[i];
        if (is_dead(call)) {
            for (const RecordedArray& x : call.arrays) {
                std::erase(recording.memories[memory_of(x)].views, x.body);
            }
            recording.calls.erase(recording.calls.begin() + static_cast<ptrdiff_t>(i));
            continue;
        }
        for (const RecordedArray& x : call.arrays) {
            if (x.role == OperandRole::kIn || x.role == OperandRole::kInOut) {
                is_read[memory_of(x)] = true;
            }
        }
    }
}

class Fusion {
 public:
    explicit Fusion(Recording& recording)
        : recording_{recording}, uses_{CountUses(recording)}, lasting_{FindLasting(recording)} {
        is_forced_ = g_choice.forced().row == 1;
    }

    int64_t Run() {
        const size_t n = recording_.calls.size();
        for (now_ = 0; now_ < n; ++now_) {
            while (!open_.empty() && open_.front().first() + kMaxWait < now_) Close(0);
            RecordedCall& call = recording_.calls[now_];
            const std::optional<ChainCall> as = AsChainCall(recording_, call);
            if (call.host) {  // it may look at any array
                while (!open_.empty()) Close(0);
                AddDone(now_, WritesTo(lasting_, AccessesOf(recording_, call)));
            } else if (!as) {
                const std::vector<Access> accesses = AccessesOf(recording_, call);
                CloseConflicts(accesses);
                if (call.call && !IsPure(call.call->kernel())) CloseLasting();
                AddDone(now_, WritesTo(lasting_, accesses));
            } else {
                Collect(*call.device, *as);
            }
        }
        while (!open_.empty()) Close(0);
        std::ranges::stable_sort(done_, {}, &Done::time);
        MaskInterrupts();
        recording_.calls.clear();
        for (Done& done : done_) recording_.calls.push_back(std::move(done.call));
        return n_fused_;
    }

 private:
    // Calls keep their order, as far as they are in no chain.
    struct Done {
        size_t time;
        RecordedCall call;
        std::vector<size_t> lasting;  // its calls that write to lasting memory
    };

    void AddDone(size_t k, bool is_lasting) {
        Done& done = done_.emplace_back(Done{2 * k + 1, std::move(recording_.calls[k]), {}});
        if (is_lasting) done.lasting.push_back(k);
    }

    // An error in a call must leave what comes before it in the step, and nothing else. Calls of
    // chains do not throw anything but interrupts.
    void CloseLasting() {
        for (size_t i = open_.size(); i-- != 0;) {
            if (!open_[i].FindWritersTo(lasting_).empty()) Close(i);
        }
    }

    // The same for interrupts: calls are masked that are not in their place among those which write
    // to lasting memory.
    void MaskInterrupts() {
        std::vector<size_t> pending(done_.size() + 1, SIZE_MAX);  // the first one from there on
        for (size_t i = done_.size(); i-- != 0;) {
            pending[i] = pending[i + 1];
            for (const size_t k : done_[i].lasting) pending[i] = std::min(pending[i], k);
        }
        size_t n_written = 0;  // behind the last one
        for (size_t i = 0; i < done_.size(); ++i) {
            Done& done = done_[i];
            size_t end = n_written;
            for (const size_t k : done.lasting) end = std::max(end, k + 1);
            done.call.is_masked =
                n_written > pending[i] || end > pending[i + 1] || done.lasting.size() > 1;
            n_written = end;
        }
    }

    // The chains that are open do not conflict with each other: each may be closed by itself.
    void Collect(Device& device, const ChainCall& call) {
        std::vector<size_t> met;
        for (size_t i = 0; i < open_.size(); ++i) {
            if (open_[i].ConflictsWith(call.accesses)) met.push_back(i);
        }
        // Chains that do not depend on each other become one if the call depends on both.
        while (met.size() > 1 && open_[met[0]].Merge(open_[met.back()])) {
            open_.erase(open_.begin() + static_cast<ptrdiff_t>(met.back()));
            met.pop_back();
        }
        const auto add = [&](size_t i) { return open_[i].Add(device, call, now_, !met.empty()); };
        size_t home = 0;
        if (met.empty()) {
            while (home < open_.size() && !add(home)) ++home;
        } else {
            const auto it = std::ranges::find_if(met, add);
            home = it != met.end() ? *it : open_.size();
        }
        const bool is_new = home == open_.size();
        // What else it depends on comes before its chain.
        for (; !met.empty(); met.pop_back()) {
            if (met.back() != home) Close(met.back());
        }
        if (!is_new) return;
        if (open_.size() == kMaxOpen) Close(0);
        open_.emplace_back(recording_, device, now_).Add(device, call, now_, false);
    }

    void CloseConflicts(const std::vector<Access>& accesses) {
        for (size_t i = open_.size(); i-- != 0;) {
            if (open_[i].ConflictsWith(accesses)) Close(i);
        }
    }

    void Close(size_t i) {
        const Chain chain = std::move(open_[i]);
        open_.erase(open_.begin() + static_cast<ptrdiff_t>(i));
        const std::vector<size_t> members = chain.members();
        if (chain.Pays(is_forced_)) {
            n_fused_ += static_cast<int64_t>(members.size());
            const int64_t block = is_forced_ ? kTinyBlock : 0;
            const size_t n = recording_.calls.size();
            const size_t time = recording_.calls[std::min(now_, n - 1)].time + (now_ == n ? 1 : 0);
            done_.push_back({2 * now_, chain.Build(recording_, uses_, block, time),
                             chain.FindWritersTo(lasting_)});
            return;
        }
        const std::vector<size_t> lasting = chain.FindWritersTo(lasting_);
        for (const size_t k : members) AddDone(k, std::ranges::find(lasting, k) != lasting.end());
    }

    Recording& recording_;
    const std::vector<int> uses_;
    const std::vector<bool> lasting_;
    bool is_forced_{false};
    size_t now_{0};
    int64_t n_fused_{0};
    std::vector<Chain> open_;  // in the order in which they were begun
    std::vector<Done> done_;
};

}  // namespace

int64_t Fuse(Recording& recording) {
    DropDead(recording);
    return Fusion{recording}.Run();
}

}  // namespace chainerx::internal
