#include "chainerx/capture/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace chainerx::internal {

int64_t PlanMemory(std::vector<PlannedBlock>& blocks, int64_t align) {
    const auto round_up = [=](int64_t n) { return (n + align - 1) & -align; };
    std::vector<size_t> order(blocks.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [&](size_t i) { return blocks[i].nbytes; });
    std::vector<size_t> placed;  // in the order of offsets
    int64_t total = 0;
    for (const size_t i : order) {
        PlannedBlock& block = blocks[i];
        const int64_t nbytes = round_up(block.nbytes);
        int64_t offset = 0;
        for (const size_t j : placed) {
            const PlannedBlock& other = blocks[j];
            if (other.last < block.first || block.last < other.first) continue;
            if (offset + nbytes <= other.offset) break;
            offset = std::max(offset, other.offset + round_up(other.nbytes));
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
