// Derivatives of functions, instead of arrays with require_grad(): nothing is stored in an array,
// and they may be nested in any way.
//
// Each has a graph of its own as long as it lives. A function is called once, on views of its
// arguments, and recorded even in no_backprop_mode. All other arrays that it uses are constants.
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

// A function at a point, and its vector-Jacobian product, which pulls gradients of the results back
// to the arguments. It can be called often, and is differentiable itself.
class CX_API Pullback {
 public:
    Pullback(const ArrayFunction& f, const std::vector<Array>& primals);
    Pullback(Pullback&&) noexcept;
    Pullback& operator=(Pullback&&) noexcept;
    ~Pullback();

    // Returns f(primals).
    const std::vector<Array>& outputs() const;
    // Returns one gradient per primal, of its shape and dtype: zeros where there is no path. A null
    // cotangent is zero. GradientError if one does not fit its output.
    std::vector<Array> operator()(const std::vector<Array>& cotangents) const;

 private:
    std::unique_ptr<internal::FunctionGraph> graph_;
};

// A function at a point, and its Jacobian-vector product, which pushes changes of the arguments to
// the results. It uses the forward derivatives of operations (op_info.h); for operations without
// one it transposes backward. It can be called often, is differentiable itself, and keeps all
// intermediate results.
class CX_API Pushforward {
 public:
    Pushforward(const ArrayFunction& f, const std::vector<Array>& primals);
    Pushforward(Pushforward&&) noexcept;
    Pushforward& operator=(Pushforward&&) noexcept;
    ~Pushforward();

    // Returns f(primals).
    const std::vector<Array>& outputs() const;
    // Returns one tangent per output, of its shape and dtype: zeros where it does not change. A
    // null tangent is zero, and tangents of integers are ignored. GradientError if one does not fit
    // its primal, or if an array that a derivative needs has been written in place meanwhile.
    std::vector<Array> operator()(const std::vector<Array>& tangents) const;

 private:
    std::unique_ptr<internal::FunctionGraph> graph_;
};

// Returns f(primals) and its tangents: a Pushforward that is called once.
CX_API std::pair<std::vector<Array>, std::vector<Array>> Jvp(const ArrayFunction& f,
                                                             const std::vector<Array>& primals,
                                                             const std::vector<Array>& tangents);

}  // namespace chainerx
