// Models of ONNX: read from a file, checked, and run as compositions of routines, so that results
// have gradients in inputs and parameters.
//
//     chainerx::onnx::Model model = chainerx::onnx::Model::Load("model.onnx");
//     std::vector<chainerx::Array> ys = model({x});
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chainerx/capture/capture.h"
#include "chainerx/core/array.h"
#include "chainerx/core/device.h"
#include "chainerx/core/macro.h"
#include "chainerx/onnx/value.h"

namespace chainerx::onnx {

// An input or output of a model, as its file describes it.
struct CX_API ValueInfo {
    std::string name;
    std::optional<Dtype> dtype;  // nullopt for what is no tensor
    bool has_shape{false};
    std::vector<int64_t> shape;      // -1 for a length that is not fixed
    std::vector<std::string> names;  // of the axes; "" for an axis without one
    bool is_required{true};          // false for an input with a default

    // As in "float32 (batch, 3, 224, 224)".
    std::string ToString() const;
};

// How long a node of the main graph took.
struct NodeTime {
    std::string name;  // of its first output if it has none
    std::string op;
    double seconds{0};
};

// How a run may differ from what the file says.
struct RunOptions {
    // In place of the model's own, in the order of parameters(); a null one stands for that.
    std::vector<Array> parameters{};
    // false: nodes in training mode (Dropout, BatchNormalization) run as in inference.
    bool trains{true};
    // Gives an RNG key, on which random numbers of the run depend. It is called if there are any;
    // without it, they come from the default generator.
    std::function<uint64_t()> draw_key{};
    // Receives the index of each parameter that is a running statistic, and the value that a node
    // in training mode gives it.
    std::vector<std::pair<size_t, Array>>* statistics{nullptr};
    // Receives, after what is there, the time of each node in their order; the run waits for the
    // device behind each. What is the same in all runs was computed in the first one, and is not
    // there.
    std::vector<NodeTime>* times{nullptr};
};

class CX_API Model {
 public:
    // Reads a file; its weights go to the device. ValueError for a file that is no model, or
    // contradicts itself; NotImplementedError for operators, versions of them and element types
    // that are not supported: all unknown operators are listed. `outputs` names values of the graph
    // that become the outputs, and what they do not depend on is left out.
    static Model Load(const std::string& path, Device& device = GetDefaultDevice(),
                      const std::vector<std::string>& outputs = {});
    // Reads bytes. External data is found in `folder`, if there is one.
    static Model FromBytes(std::string_view bytes, const std::string& folder = "",
                           Device& device = GetDefaultDevice(),
                           const std::vector<std::string>& outputs = {});

    Model(Model&& o) noexcept;
    Model& operator=(Model&& o) noexcept;
    ~Model();

    const std::vector<ValueInfo>& inputs() const;
    const std::vector<ValueInfo>& outputs() const;
    Device& device() const;

    // Runs the model on one value per input; a value of neither kind stands for a missing one. It
    // may be called from several threads. Errors name the input, or the node.
    Values Run(const Values& inputs) const;
    // With other parameters, for this run only; any number of threads may do so at once. In
    // addition to errors of the other one, DimensionError for another number of parameters, and
    // those of SetParameter.
    Values Run(const Values& inputs, const RunOptions& options) const;
    // Inputs and outputs must be arrays.
    std::vector<Array> operator()(const std::vector<Array>& inputs) const;

    // The float initializers by name, in the order of the file. They can be required to have
    // gradients.
    std::vector<std::pair<std::string, Array>> parameters() const;
    // NotFoundError for another name; DtypeError, DimensionError for another dtype or shape.
    void SetParameter(const std::string& name, const Array& value);
    // By index of parameters(): whether it is a running mean or variance of a BatchNormalization.
    std::vector<bool> statistics() const;

    // A copy on a device that has no parameters, so that each run must be given all of them.
    Model WithoutParameters(Device& device) const;

    // Runs with inputs of the same shapes, in which nothing is differentiated, are captured from
    // the third one on, for `n_kinds` kinds of inputs (4 by default, 0: none are); a model whose
    // values are read by the host runs as it is. Forgets what has been recorded. ValueError if it
    // is negative.
    void SetCaptures(int n_kinds);
    std::vector<CaptureVariant> captures() const;

    // Moves weights and constants; not while another thread runs the model. On another device
    // parameters are new arrays, which require no gradients.
    void ToDevice(Device& device);

 private:
    class Impl;
    explicit Model(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace chainerx::onnx
