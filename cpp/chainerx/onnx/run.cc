// Runs the steps of a plan.
#include "chainerx/core/error.h"
#include "chainerx/core/kernel_error.h"
#include "chainerx/onnx/call.h"
#include "chainerx/onnx/plan.h"

namespace chainerx::onnx {

void RethrowFrom(const Step& step) {
    // A step that runs a graph passes on what a step within said.
    const auto add = [&step](const std::exception& e) {
        const std::string_view message = e.what();
        return message.starts_with("onnx: ")
                   ? std::string{message}
                   : StrCat("onnx: ", step.label.ToString(), ": ", message);
    };
    try {
        throw;
    } catch (const KernelCheckError&) {  // of any earlier step
        throw;
    }
#define CX_RETHROW(Name)    \
    catch (const Name& e) { \
        throw Name{add(e)}; \
    }
    CX_ERROR_LIST(CX_RETHROW)
#undef CX_RETHROW
}

void RunSteps(const Block& block, Frame& frame, StepWatcher* watcher) {
    for (const Step& step : block.steps) {
        if (watcher != nullptr) watcher->Before();
        try {
            Values outputs = step.routine(Call{step, frame});
            for (size_t i = 0; i < step.outputs.size(); ++i) {
                if (step.outputs[i] == kNoSlot) continue;
                if (i >= outputs.size()) {
                    throw NotImplementedError{"output ", i, " is not supported"};
                }
                frame.At(step.outputs[i]) = std::move(outputs[i]);
            }
        } catch (const ChainerxError&) {
            RethrowFrom(step);
        }
        if (watcher != nullptr) watcher->After(step, frame);
        for (const int slot : step.freed) frame.At(slot) = {};
    }
}

Values RunBlock(const Block& block, Values inputs, Frame& frame) {
    if (inputs.size() != block.inputs.size()) {
        throw DimensionError{"a graph has ", block.inputs.size(), " inputs, but was given ",
                             inputs.size()};
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
        frame.At(block.inputs[i]) = std::move(inputs[i]);
    }
    RunSteps(block, frame);
    Values outputs;
    for (const int slot : block.outputs) outputs.push_back(frame.At(slot));
    return outputs;
}

}  // namespace chainerx::onnx
