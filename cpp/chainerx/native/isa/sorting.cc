// The leaves of sorting: a block of keys in registers, and passes that move keys by comparing them
// with a pivot.
#include "chainerx/native/isa/batch.h"
#include "chainerx/native/isa/key_block.h"
#include "chainerx/native/isa/lane_orders.h"
#include "chainerx/native/sort_keys.h"
#include "chainerx/native/sorting_loops.h"

namespace chainerx::native {
namespace CX_ISA {
namespace {

// What is partitioned: keys, or those of numbers, which are made on the way. One() is a key,
// Vector() are those of adjacent places.
template <typename K>
struct KeySource {
    const K* keys;

    K One(int64_t i) const { return keys[i]; }
    template <typename V>
    auto Vector(int64_t i) const {
        return V::Load(keys + i);
    }
};
template <typename T>
struct NumberSource {
    const T* x;
    SortKey<T> flip;

    SortKey<T> One(int64_t i) const { return EncodeKey(x[i], false, flip); }
    template <typename V>
    auto Vector(int64_t i) const {
        return V::Encode(x + i, V::All(flip));
    }
};

// No branch depends on a key: it is written to both ends, and one of them moves on.
template <typename Source, typename K>
inline int64_t PartitionOneByOne(const Source& source, int64_t i, int64_t n, K pivot, K* out,
                                 int64_t low, int64_t high) {
    for (; i < n; ++i) {
        const K key = source.One(i);
        out[low] = key;
        out[high - 1] = key;
        const bool below = key < pivot;
        low += below;
        high -= !below;
    }
    return low;
}

template <typename K>
inline InWindow GatherOneByOne(const K* keys, int64_t n, K low, K high, K* out) {
    InWindow found{0, 0};
    for (int64_t i = 0; i < n; ++i) {
        const K key = keys[i];
        out[found.inside] = key;
        found.below += key < low;
        found.inside += (key >= low) & (key <= high);
    }
    return found;
}

#if defined(CX_ISA_AVX512)

struct Vector32 {
    using Key = int32_t;
    static constexpr int64_t kLanes = 16;
    static __m512i All(Key key) { return _mm512_set1_epi32(key); }
    static __m512i Load(const Key* p) { return _mm512_loadu_si512(p); }
    static __m512i Encode(const float* x, __m512i flip) {
        const __m512 number = _mm512_loadu_ps(x);
        const __m512i bits = _mm512_castps_si512(number);
        const __m512i most = All(std::numeric_limits<Key>::max());
        // bits ^ (sign & most)
        const __m512i key =
            _mm512_ternarylogic_epi32(bits, _mm512_srai_epi32(bits, 31), most, 0x78);
        const __mmask16 is_nan = _mm512_cmp_ps_mask(number, number, _CMP_UNORD_Q);
        return _mm512_xor_si512(_mm512_mask_mov_epi32(key, is_nan, most), flip);
    }
    static uint32_t Below(__m512i a, __m512i b) { return _mm512_cmplt_epi32_mask(a, b); }
    static uint32_t NotAbove(__m512i a, __m512i b) { return _mm512_cmple_epi32_mask(a, b); }
    static __m512i Compress(uint32_t lanes, __m512i v) {
        return _mm512_maskz_compress_epi32(static_cast<__mmask16>(lanes), v);
    }
    static void Store(Key* p, int64_t n, __m512i v) {
        _mm512_mask_storeu_epi32(p, static_cast<__mmask16>((1u << n) - 1), v);
    }
};

struct Vector64 {
    using Key = int64_t;
    static constexpr int64_t kLanes = 8;
    static __m512i All(Key key) { return _mm512_set1_epi64(key); }
    static __m512i Load(const Key* p) { return _mm512_loadu_si512(p); }
    static __m512i Encode(const double* x, __m512i flip) {
        const __m512d number = _mm512_loadu_pd(x);
        const __m512i bits = _mm512_castpd_si512(number);
        const __m512i most = All(std::numeric_limits<Key>::max());
        const __m512i key =
            _mm512_ternarylogic_epi64(bits, _mm512_srai_epi64(bits, 63), most, 0x78);
        const __mmask8 is_nan = _mm512_cmp_pd_mask(number, number, _CMP_UNORD_Q);
        return _mm512_xor_si512(_mm512_mask_mov_epi64(key, is_nan, most), flip);
    }
    static uint32_t Below(__m512i a, __m512i b) { return _mm512_cmplt_epi64_mask(a, b); }
    static uint32_t NotAbove(__m512i a, __m512i b) { return _mm512_cmple_epi64_mask(a, b); }
    static __m512i Compress(uint32_t lanes, __m512i v) {
        return _mm512_maskz_compress_epi64(static_cast<__mmask8>(lanes), v);
    }
    static void Store(Key* p, int64_t n, __m512i v) {
        _mm512_mask_storeu_epi64(p, static_cast<__mmask8>((1u << n) - 1), v);
    }
};

template <typename K>
using VectorOf = std::conditional_t<sizeof(K) == 4, Vector32, Vector64>;

template <typename Source, typename K>
inline int64_t PartitionFrom(const Source& source, int64_t n, K pivot, K* out, int64_t room) {
    using V = VectorOf<K>;
    constexpr int64_t kLanes = V::kLanes;
    constexpr uint32_t kAll = (1u << kLanes) - 1;
    const __m512i p = V::All(pivot);
    int64_t low = 0;
    int64_t high = room;
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        const __m512i v = source.template Vector<V>(i);
        const uint32_t below = V::Below(v, p);
        const int64_t count = __builtin_popcount(below);
        // A whole vector: as many places are left.
        _mm512_storeu_si512(out + low, V::Compress(below, v));
        low += count;
        high -= kLanes - count;
        V::Store(out + high, kLanes - count, V::Compress(below ^ kAll, v));
    }
    return PartitionOneByOne(source, i, n, pivot, out, low, high);
}

template <typename K>
InWindow Gather(const K* keys, int64_t n, K low, K high, K* out) {
    using V = VectorOf<K>;
    const __m512i first = V::All(low);
    const __m512i last = V::All(high);
    InWindow found{0, 0};
    int64_t i = 0;
    for (; i + V::kLanes <= n; i += V::kLanes) {
        const __m512i v = V::Load(keys + i);
        const uint32_t below = V::Below(v, first);
        const uint32_t inside = V::NotAbove(v, last) & ~below;
        _mm512_storeu_si512(out + found.inside, V::Compress(inside, v));
        found.below += __builtin_popcount(below);
        found.inside += __builtin_popcount(inside);
    }
    const InWindow rest = GatherOneByOne(keys + i, n - i, low, high, out + found.inside);
    return {found.below + rest.below, found.inside + rest.inside};
}

#elif defined(CX_ISA_AVX2)

template <typename K>
inline __m256i LoadVector(const K* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
template <typename K>
inline void StoreVector(K* p, __m256i v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
}

// bits ^ (sign & most), or most where it is no number.
inline __m256i KeysOf(__m256i bits, __m256i sign, __m256i most, __m256i is_nan, __m256i flip) {
    const __m256i key = _mm256_xor_si256(bits, _mm256_and_si256(sign, most));
    return _mm256_xor_si256(_mm256_blendv_epi8(key, most, is_nan), flip);
}

struct Vector32 {
    static constexpr int64_t kLanes = 8;
    static __m256i All(int32_t key) { return _mm256_set1_epi32(key); }
    static __m256i Load(const int32_t* p) { return LoadVector(p); }
    static __m256i Encode(const float* x, __m256i flip) {
        const __m256 number = _mm256_loadu_ps(x);
        const __m256i bits = _mm256_castps_si256(number);
        const __m256 is_nan = _mm256_cmp_ps(number, number, _CMP_UNORD_Q);
        return KeysOf(bits, _mm256_srai_epi32(bits, 31), All(std::numeric_limits<int32_t>::max()),
                      _mm256_castps_si256(is_nan), flip);
    }
    static uint32_t Above(__m256i a, __m256i b) {
        return static_cast<uint32_t>(
            _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(a, b))));
    }
};

struct Vector64 {
    static constexpr int64_t kLanes = 4;
    static __m256i All(int64_t key) { return _mm256_set1_epi64x(key); }
    static __m256i Load(const int64_t* p) { return LoadVector(p); }
    static __m256i Encode(const double* x, __m256i flip) {
        const __m256d number = _mm256_loadu_pd(x);
        const __m256i bits = _mm256_castpd_si256(number);
        const __m256d is_nan = _mm256_cmp_pd(number, number, _CMP_UNORD_Q);
        return KeysOf(bits, _mm256_cmpgt_epi64(_mm256_setzero_si256(), bits),
                      All(std::numeric_limits<int64_t>::max()), _mm256_castpd_si256(is_nan), flip);
    }
    static uint32_t Above(__m256i a, __m256i b) {
        return static_cast<uint32_t>(
            _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(a, b))));
    }
};

template <typename K>
using VectorOf = std::conditional_t<sizeof(K) == 4, Vector32, Vector64>;

template <typename Source, typename K>
inline int64_t PartitionFrom(const Source& source, int64_t n, K pivot, K* out, int64_t room) {
    using V = VectorOf<K>;
    constexpr int64_t kLanes = V::kLanes;
    const __m256i p = V::All(pivot);
    int64_t low = 0;
    int64_t high = room;
    int64_t i = 0;
    // The same vector goes to both ends, of which neither reaches what is at the other.
    for (; i + kLanes <= n && high - low >= 2 * kLanes; i += kLanes) {
        const __m256i v = source.template Vector<V>(i);
        const uint32_t below = V::Above(p, v);
        const int64_t count = __builtin_popcount(below);
        const __m256i arranged = Arrange<kLanes>(below, v);
        StoreVector(out + low, arranged);
        StoreVector(out + high - kLanes, arranged);
        low += count;
        high -= kLanes - count;
    }
    return PartitionOneByOne(source, i, n, pivot, out, low, high);
}

template <typename K>
InWindow Gather(const K* keys, int64_t n, K low, K high, K* out) {
    using V = VectorOf<K>;
    const __m256i first = V::All(low);
    const __m256i last = V::All(high);
    constexpr uint32_t kAll = (1u << V::kLanes) - 1;
    InWindow found{0, 0};
    int64_t i = 0;
    for (; i + V::kLanes <= n; i += V::kLanes) {
        const __m256i v = LoadVector(keys + i);
        const uint32_t below = V::Above(first, v);
        const uint32_t inside = (V::Above(v, last) | below) ^ kAll;
        StoreVector(out + found.inside, Arrange<V::kLanes>(inside, v));
        found.below += __builtin_popcount(below);
        found.inside += __builtin_popcount(inside);
    }
    const InWindow rest = GatherOneByOne(keys + i, n - i, low, high, out + found.inside);
    return {found.below + rest.below, found.inside + rest.inside};
}

#else

template <typename Source, typename K>
inline int64_t PartitionFrom(const Source& source, int64_t n, K pivot, K* out, int64_t room) {
    return PartitionOneByOne(source, 0, n, pivot, out, 0, room);
}

template <typename K>
InWindow Gather(const K* keys, int64_t n, K low, K high, K* out) {
    return GatherOneByOne(keys, n, low, high, out);
}

#endif

template <typename K>
int64_t Partition(const K* keys, int64_t n, K pivot, K* out, int64_t room) {
    return PartitionFrom(KeySource<K>{keys}, n, pivot, out, room);
}

template <typename T, typename K>
int64_t PartitionNumbers(const T* x, int64_t n, K flip, K pivot, K* out, int64_t room) {
    return PartitionFrom(NumberSource<T>{x, flip}, n, pivot, out, room);
}

template <typename T>
void Encode(const T* x, int64_t n, bool join_zeros, SortKey<T> flip, SortKey<T>* keys) {
    for (int64_t i = 0; i < n; ++i) keys[i] = EncodeKey(x[i], join_zeros, flip);
}

// Of floats.
template <typename K>
void Decode(K* keys, int64_t n, K flip) {
    for (int64_t i = 0; i < n; ++i) keys[i] = TurnNegative(static_cast<K>(keys[i] ^ flip));
}

template <typename K>
constexpr SortLoopsOf<K> kLoops = {kBlock<K>, &SortBlock<K>, &Partition<K>, &Gather<K>};

}  // namespace
}  // namespace CX_ISA
}  // namespace chainerx::native

extern "C" {
__attribute__((visibility("hidden"))) extern const chainerx::native::SortLoops CX_UNIT_ENTRY;
const chainerx::native::SortLoops CX_UNIT_ENTRY = {
    chainerx::native::CX_ISA::kLoops<int32_t>,
    chainerx::native::CX_ISA::kLoops<int64_t>,
    {&chainerx::native::CX_ISA::Encode<float>, &chainerx::native::CX_ISA::Decode<int32_t>,
     &chainerx::native::CX_ISA::PartitionNumbers<float>},
    {&chainerx::native::CX_ISA::Encode<double>, &chainerx::native::CX_ISA::Decode<int64_t>,
     &chainerx::native::CX_ISA::PartitionNumbers<double>}};
}
