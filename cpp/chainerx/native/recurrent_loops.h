// The loops of recurrent networks: what happens to the units of a step once the products are there.
// From the unit isa/recurrent.cc.
#pragma once

#include <cstdint>

namespace chainerx::native {

// Some units of some sequences. Arrays have `size` units of each, and as many of each gate.
template <typename T>
struct RecurrentStep {
    int64_t rows;
    int64_t units;
    int64_t size;
    const T* z;
    const T* product;  // of the state with the weights
    int64_t width;     // of each of its gates
    const T* bias;     // of a GRU
    T* h;
    T* c;
    T* ys;
    T* cs;     // null if unwanted
    T* saved;  // null if unwanted
};

template <typename T>
struct RecurrentGradStep {
    int64_t rows;
    int64_t units;
    int64_t size;
    const T* gys;  // null for zeros
    const T* ys;
    const T* cs;
    const T* saved;
    const T* h;  // the state before
    const T* c;
    T* gh;  // what is added to the gradient of the state before, where that is no product
    T* gc;
    T* gz;
    T* gp;  // of the product, where it is another; for a GRU
};

// By RecurrentCell.
template <typename T>
struct RecurrentLoops {
    void (*forward[4])(const RecurrentStep<T>& step);
    void (*backward[4])(const RecurrentGradStep<T>& step);
};

struct RecurrentUnit {
    RecurrentLoops<float> f32;
    RecurrentLoops<double> f64;
};

const RecurrentUnit& recurrent_loops();

}  // namespace chainerx::native
