// SIMD leaves of sorting: blocks of keys in registers, and passes over keys.
#include <algorithm>

#include "chainerx/native/sort/simd/sort_columns.h"
#include "chainerx/native/sort/simd/sorting_network.h"
#include "chainerx/native/sort/simd/vector_partition.h"
#include "chainerx/native/sort/sort_keys.h"
#include "chainerx/native/sort/sorting_loops.h"
#include "chainerx/native/strided/simd/batch.h"
#include "chainerx/native/unit.h"

namespace chainerx::native::CX_ISA {
namespace {

template <typename K>
void Find(const K* keys, int64_t n, const K* others, int64_t count, bool* out) {
    constexpr int64_t kLanes = kKeyLanes<K>;
    constexpr int64_t kBlockSize = 32 * kLanes;
    alignas(64) K found[kBlockSize];
    for (int64_t begin = 0; begin < n; begin += kBlockSize) {
        const int64_t size = std::min(kBlockSize, n - begin);
        for (int64_t i = 0; i < size; i += kLanes) {
            const Row<K> row = LoadKeys(keys + begin + i, size - i);
            Row<K> equal{};
            for (int64_t j = 0; j < count; ++j) equal |= row == others[j];
            std::memcpy(found + i, &equal, sizeof(equal));
        }
        // A separate loop, which the compiler vectorizes for all instruction sets.
        for (int64_t i = 0; i < size; ++i) out[begin + i] = found[i] != 0;
    }
}

template <typename T>
void Encode(const T* x, int64_t n, bool join_zeros, SortKey<T> flip, SortKey<T>* keys) {
    for (int64_t i = 0; i < n; ++i) keys[i] = EncodeKey(x[i], join_zeros, flip);
}

// Loops for floats.
template <typename K>
void Decode(K* keys, int64_t n, K flip) {
    for (int64_t i = 0; i < n; ++i) keys[i] = FlipNegative(static_cast<K>(keys[i] ^ flip));
}

static_assert(kBlock<int32_t> <= kMaxInLeaf && kBlock<int64_t> <= kMaxInLeaf);

template <typename K>
constexpr SortLoopsOf<K> kLoops = {
    kBlock<K>, &SortBlock<K>,       &Partition<K>,       &Gather<K>,
    &Find<K>,  &SortBatchedRows<K>, &RankBatchedRows<K>, &PartitionBatchedRows<K>};

}  // namespace

CX_EXPORT_LOOPS(SortLoops){kLoops<int32_t>,
                           kLoops<int64_t>,
                           {&Encode<float>, &Decode<int32_t>},
                           {&Encode<double>, &Decode<int64_t>}};

}  // namespace chainerx::native::CX_ISA
