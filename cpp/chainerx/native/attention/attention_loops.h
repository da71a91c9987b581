// Loops of attention over scores: exported by attention/simd/attention.cc.
//
// Scores are stored in panels: one row per key, and a lane for each query, as many as a tile of
// gemm_loops.h has columns. So softmax reduces within lanes, and a panel is an operand of the next
// product as it is. Exponentials and logarithms are base 2.
#pragma once

#include <cstdint>

#include "chainerx/native/unit.h"

namespace chainerx::native {

enum class AttentionMask : int8_t {
    kNone,
    kAdd,
    kSelect  // -inf is excluded, whatever the score; 0 otherwise
};

template <typename T>
struct AttentionPanel {
    int64_t keys;
    T* scores;
    T scale;  // of the scores, for base 2
    AttentionMask mask;
    const T* masks;  // one panel, for base e
    bool is_causal;
    int64_t diagonal;  // key i is attended to by lanes i - diagonal and above
};

template <typename T>
struct AttentionLoops {
    // Online softmax of another panel of keys: updates the running maximum and sum of each lane,
    // turns scores into exponentials, and sets `factor`, by which earlier ones must be multiplied.
    // Returns false if all factors are 1.
    bool (*weigh)(const AttentionPanel<T>& panel, T* max, T* sum, T* factor);
    // x *= factor, for `rows` rows.
    void (*rescale)(T* x, int64_t rows, const T* factor);
    // x /= sum; max becomes the logarithm of the full sum. If the sum is 0: 0, and inf.
    void (*finish)(T* x, int64_t rows, T* max, const T* sum);
    // Recomputes weights from scores, given these logarithms.
    void (*weights)(const AttentionPanel<T>& panel, const T* stats);
    // x *= y
    void (*multiply)(T* x, int64_t rows, const T* y);
    // out = sum of x y
    void (*dot)(const T* x, const T* y, int64_t rows, T* out);
    // For few queries, with keys and values read in place: rows of adjacent elements, `step` apart.
    // scores = k q^T, where q has n rows of `width`; lanes beyond n are 0.
    void (*few_scores)(const T* q, int64_t n, int64_t width, const T* k, int64_t step, int64_t keys,
                       T* scores);
    // outputs (+)= v^T weights; lanes beyond n are not touched.
    void (*few_outputs)(const T* weights, int64_t n, int64_t keys, const T* v, int64_t step,
                        int64_t width, bool accumulate, T* outputs);
    // out (+)= weights x, where x has n rows of `width`, and those of out are `step` apart.
    void (*few_rows)(const T* weights, int64_t n, int64_t keys, const T* x, int64_t width,
                     bool accumulate, T* out, int64_t step);
    // gw, the gradient of weights w, becomes that of scores, scale w (gw factor - delta), and w
    // becomes w factor. Null factors are 1.
    void (*slopes)(T* w, T* gw, const T* factors, int64_t keys, const T* delta, T scale);
};

using AttentionUnit = FloatLoops<AttentionLoops>;

const AttentionUnit& attention_loops();

}  // namespace chainerx::native
