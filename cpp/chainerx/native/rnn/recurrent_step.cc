// One step of few sequences: memory-bound by the weights, so these are read once, in place, and not
// packed.
#include <algorithm>
#include <cstring>

#include "chainerx/kernels/rnn/recurrent.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/rnn/recurrent_loops.h"
#include "chainerx/native/upcast.h"

namespace chainerx::native {
namespace {

using ArrayRefs = std::span<const ConstArrayRef>;

// Units per chunk.
constexpr int64_t kBlock = 32;

int64_t CountParts(int64_t n_blocks, int64_t n_weights) {
    constexpr int64_t kMin = 1 << 17;  // 10 us
    return std::clamp<int64_t>(n_weights / kMin, 1, std::min<int64_t>(n_blocks, GetNumThreads()));
}

template <typename T>
void Run(const Array& x, ArrayRefs ws, ArrayRefs bs, RecurrentCell cell, const Array& h,
         const Array& c, const Array& ys, const Array& cs, const Array& saved) {
    const int64_t rows = ys.shape()[0];
    const int64_t size = ys.shape()[1];
    const int64_t features = x.shape()[1];
    const int64_t gates = CountGates(cell);
    const int64_t wide = gates * size;
    const RecurrentLoops<T>& loops = recurrent_loops().Of<T>();
    const Scratch<T> before{rows * size};  // a copy, since h is written
    std::memcpy(before.data(), Data<T>(h), rows * size * sizeof(T));
    const Scratch<T> z{rows * wide};
    const Scratch<T> product{rows * wide};
    // The last bias of a GRU is added to the product of the state.
    const bool is_gru = cell == RecurrentCell::kGru;
    const T* const bias = is_gru ? Data<const T>(bs[5].get()) : nullptr;
    const int64_t n_blocks = CeilDiv(size, kBlock);
    const int64_t n_parts = CountParts(n_blocks, wide * (size + features));
    ParallelFor(n_parts, [&](int64_t i) {
        const Range blocks{n_blocks, n_parts, i};
        for (int64_t block = blocks.begin; block < blocks.end; ++block) {
            internal::CheckInterrupt();
            const int64_t unit = block * kBlock;
            const int64_t units = std::min(kBlock, size - unit);
            for (int64_t gate = 0; gate < gates; ++gate) {
                const auto k = static_cast<size_t>(gate);
                const auto of_state = static_cast<size_t>(gates + gate);
                T* to = z.data() + gate * size + unit;
                loops.dots(DataOrNull<const T>(x), rows,
                           Data<const T>(ws[k].get()) + unit * features, units, features, to, wide);
                loops.dots(before.data(), rows, Data<const T>(ws[of_state].get()) + unit * size,
                           units, size, product.data() + gate * size + unit, wide);
                const T* b1 = Data<const T>(bs[k].get()) + unit;
                const T* b2 = Data<const T>(bs[of_state].get()) + unit;
                const bool both = !is_gru || gate != 2;
                for (int64_t r = 0; r < rows; ++r) {
                    for (int64_t j = 0; j < units; ++j) {
                        to[r * wide + j] += both ? b1[j] + b2[j] : b1[j];
                    }
                }
            }
            const auto at = [unit](T* a) { return a == nullptr ? nullptr : a + unit; };
            loops.forward[static_cast<int>(cell)](
                {rows, units, size, z.data() + unit, product.data() + unit, size,
                 bias == nullptr ? nullptr : bias + unit, at(Data<T>(h)), at(DataOrNull<T>(c)),
                 at(Data<T>(ys)), at(DataOrNull<T>(cs)), at(DataOrNull<T>(saved))});
        }
    });
}

void RecurrenceStep(const Array& x, ArrayRefs ws, ArrayRefs bs, RecurrentCell cell, const Array& h,
                    const Array& c, const Array& ys, const Array& cs, const Array& saved) {
    VisitUpcast(ys, [&]<typename T>(T) { Run<T>(x, ws, bs, cell, h, c, ys, cs, saved); });
}
CX_NATIVE_KERNEL(RecurrenceStep)

}  // namespace
}  // namespace chainerx::native
