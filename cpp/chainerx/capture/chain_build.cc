// The call that a chain becomes.
#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "chainerx/capture/chain.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/kernels/fuse/fuse.h"

namespace chainerx::internal {
namespace {

constexpr size_t kMaxNames = 8;  // of kernels, in that of the chain

const char* Intern(const std::string& name) {
    struct Names {
        ForkMutex mutex;
        std::unordered_set<std::string> all;
    };
    static constinit Lazy<Names> names;
    Names& n = names.Get();
    const std::lock_guard lock{n.mutex};
    return n.all.insert(name).first->c_str();
}

// An array of a chain: each access to it is to the same places.
struct ChainArray {
    Access access;
    bool is_written{false};
    bool is_scratch{false};
    bool by_row{false};
    int n_uses{0};
    size_t last{0};  // the last call that uses it
    int index{-1};   // FusedOperand::array
};

// Scratch arrays of blocks that are not used at once are one.
class ScratchSlots {
 public:
    explicit ScratchSlots(FusedChain& chain) : chain_{chain} {}

    int Take(int64_t item_size, bool by_row) {
        for (size_t i = 0; i < free_.size(); ++i) {
            const FusedScratch& s = chain_.scratch[static_cast<size_t>(free_[i])];
            if (s.item_size != item_size || s.by_row != by_row) continue;
            const int slot = free_[i];
            free_.erase(free_.begin() + static_cast<ptrdiff_t>(i));
            return slot;
        }
        chain_.scratch.push_back({item_size, by_row});
        return static_cast<int>(chain_.scratch.size()) - 1;
    }
    // The last one is taken first, since it is in the cache.
    void Free(int slot) { free_.insert(free_.begin(), slot); }

 private:
    FusedChain& chain_;
    std::vector<int> free_;
};

}  // namespace

class Chain::Builder {
 public:
    Builder(const Chain& chain, Recording& recording)
        : chain_{chain}, recording_{recording}, made_{std::make_unique<FusedChain>()} {
        made_->frame = chain.frame_;
        made_->row_ndim = chain.row_ndim_ < 0 ? chain.frame_.ndim() : chain.row_ndim_;
        made_->name = Intern(Name());
    }

    RecordedCall Build(std::span<const int> uses, int64_t block, size_t time) && {
        made_->block = block;
        FindArrays();
        const size_t first = chain_.members_[0].index;
        RecordedCall result{chain_.device_, nullptr, {}, {}, recording_.calls[first].where, time};
        KeepArrays(uses, result);
        AddCalls();
        result.call = Call(static_cast<size_t>(
            std::ranges::count(result.arrays, OperandRole::kIn, &RecordedArray::role)));
        recording_.chains.push_back(std::move(made_));
        return result;
    }

 private:
    std::string Name() const {
        std::string name;
        const size_t n = chain_.members_.size();
        for (size_t i = 0; i < std::min(n, kMaxNames); ++i) {
            const RecordedCall& call = recording_.calls[chain_.members_[i].index];
            name += StrCat(i == 0 ? "" : ", ", call.call->kernel().name);
        }
        if (n > kMaxNames) name += StrCat(", ", n - kMaxNames, " more");
        return name;
    }

    // The arrays, and which of them each operand is.
    void FindArrays() {
        for (size_t i = 0; i < chain_.members_.size(); ++i) {
            const Member& member = chain_.members_[i];
            which_.emplace_back();
            for (const Access& access : member.call.accesses) {
                auto it = std::ranges::find_if(
                    arrays_, [&](const ChainArray& x) { return IsSameAlong(x.access, access); });
                if (it == arrays_.end()) {
                    it = arrays_.insert(it, {access});
                    const auto memory = static_cast<size_t>(access.place.memory);
                    // Results come last: what is read first was there before.
                    it->is_scratch = recording_.memories[memory].kind == MemoryKind::kTemporary &&
                                     access.writes();
                    it->by_row = member.by_row || (member.call.reduces() && access.writes());
                }
                it->is_written = it->is_written || access.writes();
                it->last = i;
                ++it->n_uses;
                which_.back().push_back(static_cast<size_t>(it - arrays_.begin()));
            }
        }
    }

    // Operands of the new call are the arrays that others use, too: inputs, then outputs.
    void KeepArrays(std::span<const int> uses, RecordedCall& result) {
        for (const bool outputs : {false, true}) {
            for (ChainArray& x : arrays_) {
                x.is_scratch =
                    x.is_scratch && x.n_uses == uses[static_cast<size_t>(x.access.place.memory)];
                if (x.is_scratch || x.is_written != outputs) continue;
                x.index = static_cast<int>(kept_.size());
                x.access.body->Ref();
                kept_.emplace_back(x.access.body);
                result.arrays.push_back({x.access.place,
                                         outputs ? OperandRole::kInOut : OperandRole::kIn,
                                         x.access.body});
            }
        }
        made_->n_arrays = static_cast<int>(kept_.size());
    }

    void AddCalls() {
        ScratchSlots slots{*made_};
        for (size_t i = 0; i < chain_.members_.size(); ++i) {
            const Member& member = chain_.members_[i];
            FusedCall call{std::move(recording_.calls[member.index].call),
                           {},
                           member.by_row,
                           member.call.reduces()};
            const std::vector<size_t>& operands = which_[i];
            std::vector<int> indices;
            for (const size_t k : operands) indices.push_back(arrays_[k].index);
            // An elementwise result takes the place of an input that ends here.
            if (call.call->kernel().operands().back().role == OperandRole::kOutSame) {
                PlaceOnInput(i);
            }
            ChainArray& out = arrays_[operands.back()];
            if (out.is_scratch && out.index < 0) {
                const int64_t item_size = GetItemSize(out.access.body->dtype);
                out.index = made_->n_arrays + slots.Take(item_size, out.by_row);
            }
            indices.back() = out.index;
            for (const size_t k : operands) {
                ChainArray& x = arrays_[k];
                if (!x.is_scratch || x.last != i || x.index < 0) continue;
                slots.Free(x.index - made_->n_arrays);
                x.last = chain_.members_.size();  // once
            }
            for (size_t k = 0; k < indices.size(); ++k) {
                const Access& access = member.call.accesses[k];
                Strides strides = access.strides;
                strides.resize(chain_.frame_.ndim(), 0);
                call.operands.push_back({indices[k], access.body->dtype, strides});
            }
            made_->calls.push_back(std::move(call));
        }
    }

    void PlaceOnInput(size_t i) {
        ChainArray& out = arrays_[which_[i].back()];
        if (!out.is_scratch || out.index >= 0) return;
        for (const size_t k : which_[i]) {
            ChainArray& x = arrays_[k];
            if (&x == &out || !x.is_scratch || x.last != i || x.by_row != out.by_row ||
                x.access.body->dtype != out.access.body->dtype) {
                continue;
            }
            out.index = x.index;
            x.last = chain_.members_.size();  // its place is not free
            return;
        }
    }

    std::unique_ptr<KeptCall> Call(size_t n_inputs) const {
        using Arrays = std::span<const ConstArrayRef>;
        const std::vector<ConstArrayRef> refs(kept_.begin(), kept_.end());
        const FusedChainRef ref{made_.get()};
        const Arrays inputs = Arrays{refs}.first(n_inputs);
        const Arrays outputs = Arrays{refs}.subspan(n_inputs);
        const void* const operands[] = {&ref, &inputs, &outputs};
        const auto invoke = [](KernelFn fn, const void* const* p) {
            reinterpret_cast<kernels::Fused::Fn*>(fn)(*static_cast<const FusedChainRef*>(p[0]),
                                                      *static_cast<const Arrays*>(p[1]),
                                                      *static_cast<const Arrays*>(p[2]));
        };
        size_t next = 0;
        return std::make_unique<KeptCall>(
            KernelCallData{InfoOf<kernels::Fused>(), *chain_.device_, operands, invoke},
            [&](const Array&) { return kept_[next++]; });
    }

    const Chain& chain_;
    Recording& recording_;
    std::unique_ptr<FusedChain> made_;
    std::vector<ChainArray> arrays_;
    std::vector<std::vector<size_t>> which_;  // by call and operand
    std::vector<Array> kept_;
};

RecordedCall Chain::Build(Recording& recording, std::span<const int> uses, int64_t block,
                          size_t time) const {
    return Builder{*this, recording}.Build(uses, block, time);
}

}  // namespace chainerx::internal
