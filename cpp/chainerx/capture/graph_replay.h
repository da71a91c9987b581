// Repeats the calls of a recording by one launch, where the device keeps them
// (kernels/device_graph.h).
//
// Addresses in a graph stay the same, so arguments are copied to memory of the graph before each
// launch, and results from there after it. Gradients, which mostly stay where they were, are
// written in place: there is a graph for each of few sets of places.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "chainerx/capture/recording.h"
#include "chainerx/core/array.h"
#include "chainerx/kernels/device_graph.h"

namespace chainerx::internal {

class GraphReplay {
 public:
    // `is_fixed`: of each argument, whether it is always at the same place. `results`: memories of
    // which each run has new ones. `grads`: of which a run has those of the run before if it can.
    GraphReplay(Recording& recording, const std::vector<bool>& is_fixed,
                const std::vector<int>& results, const std::vector<int>& grads);

    // Whether there are calls that a device could keep; if there are, the reason says what is in
    // the way, if anything.
    bool is_possible() const { return device_ != nullptr; }
    const std::string& reason() const { return reason_; }
    // Whether the next run is a launch, if nothing is in the way.
    bool is_used() const;
    int64_t nbytes() const;

    // Computes what the calls of the recording compute with these keys, on arguments and results
    // where they are now. `run` calls them one by one, but for bytes of the host that IsWritten.
    void Run(std::span<const uint64_t> keys, const std::function<void()>& run);
    // Whether a graph that is being recorded finds the bytes in place.
    bool IsWritten(const HostBytes& bytes) const;

 private:
    // Memory of which the graph has its own.
    struct Staged {
        Memory* memory;
        int64_t begin;  // the part that calls use
        int64_t end;
        int64_t place;   // in memory_
        bool is_read;    // copied there before a launch
        bool is_result;  // copied from there after it
        // Libraries choose by the alignment of these numbers, so the copy has that of the original.
        bool keeps_alignment;
        char* now{nullptr};  // where the memory is in this run
    };
    // Bytes of the host that are written before each launch, or once, in place of a call.
    struct Written {
        const HostBytes* bytes;
        const Memory* memory;
    };
    struct Graph {
        // Of what is staged, the alignment if that has to be kept, else 0; then where gradients
        // are.
        std::vector<uintptr_t> key;
        std::unique_ptr<DeviceGraph> graph;
        int others{0};  // runs one after another for which it was not the current one
    };

    // These return false, and set the reason, if something can't be staged.
    bool StageArguments(const std::vector<bool>& is_fixed);
    bool StageArgument(int memory);
    bool StageBytes();
    // Returns null if no call uses it.
    Staged* Stage(int memory, bool is_read, bool is_result);
    Staged* FindStaged(int memory);
    // Whether a call of a kernel writes there.
    bool IsChanged(int memory) const;
    bool IsUsed(const RecordedCall& call, int memory) const;

    char* AddressOf(const Staged& staged, const Graph& graph) const;
    // For what is where it is now; null if there are too many others.
    Graph* FindGraph();
    void CopyIn(const Graph& graph, std::span<const uint64_t> keys);
    void CopyOut(const Graph& graph);
    void Record(Graph& graph, std::span<const uint64_t> keys, const std::function<void()>& run);
    void GiveUp(std::string reason);
    // Takes memory for all that is staged.
    void PlaceStaged();
    // From now on gradients are copied from memory of the graph.
    void StageGrads();

    Recording& recording_;
    GraphDevice* device_{nullptr};
    Device* kernels_{nullptr};  // the same device
    std::string reason_;        // why no graph is used; "" if one is
    std::vector<Staged> staged_;
    std::vector<int> grads_;  // memories that are not staged
    std::vector<Written> written_;
    Array memory_;
    std::vector<Graph> graphs_;
    bool is_recording_{false};
    // Of a run, kept for their memory.
    std::vector<uintptr_t> key_;
    std::vector<GraphDevice::Copy> copies_;
    std::vector<GraphDevice::Word> words_;
};

}  // namespace chainerx::internal
