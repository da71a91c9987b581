// Parameters of kernels of random numbers, for the host and the device (cuda/random/device).
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/error_log.h"
#include "chainerx/cuda/device/language.h"

namespace chainerx::cuda {

// The seed and the number of a call: a block of threads that is alone takes the next call of
// `state`; if there are several, an earlier kernel has done it for them, and stored both in `key`.
struct RandomCall {
    Ptr<uint64_t> state;
    Ptr<const uint64_t> key;  // or null
};

// Fills `out`, which is contiguous, with `size` numbers of a dtype.
struct FillParams {
    RandomCall call;
    Ptr<char> out;
    int64_t size;
    double range[3];  // uniform: first, width, last; normal: mean, deviation
    bool negates;     // uniform
    uint64_t start;   // integers
    uint64_t count;   // of values that an integer has; 0 means 2^64
};

// Distributions with parameters, each of one number (its step is 0), or of one per element.
struct DrawParams {
    RandomCall call;
    Ptr<char> out;
    int64_t size;
    Ptr<const char> in[3];
    int64_t steps[3];
    bool log;      // gamma
    int64_t rows;  // index
    int64_t columns;
};

// Ends are int64 or uint64. `sites` are those of a range that is empty, and of ends beyond the
// dtype.
struct BetweenParams {
    RandomCall call;
    Ptr<char> out;
    int64_t size;
    Ptr<const uint64_t> low;
    Ptr<const uint64_t> high;
    int64_t low_step;
    int64_t high_step;
    bool low_is_unsigned;
    bool high_is_unsigned;
    bool closed;
    Ptr<ErrorLog> log;
    ErrorSite sites[3];
};

struct DomainParams {
    Ptr<const double> in;
    int64_t size;
    double low;  // the least and the largest number of the domain
    double high;
    bool has_position;
    Ptr<ErrorLog> log;
    ErrorSite site;
};

struct DropoutParams {
    Ptr<const uint64_t> key;
    Ptr<const char> in;
    Ptr<char> out;
    int64_t size;
    double scale;
    uint32_t threshold;
};

// A step `a` of the shuffle swaps elements a and b(a) <= a; it runs from the last element down.
struct PermutationParams {
    RandomCall call;
    Ptr<int64_t> out;
    Ptr<char> heads;  // of the list of the steps with the same b
    Ptr<char> next;   // in this list
    Ptr<char> least;  // of the steps above x with b = x
    int64_t size;
};

}  // namespace chainerx::cuda
