// Chooses what a model computes.
#pragma once

#include <string>
#include <vector>

#include "chainerx/onnx/messages.h"

namespace chainerx::onnx {

// Makes these values the outputs of a graph, and takes out all that they do not depend on: nodes,
// initializers and inputs. ValueError for a name that is not there, or there twice.
void SelectOutputs(GraphMessage& graph, const std::vector<std::string>& names);

}  // namespace chainerx::onnx
