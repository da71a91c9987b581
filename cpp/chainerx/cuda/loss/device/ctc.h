// Connectionist temporal classification: the loss, and its gradient.
#pragma once

#include "chainerx/cuda/loss/device/lattice.h"

namespace chainerx::cuda {

template <typename T>
inline void Ctc(const CtcParams& p) {
    using C = Number<T>;
    CX_DYNAMIC_SHARED(C, shared);
    const int64_t row = blockIdx.x;
    const int64_t steps = CheckRow(p, row, true);
    T* const loss = At<T>(p.out) + row;
    if (steps < 0) {
        if (threadIdx.x == 0) *loss = static_cast<T>(C(0));
        return;
    }
    const CtcPath path{p, row, steps};
    C* const rows = p.weights[0] != nullptr ? At<C>(p.weights[0], 2 * row * p.states) : shared;
    const auto row_at = [&](int64_t t) { return rows + t % 2 * p.states; };
    const double taken_off = RunLattice<T>(path, true, row_at);
    if (threadIdx.x != 0) return;
    const double y = LogProbability(path, row_at(steps - 1 < 0 ? 0 : steps - 1), taken_off);
    *loss = static_cast<T>(static_cast<C>(0 - y));
}

// The weights of a row, in one direction.
template <typename T>
inline void CtcWeights(const CtcParams& p) {
    using C = Number<T>;
    const int64_t row = blockIdx.x / 2;
    const bool is_forward = blockIdx.x % 2 == 0;
    const int64_t steps = CheckRow(p, row, is_forward);
    if (is_forward && threadIdx.x == 0) p.valid[row] = steps;
    if (steps < 0) return;
    const CtcPath path{p, row, steps};
    const auto row_at = [&](int64_t t) {
        return At<C>(p.weights[is_forward ? 0 : 1], path.Place(t));
    };
    RunLattice<T>(path, is_forward, row_at);
    if (is_forward) LinkStates(path);
}

// Joins both directions to the logarithms of the weights of paths through each state.
template <typename T>
inline void CtcJoin(const CtcParams& p) {
    using C = Number<T>;
    const int64_t i = ThreadNumber();
    if (i >= p.rows * p.steps * p.states) return;
    const int64_t s = i % p.states;
    const int64_t t = i / p.states % p.steps;
    const int64_t row = i / p.states / p.steps;
    const C none = CtcScores<T>::None();
    C y = none;
    if (t < p.valid[row]) {
        const CtcPath path{p, row, p.valid[row]};
        if (s < path.size) {
            const C emission = CtcScores<T>::Of(path, t, path.ClassOf(s));
            // Both directions include the emission.
            if (emission != none) {
                y = *At<C>(p.weights[0], i) + (*At<C>(p.weights[1], i) - emission);
            }
        }
    }
    *At<C>(p.weights[0], i) = y;
}

// Writes out[t, row] by a warp for each: what `Terms` begins with for each class, less a number for
// each of its states, one after the other; 0 beyond the row's steps.
template <typename T, typename Terms>
inline void CtcOutputs(const CtcParams& p) {
    using C = Number<T>;
    const int64_t i = CtcWarp::Row();
    if (i >= p.steps * p.rows) return;
    const int64_t t = i / p.rows;
    const int64_t row = i - t * p.rows;
    T* const out = At<T>(p.out) + i * p.classes;
    const int lane = CtcWarp::Lane();
    const int64_t steps = p.valid[row];
    if (t >= steps) {
        for (int64_t k = lane; k < p.classes; k += 32) out[k] = static_cast<T>(C(0));
        return;
    }
    const CtcPath path{p, row, steps};
    const Terms terms{path, t, static_cast<C>(*At<const T>(p.gy, row))};
    for (int64_t k = lane; k < p.classes; k += 32) {
        out[k] = static_cast<T>(terms.End(terms.Begin(k)));
    }
    __syncwarp();
    const int64_t* const links = p.links + row * p.states;
    for (int64_t s = lane; s < path.size; s += 32) {
        if (links[s] % 2 == 0) continue;
        const int64_t k = path.ClassOf(s);
        auto y = terms.Begin(k);
        for (int64_t at = s; at >= 0; at = links[at] / 2 - 1) y -= terms.OfState(at);
        out[k] = static_cast<T>(terms.End(y));
    }
}

// The gradient: gy times the probabilities of classes less those of their states.
template <typename T>
struct GradTerms {
    using C = Number<T>;
    const CtcPath& path;
    int64_t t;
    C gy;

    C Begin(int64_t k) const {
        return native::CX_ISA::math::Exp(xsimd::batch<C>(CtcScores<T>::Of(path, t, k))).v * gy;
    }
    C OfState(int64_t s) const { return gy * *At<const C>(path.p.posterior, path.Place(t) + s); }
    C End(C y) const { return y; }
};
template <typename T>
inline void CtcGrad(const CtcParams& p) {
    CtcOutputs<T, GradTerms<T>>(p);
}

}  // namespace chainerx::cuda
