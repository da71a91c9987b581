// Runs a chain of kernels block by block. The kernels are those that run it call by call, on views
// of a block: what they leave for each other stays in the cache.
#include <algorithm>
#include <atomic>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "chainerx/core/backend.h"
#include "chainerx/kernels/algorithm.h"
#include "chainerx/kernels/fuse/fuse.h"
#include "chainerx/native/native_kernel.h"

namespace chainerx::native {
namespace {

// Elements of a block. Shorter ones would not make up for the time of a call, and what comes from
// memory arrives more slowly in short pieces; longer ones would not stay in the second-level cache,
// and kernels would divide them among threads.
constexpr int64_t kMinBlock = 2048;
constexpr int64_t kMaxBlock = 8192;
// Bytes of what the calls leave for each other in a block.
constexpr int64_t kBlockBytes = 1 << 18;
// Elements times calls that are worth a thread.
constexpr int64_t kGrain = 1 << 15;

// How the frame of a chain is cut: its axes are collapsed as far as all operands allow. A block is
// a range of one axis, and all of the axes inside of it.
struct Cut {
    std::vector<int64_t> dims;
    std::vector<std::vector<int64_t>> strides;  // by operand
    int rows{0};                                // axes that are rows
    int axis{0};                                // that is cut
    int64_t length{1};                          // of a block along it
    int64_t n_along{1};                         // blocks along it
    int64_t n_blocks{1};

    explicit Cut(const FusedChain& chain);
    // Behind the last axis of an array, which may have the rows alone.
    int EndOf(bool by_row) const { return by_row ? rows : static_cast<int>(dims.size()); }
};

int64_t Product(const std::vector<int64_t>& dims, int begin, int end) {
    int64_t n = 1;
    for (int i = begin; i < end; ++i) n *= dims[static_cast<size_t>(i)];
    return n;
}

int64_t BlockSizeOf(const FusedChain& chain) {
    if (chain.block != 0) return chain.block;
    int64_t bytes = 1;
    for (const FusedScratch& s : chain.scratch) bytes += s.by_row ? 0 : s.item_size;
    const int64_t share = chain.frame.GetTotalSize() / GetNumThreads();
    return std::clamp(std::min(kBlockBytes / bytes, share), kMinBlock, kMaxBlock);
}

Cut::Cut(const FusedChain& chain) {
    std::vector<const FusedOperand*> operands;
    for (const FusedCall& call : chain.calls) {
        for (const FusedOperand& x : call.operands) operands.push_back(&x);
    }
    const auto is_scratch = [&](const FusedOperand& x) { return x.array >= chain.n_arrays; };
    strides.resize(operands.size());
    for (int8_t i = 0; i < chain.frame.ndim(); ++i) {
        const int64_t length = chain.frame[i];
        bool merge = i != 0 && i != chain.row_ndim;
        for (size_t k = 0; merge && k < operands.size(); ++k) {
            const FusedOperand& x = *operands[k];
            merge = is_scratch(x) || strides[k].back() == x.strides[i] * length;
        }
        if (merge) {
            dims.back() *= length;
        } else {
            dims.push_back(length);
            if (i < chain.row_ndim) ++rows;
        }
        for (size_t k = 0; k < operands.size(); ++k) {
            const int64_t stride = is_scratch(*operands[k]) ? 0 : operands[k]->strides[i];
            if (merge) {
                strides[k].back() = stride;
            } else {
                strides[k].push_back(stride);
            }
        }
    }
    const int n = static_cast<int>(dims.size());
    const int64_t size = BlockSizeOf(chain);
    axis = rows - 1;
    while (axis > 0 && Product(dims, axis, n) <= size) --axis;
    const int64_t inner = Product(dims, axis + 1, n);
    const int64_t along = dims[static_cast<size_t>(axis)];
    n_along = CeilDiv(along, std::max<int64_t>(1, size / inner));
    length = CeilDiv(along, n_along);
    n_along = CeilDiv(along, length);
    n_blocks = n_along * Product(dims, 0, axis);
}

// What one thread needs to run a chain: the calls on views of a block, and the scratch arrays.
class BlockRunner {
 public:
    BlockRunner(const FusedChain& chain, const Cut& cut, Device& device);

    // `data` has the address of each array.
    void Run(char* const* data, int64_t begin, int64_t end);

    // One thread at a time.
    bool TryAcquire() { return !busy_.exchange(true, std::memory_order_acquire); }
    void Release() { busy_.store(false, std::memory_order_release); }

    int64_t nbytes() const { return scratch_.GetNBytes(); }

 private:
    struct Call {
        std::unique_ptr<KeptCall> call;
        KernelFn run;
    };
    struct View {
        internal::ArrayBody* body;
        int array;             // -1 for a scratch array, which does not move
        const int64_t* steps;  // its strides
        int64_t inner;         // elements per unit of length
    };

    Array MakeView(const FusedChain& chain, const FusedOperand& x, bool by_row,
                   const int64_t* steps);
    void Resize(int64_t length);
    // The distance of block i from the first one, of an array.
    int64_t OffsetOf(const int64_t* steps, int64_t i) const;

    const Cut& cut_;
    Array scratch_;
    std::vector<int64_t> offsets_;  // of scratch arrays
    std::vector<Call> calls_;
    std::vector<View> views_;
    int64_t length_;
    std::atomic<bool> busy_{false};
};

BlockRunner::BlockRunner(const FusedChain& chain, const Cut& cut, Device& device)
    : cut_{cut}, length_{cut.length} {
    int64_t total = 0;
    for (const FusedScratch& s : chain.scratch) {
        const int64_t n = cut.length * Product(cut.dims, cut.axis + 1, cut.EndOf(s.by_row));
        offsets_.push_back(total);
        // Addresses that are equal modulo a page would collide in the first-level cache.
        total += CeilDiv(n * s.item_size, 64) * 64 + 3 * 64;
    }
    scratch_ = EmptyUnchecked({total}, Dtype::kUInt8, device);
    size_t operand = 0;
    for (const FusedCall& call : chain.calls) {
        const KernelCallData data = call.call->DataFor(device);
        // Not by braces, which would make a vector of two pointers.
        std::vector<const void*> operands(data.operands, data.operands + data.kernel.operand_count);
        Axes axes;
        if (call.reduces) {
            const auto n = static_cast<int8_t>(cut.EndOf(false) - cut.axis);
            for (auto i = static_cast<int8_t>(cut.rows - cut.axis); i < n; ++i) axes.push_back(i);
            operands[1] = &axes;
        }
        size_t i = 0;
        auto view = [&](const Array&) {
            const FusedOperand& x = call.operands[i++];
            const bool by_row = call.by_row || (call.reduces && i == call.operands.size());
            return MakeView(chain, x, by_row, cut.strides[operand++].data());
        };
        const KernelCallData on_block{data.kernel, device, operands.data(), data.invoke};
        calls_.push_back({std::make_unique<KeptCall>(on_block, std::move(view)),
                          device.backend()->kernels()[data.kernel.id]});
    }
}

Array BlockRunner::MakeView(const FusedChain& chain, const FusedOperand& x, bool by_row,
                            const int64_t* steps) {
    Shape shape{cut_.length};
    Strides strides{steps[cut_.axis]};
    for (int i = cut_.axis + 1; i < cut_.EndOf(by_row); ++i) {
        shape.push_back(cut_.dims[static_cast<size_t>(i)]);
        strides.push_back(steps[i]);
    }
    const bool is_scratch = x.array >= chain.n_arrays;
    char* data = scratch_.raw_data();
    if (is_scratch) {
        const auto k = static_cast<size_t>(x.array - chain.n_arrays);
        data += offsets_[k];
        Shape own;
        for (int i = cut_.axis; i < cut_.EndOf(chain.scratch[k].by_row); ++i) {
            own.push_back(shape[i - cut_.axis]);
        }
        strides = Strides{own, GetItemSize(x.dtype)};
        strides.resize(shape.ndim(), 0);
    }
    scratch_.buffer()->Ref();
    Array y =
        internal::MakeArray(shape, strides, x.dtype, scratch_.device(), scratch_.buffer(), data);
    views_.push_back({y.body(), is_scratch ? -1 : x.array, steps, y.GetTotalSize() / cut_.length});
    return y;
}

void BlockRunner::Resize(int64_t length) {
    if (length == length_) return;
    length_ = length;
    for (const View& view : views_) {
        view.body->shape[0] = length;
        view.body->size = length * view.inner;
    }
}

int64_t BlockRunner::OffsetOf(const int64_t* steps, int64_t i) const {
    int64_t offset = i % cut_.n_along * cut_.length * steps[cut_.axis];
    int64_t outer = i / cut_.n_along;
    for (int a = cut_.axis - 1; a >= 0; --a) {
        const int64_t n = cut_.dims[static_cast<size_t>(a)];
        offset += outer % n * steps[a];
        outer /= n;
    }
    return offset;
}

void BlockRunner::Run(char* const* data, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % cut_.n_along * cut_.length;
        Resize(std::min(cut_.length, cut_.dims[static_cast<size_t>(cut_.axis)] - first));
        for (const View& view : views_) {
            if (view.array >= 0) view.body->data = data[view.array] + OffsetOf(view.steps, i);
        }
        for (const Call& call : calls_) call.call->Run(call.run);
    }
}

struct BlockPlan : FusedPlan {
    Cut cut;
    std::vector<std::unique_ptr<BlockRunner>> runners;  // one for each thread
    std::vector<char*> data;

    explicit BlockPlan(const FusedChain& chain) : cut{chain} {}

    int64_t nbytes() const override {
        int64_t total = 0;
        for (const auto& runner : runners) total += runner->nbytes();
        return total;
    }

    // At most as many threads as there are runners run at a time, but for a moment.
    BlockRunner& Acquire() {
        for (size_t i = 0;; i = (i + 1) % runners.size()) {
            if (runners[i]->TryAcquire()) return *runners[i];
        }
    }
};

void Fused(const FusedChainRef& ref, std::span<const ConstArrayRef> inputs,
           std::span<const ConstArrayRef> outputs) {
    const FusedChain* const chain = ref.chain;
    if (chain->plan == nullptr) chain->plan = std::make_unique<BlockPlan>(*chain);
    auto& plan = static_cast<BlockPlan&>(*chain->plan);
    plan.data.clear();
    for (const ConstArrayRef& x : inputs) plan.data.push_back(x.get().raw_data());
    for (const ConstArrayRef& x : outputs) plan.data.push_back(x.get().raw_data());
    const int64_t n_blocks = plan.cut.n_blocks;
    const int64_t work = chain->frame.GetTotalSize() * static_cast<int64_t>(chain->calls.size());
    const int64_t n_groups = work < 2 * kGrain ? 1 : std::min(n_blocks, work / kGrain);
    const auto n_runners = static_cast<size_t>(n_groups == 1 ? 1 : GetNumThreads());
    while (plan.runners.size() < n_runners) {
        plan.runners.push_back(
            std::make_unique<BlockRunner>(*chain, plan.cut, outputs[0].get().device()));
    }
    ParallelFor(n_groups, [&](int64_t i) {
        struct Use {
            BlockRunner& runner;
            ~Use() { runner.Release(); }
        } use{plan.Acquire()};
        const Range range{n_blocks, n_groups, i};
        use.runner.Run(plan.data.data(), range.begin, range.end);
    });
    internal::NoteAlgorithm(chain->name);
}
CX_NATIVE_KERNEL(Fused)

}  // namespace
}  // namespace chainerx::native
