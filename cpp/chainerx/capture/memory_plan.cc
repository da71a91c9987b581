#include "chainerx/capture/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace chainerx::internal {
namespace {

constexpr int64_t kAlign = 64;

int64_t RoundUp(int64_t n) { return (n + kAlign - 1) / kAlign * kAlign; }

}  // namespace

int64_t PlanMemory(std::vector<PlannedBlock>& blocks) {
    std::vector<size_t> order(blocks.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [&](size_t i) { return blocks[i].nbytes; });
    std::vector<size_t> placed;  // in the order of offsets
    int64_t total = 0;
    for (const size_t i : order) {
        PlannedBlock& block = blocks[i];
        const int64_t nbytes = RoundUp(block.nbytes);
        int64_t offset = 0;
        for (const size_t j : placed) {
            const PlannedBlock& other = blocks[j];
            if (other.last < block.first || block.last < other.first) continue;
            if (offset + nbytes <= other.offset) break;
            offset = std::max(offset, other.offset + RoundUp(other.nbytes));
        }
        block.offset = offset;
        total = std::max(total, offset + nbytes);
        const auto at = std::ranges::upper_bound(placed, offset, {},
                                                 [&](size_t j) { return blocks[j].offset; });
        placed.insert(at, i);
    }
    return total;
}

}  // namespace chainerx::internal
