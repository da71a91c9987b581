// Parameters of connectionist temporal classification, for the host and the device
// (cuda/loss/device).
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/error_log.h"
#include "chainerx/cuda/device/language.h"

namespace chainerx::cuda {

// A row has up to `states` states: a blank before, between and after its labels.
struct CtcParams {
    Ptr<const char> x;
    Ptr<const int64_t> t;
    Ptr<const int64_t> input_length;
    Ptr<const int64_t> label_length;
    int64_t blank;
    int64_t steps;
    int64_t rows;
    int64_t classes;
    int64_t labels;  // of a row, at most
    int64_t states;
    Ptr<const char> stats;  // of each step and row; of the JVP: log sum exp(x) and its derivative
    Ptr<const char> gy;
    Ptr<const char> v;
    Ptr<char> out;              // the loss, or a gradient
    Ptr<char> weights[2];       // of states, forward and backward
    Ptr<const char> posterior;  // of states
    // For each row the number of its steps, or -1 if it is not valid, and its states: twice one
    // plus the next state of the same class (or -1), plus one for the first of them.
    Ptr<int64_t> valid;
    Ptr<int64_t> links;
    Ptr<ErrorLog> log;
    ErrorSite input_site;
    ErrorSite length_site;
    ErrorSite label_site;
    ErrorSite steps_site;
};

}  // namespace chainerx::cuda
