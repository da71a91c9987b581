// Runs a recording again, on other arguments.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "chainerx/capture/graph_replay.h"
#include "chainerx/capture/recording.h"
#include "chainerx/capture/stream_order.h"
#include "chainerx/core/array.h"

namespace chainerx::internal {

class CX_API Replay {
 public:
    struct Options {
        bool fuse;
        bool has_own_arguments;
    };

    // Takes memory for the temporaries: those that are not alive at once share it.
    // `first` is the other recording of the step, which is equal. An argument that was the same
    // array in both may be one that the step also uses by itself: then it has to be the same again,
    // unless the step is known to have arguments of its own.
    Replay(std::unique_ptr<Recording> recording, const Recording& first, Options options);

    // What the step returns, and the gradients of leaves, which are set. Returns false, with
    // nothing done, if the step has to be recorded anew, for `reason`.
    bool Run(std::span<const Array> arguments, std::vector<Array>& outputs, const char*& reason);

    // What Verify has to know of the step.
    struct VerifiedStep {
        const std::function<std::vector<Array>()>& run;
        // Returns a function that brings sources of keys back to where they are now.
        const std::function<std::function<void()>()>& hold_random;
        std::function<std::string()> describe;  // what was returned besides arrays
        std::string (*name)(Slot& slot);        // of a leaf
    };
    // Runs the step as it is, and on copies what Run would. `difference`: what is not the same, to
    // the bit; "" if all is. Everything is then as after the step. Returns false as Run does.
    bool Verify(std::span<const Array> arguments, const VerifiedStep& step,
                std::vector<Array>& outputs, std::string& difference, const char*& reason);

    int64_t call_count() const { return static_cast<int64_t>(entries_.size()); }
    int64_t fused_count() const { return n_fused_; }
    // Not while it runs: chains take memory in their first run.
    int64_t nbytes() const;
    bool calls_host() const { return !host_sources_.empty(); }
    // Null if the calls are not all on a device that could repeat them by one launch.
    const GraphReplay* graph() const { return graph_.get(); }
    const Recording& recording() const { return *recording_; }

 private:
    struct Entry {
        Device* device;
        const KeptCall* call;      // null for bytes
        const HostBytes* bytes;    // null for a call
        const RecordedCall* host;  // null for other calls than of code of the program
        size_t time;               // as in RecordedCall
        bool is_masked;            // the same
    };
    // Memory of which each run allocates a new one, or uses that of a gradient which nobody else
    // has and which the step would throw away.
    struct Fresh {
        int memory;
        Device* device;
        int64_t nbytes;
        int grad{-1};  // index among the gradients, of one that has this memory by itself
        Buffer* buffer{nullptr};  // of this run
        bool is_allocated{false};
        Array old_grad{};
    };
    // The index of memory in fresh_, of an argument, or of a gradient; all -1 if it is held.
    struct Source {
        int fresh{-1};
        int argument{-1};
        int grad{-1};
    };

    // The constructor in parts, in this order.
    // Finds arguments, and gradients, that have to stay where they are.
    void FixPlaces(const Recording& first, Options options);
    void AddCalls();
    // Finds memory that was there before the step, and how often the step writes to it.
    void AddHeldMemory(const Recording& first);
    // Finds where results, and arrays for code of the program, lie.
    void FindSources();
    // Finds gradients whose memory can be used again.
    void FindOwnGrads();
    // Places temporaries in arenas.
    void PlanMemory();
    void MakeGraph();
    // Tells the order of streams which devices and memory take part.
    void FindStreams();

    // Brings memory that leaves the step to its address.
    void TakeFresh(std::span<const Array> arguments);
    void ReleaseFresh(std::span<const Array> arguments) noexcept;
    // Where memory is that leaves the step.
    Source SourceOf(const Place& place);
    Buffer* BufferOf(const Source& source, const Memory& memory,
                     std::span<const Array> arguments) const;
    // A result, or a gradient, of a step whose kernels were called.
    Array MakeOutput(size_t i, std::span<const Array> arguments);
    // Returns whether memory that was there before the step is held by recordings alone: the
    // program has put something else in its place.
    bool IsAbandoned() const;
    bool IsHeld(Extent range) const;
    void FindPresent(std::span<const Array> arguments);
    // Returns why a step with these arguments is not that of the recording; null if it is.
    const char* FindOtherUse(std::span<const Array> arguments) const;
    // Counts the writes of the step, so that backward of graphs that began before it sees them.
    void MarkWritten(std::span<const Array> arguments);
    // Forgets, in the end, the gradients from before the step.
    struct PresentScope {
        std::vector<Array>& present;
        ~PresentScope() { present.clear(); }
    };
    // Finds these, and returns why the step has to be recorded anew; null if it has not.
    const char* Begin(std::span<const Array> arguments);
    // Brings arguments, and gradients that the step reads, to their addresses.
    void MovePlaces(std::span<const Array> arguments);
    static void Run(const Entry& entry);
    void RunCalls();
    void RunHost(const RecordedCall& call);
    // Keys are drawn in the order of the step: those before code of the program, then others.
    void DrawKeys(size_t end);
    size_t KeysBefore(ptrdiff_t host_call) const;
    // After an error in a call: gradients become what they are at that moment of the step.
    void SettleGrads(std::span<const Array> arguments);
    // The same by one launch, where the device can.
    void Launch();

    std::unique_ptr<Recording> recording_;
    std::vector<Entry> entries_;
    std::vector<Fresh> fresh_;
    std::vector<Source> sources_;  // by output
    // By call of code of the program: of its arrays.
    std::vector<std::pair<const RecordedCall*, std::vector<Source>>> host_sources_;
    std::vector<uint64_t> keys_;
    size_t n_drawn_{0};                   // of the keys, in a run
    std::span<const Array> arguments_{};  // in a run
    std::vector<bool> is_fixed_;          // by argument
    std::vector<Array> arenas_;           // one per device
    StreamOrder order_;
    std::unique_ptr<GraphReplay> graph_;
    std::vector<Memory*> held_;
    std::vector<Memory*> borrowed_;
    std::vector<Extent> held_extents_;
    std::vector<Memory*> written_;  // some of these
    std::vector<Array> present_;    // by gradient, in a run: as it was before, if the step reads it
    size_t time_{0};                // in a run: of the call that runs
    int64_t n_fused_{0};
    int64_t nbytes_{0};
};

}  // namespace chainerx::internal
