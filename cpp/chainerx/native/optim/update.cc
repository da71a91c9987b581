// One optimizer step for many parameters.
#include <algorithm>
#include <span>

#include "chainerx/kernels/optim/update.h"
#include "chainerx/native/isa.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/optim/update_loops.h"

namespace chainerx::native {

CX_DISPATCH(update, UpdateLoops)

namespace {

constexpr int64_t kBlock = 16 * 1024;

using Arrays = std::span<const ConstArrayRef>;

struct Lists {
    UpdateRule rule;
    const double* numbers;
    Arrays grads;
    Arrays states;
    Arrays params;
    size_t n_states;  // per parameter

    int64_t size(size_t i) const { return params[i].get().GetTotalSize(); }

    // Updates elements [begin, end) of one parameter.
    void Update(size_t i, int64_t begin, int64_t end) const {
        const Array& param = params[i].get();
        const int64_t offset = begin * param.GetItemSize();
        char* s[kMaxUpdateStates] = {};
        for (size_t k = 0; k < n_states; ++k) {
            s[k] = states[i * n_states + k].get().raw_data() + offset;
        }
        const UpdateLoops& loops = update_loops();
        const UpdateLoop loop = param.dtype() == Dtype::kFloat32
                                    ? loops.f32[static_cast<int>(rule)]
                                    : loops.f64[static_cast<int>(rule)];
        loop(param.raw_data() + offset, grads[i].get().raw_data() + offset, s, end - begin,
             numbers);
    }
};

void UpdateNumbers(UpdateRule rule, const Array& settings, const Array& step,
                   const Array& numbers) {
    auto* t = reinterpret_cast<double*>(step.raw_data());
    *t += 1;
    FillUpdateNumbers(rule, reinterpret_cast<const double*>(settings.raw_data()), *t,
                      reinterpret_cast<double*>(numbers.raw_data()), numbers.GetTotalSize());
}
CX_NATIVE_KERNEL(UpdateNumbers)

void UpdateParameters(UpdateRule rule, const Array& numbers, Arrays grads, Arrays states,
                      Arrays params) {
    const size_t n = params.size();
    if (n == 0) return;
    const Lists lists{rule,   reinterpret_cast<const double*>(numbers.raw_data()),
                      grads,  states,
                      params, states.size() / n};
    int64_t total = 0;
    for (size_t i = 0; i < n; ++i) total += lists.size(i);
    if (total <= 2 * kBlock) {
        for (size_t i = 0; i < n; ++i) lists.Update(i, 0, lists.size(i));
        return;
    }
    // Splits all elements together, so that small parameters share a chunk and large ones are
    // divided.
    ParallelFor(CeilDiv(total, kBlock), [&](int64_t block) {
        int64_t begin = block * kBlock;
        int64_t left = std::min(kBlock, total - begin);
        for (size_t i = 0; left > 0; ++i) {
            const int64_t size = lists.size(i);
            if (begin >= size) {
                begin -= size;
                continue;
            }
            const int64_t count = std::min(left, size - begin);
            lists.Update(i, begin, begin + count);
            left -= count;
            begin = 0;
        }
    });
}
CX_NATIVE_KERNEL(UpdateParameters)

}  // namespace
}  // namespace chainerx::native
