// What chainerx-run prints.
#pragma once

#include <string>
#include <vector>

#include "chainerx/onnx/model.h"

namespace chainerx::run {

// Inputs, outputs, and how many parameters there are.
std::string DescribeModel(const onnx::Model& model);

// The middle one, or the mean of both. There must be one.
double Median(std::vector<double> values);

// As in "12.3 ms".
std::string Milliseconds(double seconds);

// Time and share of each operator and of each node, the longest first: the medians of several runs.
std::string DescribeTimes(const std::vector<std::vector<onnx::NodeTime>>& runs);

}  // namespace chainerx::run
