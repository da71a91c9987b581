// The loops of attention over scores. From the unit attention/simd/attention.cc.
//
// Scores stand in panels: a row per key, with a lane for each of as many queries as a tile of
// gemm_loops.h has columns. So softmax runs down the lanes, and a panel is what the next product
// reads. Exponentials and logarithms are those of base 2.
#pragma once

#include <cstdint>

namespace chainerx::native {

enum class AttentionMask : int8_t {
    kNone,
    kAdd,
    kSelect  // -inf takes part in nothing, whatever the score is; else 0
};

template <typename T>
struct AttentionPanel {
    int64_t keys;
    T* scores;
    T scale;  // of the scores, for base 2
    AttentionMask mask;
    const T* masks;  // a panel, for base e
    bool is_causal;
    int64_t diagonal;  // then key i is seen by lanes i - diagonal and above
};

template <typename T>
struct AttentionLoops {
    // Another panel of keys: the maximum and the sum of the exponentials of each lane are brought
    // up to date, scores become exponentials, and `factor` is what older ones have to be multiplied
    // by. False where all these are 1.
    bool (*weigh)(const AttentionPanel<T>& panel, T* max, T* sum, T* factor);
    // x *= factor, `rows` of them.
    void (*rescale)(T* x, int64_t rows, const T* factor);
    // x /= sum; max becomes the logarithm of the whole sum. Where the sum is 0: 0, and inf.
    void (*finish)(T* x, int64_t rows, T* max, const T* sum);
    // Scores become weights, given these logarithms.
    void (*weights)(const AttentionPanel<T>& panel, const T* stats);
    // x *= y
    void (*multiply)(T* x, int64_t rows, const T* y);
    // out = sum of x y
    void (*dot)(const T* x, const T* y, int64_t rows, T* out);
    // For few queries, whose keys and values are read where they are: rows of adjacent elements,
    // `step` apart. scores = k q^T, where q has n rows of `width`; the lanes behind them are 0.
    void (*few_scores)(const T* q, int64_t n, int64_t width, const T* k, int64_t step, int64_t keys,
                       T* scores);
    // outputs (+)= v^T weights; the lanes behind the first n are not touched.
    void (*few_outputs)(const T* weights, int64_t n, int64_t keys, const T* v, int64_t step,
                        int64_t width, bool accumulate, T* outputs);
    // out (+)= weights x, where x has n rows of `width`, and those of out are `step` apart.
    void (*few_rows)(const T* weights, int64_t n, int64_t keys, const T* x, int64_t width,
                     bool accumulate, T* out, int64_t step);
    // gw, the gradient of weights w, becomes scale w (gw factor - delta), that of scores, and w
    // becomes w factor. Null factors are 1.
    void (*slopes)(T* w, T* gw, const T* factors, int64_t keys, const T* delta, T scale);
};

struct AttentionUnit {
    AttentionLoops<float> f32;
    AttentionLoops<double> f64;
};

const AttentionUnit& attention_loops();

}  // namespace chainerx::native
