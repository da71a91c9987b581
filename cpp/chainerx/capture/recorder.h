// Records the kernel calls of a thread during its life.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "chainerx/autograd/record_observer.h"
#include "chainerx/capture/recording.h"
#include "chainerx/core/capture_observer.h"
#include "chainerx/kernels/hook.h"

namespace chainerx::internal {

// Says which line of the program runs, as "train.py:31"; null if nobody can tell.
using Locator = std::string (*)();
CX_API void SetCaptureLocator(Locator locator);

// Whether the variable of a slot still has the array that the slot was made for.
using VariableCheck = bool (*)(Slot* slot);
CX_API void SetVariableCheck(VariableCheck check);
CX_API bool IsCurrentVariable(Slot* slot);

// Whether memory that belongs to somebody else is where it was when it was wrapped.
using BorrowedCheck = bool (*)(const Buffer& buffer);
CX_API void SetBorrowedCheck(BorrowedCheck check);
CX_API bool IsCurrentBorrowed(const Buffer& buffer);

class CX_API Recorder : public CaptureObserver, public RecordObserver {
 public:
    // The arguments of the step. They must not overlap, except that the same array may come twice.
    explicit Recorder(std::span<const Array> arguments);
    ~Recorder() override;

    // The recording of all that was called up to now, of a step with these results. CaptureError if
    // the step can't be replayed, for example since other arrays that it made are still in use:
    // `collect` lets go of what nobody uses.
    // Adds all memory that the step has made, and that is in use, as arrays of bytes in the order
    // of first use. Only before Finish.
    void AddWhatIsInUse(std::vector<Array>& outputs, void (*collect)());
    // `result` is what was returned besides arrays, in words.
    std::unique_ptr<Recording> Finish(std::span<const Array> outputs, void (*collect)(),
                                      std::string result);

    // Whether an error, such as too little memory, has left the recording incomplete, and the step
    // went on nevertheless.
    bool has_failed() const { return has_failed_; }

    // Called by the hook.
    void Record(KernelCall& call);

    void Born(Buffer& buffer) override;
    void Died(Buffer& buffer) noexcept override;
    void CopiedFromHost(Device& device, void* dst, const void* src, int64_t nbytes) override;
    void Drew(std::optional<uint64_t> key, std::function<uint64_t()> draw) override;
    bool DrawAgain() override;
    void Doubt(const char* why) override;
    void Add(std::shared_ptr<ReplayPart> part, std::span<const Array> arrays) override;
    void Refuse(const char* what) override;

    // As Refuse, in other words: a whole message.
    void Fail(std::string message);
    // Says that the recording is of no use, and why, since there is more to know before a call.
    void Discard(std::string reason);
    const std::string& discarded() const { return discarded_; }
    // The program has called code that each replay calls, too. Whatever of the inputs it has kept
    // is its own, `n_kept` references to each.
    void CallHost(std::shared_ptr<HostCode> code, std::span<const Array> inputs,
                  std::span<const uint32_t> n_kept, std::span<const Array> outputs);
    // Whether an array was there before, and is no argument.
    bool Was(const Array& x) const;
    // Whether the step has used the memory of an array that was there before.
    bool Uses(const Array& x) const;

    void ReadGrad(Slot& slot, uint64_t id, const Array& grad) override;
    void WroteGrad(Slot& slot, uint64_t id, bool is_cleared) override;

    void Called(std::span<const ConstArrayRef> inputs) override;
    void Recorded(Node* node, std::span<const ConstArrayRef> inputs,
                  std::span<const Array> outputs) override;

 private:
    struct Temporary {
        int memory;
        int64_t nbytes;
        uint32_t n_kept{0};  // references to it that code of the program has
    };
    struct Argument {
        Array array;
        int memory;
        char* begin;
        char* end;
        uint32_t version;  // when it was added
    };

    // Of a function during whose life an exception leaves the recording incomplete.
    class FailureMark;

    void Keep(KernelCall& call);
    Place Find(const Array& x);
    Place FindBytes(Device& device, char* data, int64_t nbytes);
    Place FindEmpty(Device& device);
    int Hold(Buffer& buffer, bool is_borrowed);
    RecordedArray Keep(OperandRole role, const Array& x, std::vector<Array>& kept);
    int AddArgument(const Array& x);
    RecordedGrad* FindTouched(const Slot& slot, uint64_t id);
    void KeepLeaf(Slot& slot);
    void FindGrads();
    void CheckNothingEscaped(std::span<const Array> outputs, void (*collect)());
    int AddOutput(const Array& x);
    static uint32_t WritesOf(const Argument& a) { return a.array.buffer()->version() - a.version; }

    std::unique_ptr<Recording> recording_;
    std::vector<Argument> arguments_;
    std::unordered_map<const Buffer*, int> held_;     // index of the memory
    std::unordered_map<const void*, int> held_data_;  // the same by address, of borrowed memory
    std::unordered_map<const Device*, int> empty_;    // the same, of operands without elements
    std::unordered_set<Slot*> leaves_;                // owned
    std::vector<RecordedGrad> touched_;               // with a slot, even that of an argument
    std::vector<std::optional<uint64_t>> drawn_;
    std::vector<Array> grads_;
    std::vector<std::vector<Array>> part_arrays_;
    bool has_failed_{false};
    std::string refused_;  // why the step can't be replayed; "" if it can
    std::string discarded_;

    // The rest is guarded by a mutex, since buffers die on any thread.
    std::unordered_map<const Buffer*, Temporary> born_;
    std::unordered_set<const Buffer*> borrowed_;  // foreign buffers that were born
};

}  // namespace chainerx::internal
