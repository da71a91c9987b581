// A step of a program, recorded once and run again without the program:
//
//     chainerx::Capture step{[&](const std::vector<Array>& xs) -> std::vector<Array> {
//         Array loss = ...;
//         Backward(loss);
//         return {loss};
//     }};
//     for (...) step({x, t});
//
// The first call runs the step as it is. The second and the third record it; from the fourth on its
// kernels are called in the same order on the new arguments, and nothing else happens. Arrays that
// the step uses, and that are no arguments, are read and written where they are. See
// docs/capture.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

namespace internal {
struct Slot;  // autograd/graph.h
}

struct CaptureOptions {
    int variants{8};    // how many kinds of arguments are kept recorded
    bool strict{true};  // CaptureError for what can't be replayed; else it runs as it is
    bool fuse{true};    // chains of elementwise kernels run block by block
    // Every so many replays the step runs as it is, too, and both must be the same; 0 for never.
    int verify{0};
    // The caller sees to it that no argument lies in memory that the step uses by itself, too.
    bool has_own_arguments{false};
};

// What was recorded for arguments of one kind.
struct CaptureVariant {
    std::string arguments;  // "float32[32,784] int32[32]"
    int64_t calls;          // kernels, of which a chain is one; 0 if it is not recorded
    int64_t fused;          // kernels in chains
    int64_t nbytes;         // memory for temporaries, and what chains keep of blocks
    int64_t replays;
    // Why it was recorded anew last, or can't be, or why its calls are launched one by one where
    // one launch could do; "" if nothing of that is so.
    std::string reason;
    bool is_refused;    // it runs as it is for ever
    bool graph{false};  // whether a replay is one launch of a device
};

class CX_API Capture {
 public:
    using Step = std::function<std::vector<Array>(const std::vector<Array>& arguments)>;
    explicit Capture(Step step, const CaptureOptions& options = {});
    ~Capture();
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;

    // Results are new arrays, outside of all graphs. Gradients of leaves are set as by the step.
    // CaptureError, after the step has run as it is, if a replay would do something else.
    std::vector<Array> operator()(const std::vector<Array>& arguments);

    // While the step runs, in this thread or in another one: as they were before.
    std::vector<CaptureVariant> variants() const;
    // Forgets all recordings; returns false, with nothing done, while the step runs.
    bool Clear();

    // For layers above.
    struct Request {
        std::string_view key;  // what the step depends on besides the arguments
        const std::vector<Array>& arguments;
        const std::function<std::vector<Array>()>& step;  // runs it once
        // What was returned besides arrays, of the last run of the step.
        std::string (*describe)(const void* user){nullptr};
        void (*warn)(const void* user, const std::string& reason){nullptr};
        const void* user{nullptr};
        void (*collect)(){nullptr};  // lets go of objects that nobody uses
        // Whether what the step makes may stay in use: each call that is recorded or replayed
        // returns all of that, too, behind the results, as arrays of bytes.
        bool keeps{false};
        // For verification. Returns a function that brings sources of keys back to where they are.
        std::function<std::function<void()>()> hold_random{};
        std::string (*name)(internal::Slot& slot){nullptr};  // of a leaf; null for none
        // How many of the arguments, the last ones, nobody passes: they may be in graphs from
        // before the step if it leaves them alone.
        size_t n_states{0};
        // The step has just run, though with another key: it can be recorded at once.
        bool has_run{false};
    };
    struct Result {
        std::vector<Array> outputs;
        uint64_t variant;  // unique among all recordings of this object
        bool is_replay;
    };
    Result Run(const Request& request);

 private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace chainerx
