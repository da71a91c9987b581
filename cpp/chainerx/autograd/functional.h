// Derivatives of functions, in the place of those of arrays with require_grad(): nothing is stored
// in an array, and they lie inside one another in any way.
//
// Each has a graph of its own for as long as it lives. A function is called once, on views of its
// arguments, and recorded even in no_backprop_mode. Whatever else it uses is a constant.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

using ArrayFunction = std::function<std::vector<Array>(const std::vector<Array>&)>;

namespace internal {
struct FunctionGraph;
}  // namespace internal

// A function at a point, and what takes gradients of its results back to its arguments. Can be
// called often, and is differentiable itself.
class CX_API Pullback {
 public:
    Pullback(const ArrayFunction& f, const std::vector<Array>& primals);
    Pullback(Pullback&&) noexcept;
    Pullback& operator=(Pullback&&) noexcept;
    ~Pullback();

    // f(primals).
    const std::vector<Array>& outputs() const;
    // One gradient per primal, of its shape and dtype: zeros where there is no path. A null
    // cotangent is zero. GradientError if one does not fit its output.
    std::vector<Array> operator()(const std::vector<Array>& cotangents) const;

 private:
    std::unique_ptr<internal::FunctionGraph> graph_;
};

// A function at a point, and what takes changes of its arguments on to its results. Operations with
// a forward derivative (op_info.h) use that; of the others, backward is transposed. Can be called
// often, and is differentiable itself. Keeps all that was computed on the way.
class CX_API Pushforward {
 public:
    Pushforward(const ArrayFunction& f, const std::vector<Array>& primals);
    Pushforward(Pushforward&&) noexcept;
    Pushforward& operator=(Pushforward&&) noexcept;
    ~Pushforward();

    // f(primals).
    const std::vector<Array>& outputs() const;
    // One tangent per output, of its shape and dtype: zeros where it does not change. A null
    // tangent is zero, and those of integers count for nothing. GradientError if one does not fit
    // its primal, or if an array that a derivative needs has been written in place meanwhile.
    std::vector<Array> operator()(const std::vector<Array>& tangents) const;

 private:
    std::unique_ptr<internal::FunctionGraph> graph_;
};

// f(primals), and its change for a change of them: a Pushforward that is called once.
CX_API std::pair<std::vector<Array>, std::vector<Array>> Jvp(const ArrayFunction& f,
                                                             const std::vector<Array>& primals,
                                                             const std::vector<Array>& tangents);

}  // namespace chainerx
