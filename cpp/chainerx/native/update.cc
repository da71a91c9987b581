// One step of an optimizer for many parameters.
#include <algorithm>

#include "chainerx/core/thread_pool.h"
#include "chainerx/kernels/update.h"
#include "chainerx/native/isa.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/update_loops.h"

namespace chainerx::native {
namespace {

constexpr int64_t kBlock = 16 * 1024;

// Elements begin to end of one parameter.
void Update(UpdateRule rule, const UpdateItem& item, int64_t begin, int64_t end,
            const double* numbers) {
    const int64_t offset = begin * GetItemSize(item.dtype);
    char* states[kMaxUpdateStates];
    for (int k = 0; k < kMaxUpdateStates; ++k) {
        states[k] = item.states[k] != nullptr ? item.states[k] + offset : nullptr;
    }
    const UpdateLoops& loops = update_loops();
    const UpdateLoop loop = item.dtype == Dtype::kFloat32 ? loops.f32[static_cast<int>(rule)]
                                                          : loops.f64[static_cast<int>(rule)];
    loop(item.param + offset, item.grad + offset, states, end - begin, numbers);
}

void UpdateParameters(UpdateRule rule, const UpdateItem* items, int64_t n, const double* numbers) {
    int64_t total = 0;
    for (int64_t i = 0; i < n; ++i) total += items[i].size;
    if (total <= 2 * kBlock) {
        for (int64_t i = 0; i < n; ++i) Update(rule, items[i], 0, items[i].size, numbers);
        return;
    }
    // Blocks of all elements together, so that small parameters share one and large ones are cut.
    ParallelFor((total + kBlock - 1) / kBlock, [&](int64_t block) {
        int64_t begin = block * kBlock;
        int64_t left = std::min(kBlock, total - begin);
        for (int64_t i = 0; left > 0; ++i) {
            const int64_t size = items[i].size;
            if (begin >= size) {
                begin -= size;
                continue;
            }
            const int64_t count = std::min(left, size - begin);
            Update(rule, items[i], begin, begin + count, numbers);
            left -= count;
            begin = 0;
        }
    });
}
CX_NATIVE_KERNEL(UpdateParameters)

}  // namespace
}  // namespace chainerx::native
