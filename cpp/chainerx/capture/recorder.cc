#include "chainerx/capture/recorder.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <utility>

#include "chainerx/core/error.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/core/leak_tracker.h"
#include "chainerx/core/overlap.h"

namespace chainerx::internal {
namespace {

// Who needs several keys, such as layers with dropout, draws the first one, and counts on.
constexpr uint64_t kMaxKeysOfDraw = 1024;

// Of all recorders: fork keeps a list of locks, which must live as long as the process.
constinit ForkMutex g_mutex;

std::atomic<Locator> g_locator{nullptr};
std::atomic<VariableCheck> g_variable_check{nullptr};
std::atomic<BorrowedCheck> g_borrowed_check{nullptr};

std::string Locate() {
    const Locator locator = g_locator.load();
    return locator != nullptr ? locator() : std::string{};
}

std::string At(const std::string& where) {
    return where.empty() ? std::string{} : StrCat(" (", where, ")");
}

// One hook for all recorders: it hides the kernels of all threads.
class RecordingHook : public KernelHook {
 public:
    void Run(KernelCall& call) override {
        if (CaptureObserver* observer = CurrentCapture()) {
            static_cast<Recorder*>(observer)->Record(call);
        } else {
            call.Proceed();
        }
    }

    static void Use(int by) {
        static constinit Lazy<Users> users;
        Users& u = users.Get();
        const std::lock_guard lock{u.mutex};
        if (!u.is_installed) InstallKernelHook(u.hook);
        u.is_installed = true;
        u.count += by;
        if (u.count != 0) return;
        try {
            RemoveKernelHook(u.hook.get());
            u.is_installed = false;
        } catch (const std::bad_alloc&) {  // it does nothing, and stays for the next one
        }
    }

 private:
    struct Users {
        ForkMutex mutex;
        std::shared_ptr<RecordingHook> hook = std::make_shared<RecordingHook>();
        bool is_installed{false};
        int count{0};
    };
};

}  // namespace

void SetCaptureLocator(Locator locator) { g_locator = locator; }
void SetVariableCheck(VariableCheck check) { g_variable_check = check; }
bool IsCurrentVariable(Slot* slot) {
    const VariableCheck check = g_variable_check.load();
    return check == nullptr || check(slot);
}
void SetBorrowedCheck(BorrowedCheck check) { g_borrowed_check = check; }
bool IsCurrentBorrowed(const Buffer& buffer) {
    const BorrowedCheck check = g_borrowed_check.load();
    return check == nullptr || check(buffer);
}

Recorder::Recorder(std::span<const Array> arguments) : recording_{std::make_unique<Recording>()} {
    for (const Array& x : arguments) {
        recording_->argument_memories.push_back(AddArgument(x));
        recording_->argument_arrays.push_back(Detached(x));
        recording_->argument_extents.push_back({arguments_.back().begin, arguments_.back().end});
    }
    RecordingHook::Use(1);
    try {
        AddBufferObserver(this);
    } catch (...) {
        RecordingHook::Use(-1);
        throw;
    }
    t_state.capture = this;
}

Recorder::~Recorder() {
    t_state.capture = nullptr;
    RemoveBufferObserver(this);
    RecordingHook::Use(-1);
    for (Slot* slot : leaves_) slot->Unref();
}

class Recorder::FailureMark {
 public:
    explicit FailureMark(Recorder& recorder) : recorder_{recorder} {}
    ~FailureMark() {
        if (std::uncaught_exceptions() > n_before_) recorder_.has_failed_ = true;
    }
    FailureMark(const FailureMark&) = delete;
    FailureMark& operator=(const FailureMark&) = delete;

 private:
    Recorder& recorder_;
    const int n_before_{std::uncaught_exceptions()};
};

// Arguments with the same elements have the same memory.
int Recorder::AddArgument(const Array& x) {
    const Extent e = RangeOf(x);
    const auto same = std::ranges::find_if(arguments_, [&](const Argument& o) {
        return o.begin == e.begin && o.end == e.end && &o.array.device() == &x.device();
    });
    int memory = static_cast<int>(recording_->memories.size());
    if (same != arguments_.end() && e.begin != e.end) {
        memory = same->memory;
    } else {
        recording_->memories.emplace_back(MemoryKind::kArgument, x.device(), e.begin);
    }
    arguments_.push_back({x, memory, e.begin, e.end, x.buffer()->version()});
    return memory;
}

void Recorder::Born(Buffer& buffer) {
    if (has_failed_) return;
    const FailureMark mark{*this};
    const std::lock_guard lock{g_mutex};
    if (buffer.is_foreign()) {
        borrowed_.insert(&buffer);
    } else {
        born_[&buffer] = {-1, buffer.nbytes()};
    }
}

void Recorder::Died(Buffer& buffer) noexcept {
    const std::lock_guard lock{g_mutex};
    borrowed_.erase(&buffer);
    born_.erase(&buffer);
}

int Recorder::Hold(Buffer& buffer, bool is_borrowed) {
    if (const auto it = held_.find(&buffer); it != held_.end()) return it->second;
    if (is_borrowed) {
        if (const auto it = held_data_.find(buffer.data()); it != held_data_.end()) {
            return it->second;
        }
    }
    const int index = static_cast<int>(recording_->memories.size());
    Memory& memory = recording_->memories.emplace_back(MemoryKind::kHeld, *buffer.device(),
                                                       static_cast<char*>(buffer.data()));
    memory.Hold(buffer);
    memory.is_borrowed = is_borrowed;
    held_[&buffer] = index;
    if (is_borrowed) held_data_[buffer.data()] = index;
    return index;
}

// Nothing is in it, so it need not be the same memory in each call.
Place Recorder::FindEmpty(Device& device) {
    const auto [it, is_new] =
        empty_.try_emplace(&device, static_cast<int>(recording_->memories.size()));
    if (is_new) recording_->memories.emplace_back(MemoryKind::kTemporary, device, nullptr);
    return {it->second, 0};
}

Place Recorder::Find(const Array& x) {
    Buffer& buffer = *x.buffer();
    if (x.GetTotalSize() == 0) return FindEmpty(x.device());
    {
        const std::lock_guard lock{g_mutex};
        if (const auto it = born_.find(&buffer); it != born_.end()) {
            if (it->second.memory < 0) {
                it->second.memory = static_cast<int>(recording_->memories.size());
                Memory& memory = recording_->memories.emplace_back(
                    MemoryKind::kTemporary, x.device(), static_cast<char*>(buffer.data()));
                memory.nbytes = buffer.nbytes();
                memory.first_use = recording_->calls.size();
            }
            return {it->second.memory, x.offset()};
        }
    }
    const Extent e = RangeOf(x);
    for (const Argument& argument : arguments_) {
        if (argument.begin <= e.begin && e.end <= argument.end && argument.begin != argument.end) {
            return {argument.memory, x.raw_data() - argument.begin};
        }
    }
    bool is_borrowed;
    {
        const std::lock_guard lock{g_mutex};
        is_borrowed = borrowed_.contains(&buffer);
    }
    return {Hold(buffer, is_borrowed), x.offset()};
}

RecordedArray Recorder::Keep(OperandRole role, const Array& x, std::vector<Array>& kept) {
    const Place place = Find(x);
    Memory& memory = recording_->memories[static_cast<size_t>(place.memory)];
    memory.stand_in->Ref();
    Array y = MakeArray(x.shape(), x.strides(), x.dtype(), x.device(), memory.stand_in,
                        static_cast<char*>(memory.stand_in->data()) + place.offset);
    y.body()->read_only = x.body()->read_only;
    memory.views.push_back(y.body());
    const RecordedArray array{place, role, y.body()};
    kept.push_back(std::move(y));
    return array;
}

void Recorder::Record(KernelCall& call) {
    Keep(call);
    try {
        const Unobserved by_kernels;
        call.Proceed();
    } catch (const std::bad_alloc&) {
        has_failed_ = true;  // the next time there may be more memory
        throw;
    } catch (const OutOfMemoryError&) {
        has_failed_ = true;
        throw;
    } catch (...) {
        Refuse("an error of a kernel is caught");  // where nobody does, this is not read
        throw;
    }
}

void Recorder::Keep(KernelCall& call) {
    if (has_failed_) return;
    const FailureMark mark{*this};
    RecordedCall recorded{&call.device(), nullptr, {}, {}, Locate(), recording_->calls.size()};
    std::vector<Array> kept;
    const size_t n_before = recording_->memories.size();
    bool reads_unwritten = false;
    call.ForEachArray([&](const OperandInfo& info, const Array& x) {
        recorded.arrays.push_back(Keep(info.role, x, kept));
    });
    size_t next = 0;
    recorded.call =
        std::make_unique<KeptCall>(call.data(), [&](const Array&) { return kept[next++]; });
    for (const RecordedArray& x : recorded.arrays) {
        Memory& memory = recording_->memories[static_cast<size_t>(x.place.memory)];
        const bool is_written = x.role != OperandRole::kIn;
        if (is_written && static_cast<size_t>(x.place.memory) >= n_before) {
            memory.begins_written = true;
        }
        if (!memory.made.empty()) continue;
        if (is_written) {
            memory.made = StrCat(call.kernel().name, At(recorded.where));
        } else if (memory.kind == MemoryKind::kTemporary && x.body->shape.GetTotalSize() != 0) {
            reads_unwritten = true;
        }
    }
    recording_->calls.push_back(std::move(recorded));
    // A backend that did not tell of what the host wrote, or a program that reads any numbers.
    if (reads_unwritten) Refuse("an array is read that nothing has written");
}

void Recorder::CallHost(std::shared_ptr<HostCode> code, std::span<const Array> inputs,
                        std::span<const uint32_t> n_kept, std::span<const Array> outputs) {
    const std::span<const Array> all = inputs.empty() ? outputs : inputs;
    Device& device = all.empty() ? GetDefaultDevice() : all[0].device();
    RecordedCall recorded{&device, nullptr, {}, {}, Locate(), recording_->calls.size()};
    recorded.host = std::make_unique<HostCall>(
        HostCall{std::move(code), inputs.size(), recording_->keys.size(), {}});
    const auto keep = [&](const Array& x, OperandRole role) {
        const RecordedArray array = Keep(role, x, recorded.host->kept);
        recorded.arrays.push_back(array);
        Memory& memory = recording_->memories[static_cast<size_t>(array.place.memory)];
        if (memory.made.empty()) memory.made = StrCat(recorded.name(), At(recorded.where));
    };
    for (const Array& x : inputs) {
        keep(x, x.IsWritable() ? OperandRole::kInOut : OperandRole::kIn);
    }
    for (const Array& x : outputs) keep(x, OperandRole::kOut);
    {
        const std::lock_guard lock{g_mutex};
        for (size_t i = 0; i < inputs.size(); ++i) {
            const auto it = born_.find(inputs[i].buffer());
            if (it != born_.end()) it->second.n_kept += n_kept[i];
        }
    }
    recording_->calls.push_back(std::move(recorded));
}

Place Recorder::FindBytes(Device& device, char* data, int64_t nbytes) {
    Buffer* found = nullptr;
    {
        const std::lock_guard lock{g_mutex};
        for (const auto& [buffer, temporary] : born_) {
            auto* const begin = static_cast<char*>(buffer->data());
            if (buffer->device() == &device && begin <= data &&
                data + nbytes <= begin + temporary.nbytes) {
                found = const_cast<Buffer*>(buffer);
                found->Ref();
                break;
            }
        }
    }
    if (found == nullptr) return {-1, 0};
    const Array x = MakeArray(Shape{nbytes}, Strides{1}, Dtype::kUInt8, device, found, data);
    return Find(x);
}

void Recorder::CopiedFromHost(Device& device, void* dst, const void* src, int64_t nbytes) {
    if (has_failed_) return;
    const FailureMark mark{*this};
    if (nbytes == 0) return;
    const Place place = FindBytes(device, static_cast<char*>(dst), nbytes);
    if (place.memory < 0) return Refuse("the host writes to an array from before the step");
    const auto* const bytes = static_cast<const std::byte*>(src);
    HostBytes host{place, {bytes, bytes + nbytes}, -1};
    if (nbytes >= static_cast<int64_t>(sizeof(uint64_t))) {
        uint64_t first;
        std::memcpy(&first, src, sizeof(first));
        // The last one of these: keys that were drawn are used at once.
        for (size_t i = drawn_.size(); i-- != 0;) {
            if (drawn_[i] && first - *drawn_[i] < kMaxKeysOfDraw) {
                host.key = static_cast<int>(i);
                host.add = first - *drawn_[i];
                std::memset(host.bytes.data(), 0, sizeof(first));  // so that bytes can be compared
                break;
            }
        }
    }
    RecordedCall recorded{&device,         nullptr,  {},
                          std::move(host), Locate(), recording_->calls.size()};
    Memory& memory = recording_->memories[static_cast<size_t>(place.memory)];
    if (memory.made.empty()) memory.made = StrCat(recorded.name(), At(recorded.where));
    recording_->calls.push_back(std::move(recorded));
}

void Recorder::Drew(std::optional<uint64_t> key, std::function<uint64_t()> draw) {
    if (has_failed_) return;
    const FailureMark mark{*this};
    if (key && std::ranges::find(drawn_, key) != drawn_.end()) return;
    drawn_.push_back(key);
    recording_->keys.push_back(std::move(draw));
}

bool Recorder::DrawAgain() {
    if (std::ranges::any_of(drawn_, [](const auto& key) { return !key; })) return false;
    const Unobserved by_ourselves;
    for (const auto& draw : recording_->keys) draw();
    return true;
}

void Recorder::Doubt(const char* why) { recording_->doubt = why; }

void Recorder::Add(std::shared_ptr<ReplayPart> part, std::span<const Array> arrays) {
    if (has_failed_) return;
    const FailureMark mark{*this};
    using Again = ReplayPart::Again;
    for (const auto& other : recording_->parts) {
        if (part->again() == Again::kDone || !part->IsSame(*other)) continue;
        if (part->again() == Again::kRefused) Refuse("an optimizer makes two updates");
        return;
    }
    recording_->parts.push_back(std::move(part));
    part_arrays_.emplace_back(arrays.begin(), arrays.end());
}

void Recorder::Refuse(const char* what) {
    if (has_failed_) return;
    const FailureMark mark{*this};
    Fail(StrCat("capture: ", what, At(Locate()),
                ", which a replay can't repeat; do that outside of the captured step, with "
                "arrays that the step returns"));
}

void Recorder::Fail(std::string message) {
    refused_ = std::move(message);
    t_state.capture = nullptr;
}

void Recorder::Discard(std::string reason) {
    discarded_ = std::move(reason);
    t_state.capture = nullptr;
}

bool Recorder::Was(const Array& x) const {
    {
        const std::lock_guard lock{g_mutex};
        if (born_.contains(x.buffer()) || borrowed_.contains(x.buffer())) return false;
    }
    const Extent range = RangeOf(x);
    return std::ranges::none_of(arguments_, [&](const Argument& argument) {
        return argument.begin < range.end && range.begin < argument.end;
    });
}

bool Recorder::Uses(const Array& x) const {
    const Extent range = RangeOf(x);
    if (range.begin == range.end) return false;
    std::vector<int> memories;
    for (const Argument& argument : arguments_) {
        if (argument.begin < range.end && range.begin < argument.end) {
            memories.push_back(argument.memory);
        }
    }
    if (memories.empty()) return recording_->IsHeld(range);
    return std::ranges::any_of(recording_->calls, [&](const RecordedCall& call) {
        return std::ranges::any_of(call.arrays, [&](const RecordedArray& operand) {
            return std::ranges::find(memories, operand.place.memory) != memories.end();
        });
    });
}

void Recorder::KeepLeaf(Slot& slot) {
    if (leaves_.insert(&slot).second) slot.Ref();
}

void Recorder::Called(std::span<const ConstArrayRef> inputs) {
    if (has_failed_) return;
    const FailureMark mark{*this};
    for (const ConstArrayRef& x : inputs) {
        Slot* const slot = x.get().body()->slot;
        if (slot != nullptr && IsLeaf(*slot)) KeepLeaf(*slot);
    }
}

RecordedGrad* Recorder::FindTouched(const Slot& slot, uint64_t id) {
    const auto it = std::ranges::find_if(
        touched_, [&](const RecordedGrad& g) { return g.slot == &slot && g.id == id; });
    return it != touched_.end() ? &*it : nullptr;
}

void Recorder::ReadGrad(Slot& slot, uint64_t id, const Array& grad) {
    if (has_failed_) return;
    const FailureMark mark{*this};
    if (!IsLeaf(slot) || FindTouched(slot, id) != nullptr) return;
    KeepLeaf(slot);
    RecordedGrad& touched = touched_.emplace_back(RecordedGrad{&slot, -1, id});
    if (grad.is_null()) {
        touched.before = RecordedGrad::Before::kAbsent;
        return;
    }
    touched.before = RecordedGrad::Before::kPresent;
    recording_->has_shared_grad |= std::ranges::any_of(arguments_, [&](const Argument& other) {
        return internal::MayShareMemory(other.array, grad);
    });
    touched.memory = AddArgument(grad);
    touched.strides = grad.strides();
    touched.begin = arguments_.back().begin;
    recording_->argument_arrays.push_back(Detached(grad));
}

void Recorder::WroteGrad(Slot& slot, uint64_t id, bool is_cleared) {
    if (has_failed_) return;
    const FailureMark mark{*this};
    if (!IsLeaf(slot)) return;
    RecordedGrad* grad = FindTouched(slot, id);
    if (grad == nullptr) {
        KeepLeaf(slot);
        grad = &touched_.emplace_back(RecordedGrad{&slot, -1, id});
    }
    grad->last_write = recording_->calls.size();
    if (grad->first_write != RecordedGrad::kNever) return;
    grad->first_write = grad->last_write;
    grad->begins_cleared = is_cleared;
}

void Recorder::Recorded(Node*, std::span<const ConstArrayRef>, std::span<const Array>) {}

int Recorder::AddOutput(const Array& x) {
    recording_->outputs.push_back(
        {Find(x), x.shape(), x.strides(), x.dtype(), &x.device(), x.body()->read_only});
    return static_cast<int>(recording_->outputs.size()) - 1;
}

void Recorder::FindGrads() {
    // In the order in which they were first touched, which is the same in each recording.
    for (RecordedGrad grad : touched_) {
        Slot* const slot = grad.slot;
        if (slot->body == nullptr) continue;  // of an array that the step made, and has forgotten
        for (const Argument& a : arguments_) {
            if (grad.memory >= 0 && a.memory == grad.memory) grad.writes = WritesOf(a);
        }
        for (size_t i = 0; i < recording_->argument_memories.size(); ++i) {
            if (arguments_[i].array.body()->slot == slot) grad.argument = static_cast<int>(i);
        }
        const Array now = slot->FindGrad(grad.id);
        if (!now.is_null()) {
            const Place place = Find(now);
            const MemoryKind kind = recording_->memories[static_cast<size_t>(place.memory)].kind;
            // Left as it was, or an array that was there before.
            grad.is_set = !(place.memory == grad.memory || kind == MemoryKind::kHeld);
            if (grad.is_set) {
                grad.output = AddOutput(now);
                grads_.push_back(now);
            }
        }
        if (grad.argument >= 0) {
            grad.slot = nullptr;
        } else {
            slot->Ref();
        }
        recording_->grads.push_back(grad);
    }
    for (Slot* slot : leaves_) {
        if (slot->body == nullptr || slot->variable == nullptr) continue;
        const auto is_it = [&](const Argument& a) { return a.array.body()->slot == slot; };
        if (std::ranges::any_of(arguments_, is_it)) continue;
        slot->Ref();
        recording_->variables.push_back(slot);
    }
}

void Recorder::CheckNothingEscaped(std::span<const Array> outputs, void (*collect)()) {
    const auto find = [&]() -> int {
        const std::lock_guard lock{g_mutex};
        for (const auto& [buffer, temporary] : born_) {
            if (temporary.memory < 0 || buffer->use_count() <= temporary.n_kept) continue;
            const auto is_here = [b = buffer](const Array& x) { return x.buffer() == b; };
            const auto has = [&](const auto& arrays) {
                return std::ranges::any_of(arrays, is_here);
            };
            if (!has(outputs) && !has(grads_) && std::ranges::none_of(part_arrays_, has)) {
                return temporary.memory;
            }
        }
        return -1;
    };
    if (find() < 0) return;
    if (collect != nullptr) collect();
    const int memory = find();
    if (memory < 0) return;
    const bool has_object = recording_->result.find('<') != std::string::npos;
    throw CaptureError{
        "capture: an array made by ", recording_->memories[static_cast<size_t>(memory)].made,
        " is still in use after the step; a replay would not make a new one. Return "
        "it from the step, in tuples, lists, dicts or dataclasses",
        has_object ? "; the result was " : "", has_object ? recording_->result : std::string{}};
}

void Recorder::AddWhatIsInUse(std::vector<Array>& outputs, void (*collect)()) {
    t_state.capture = nullptr;
    if (collect != nullptr) collect();
    std::vector<std::pair<int, Buffer*>> found;
    {
        const std::lock_guard lock{g_mutex};
        for (const auto& [buffer, temporary] : born_) {
            if (temporary.memory < 0 || temporary.nbytes == 0) continue;
            found.emplace_back(temporary.memory, const_cast<Buffer*>(buffer));
            found.back().second->Ref();
        }
    }
    std::ranges::sort(found);
    for (const auto& [memory, buffer] : found) {
        const int64_t nbytes = buffer->nbytes();
        outputs.push_back(MakeArray(Shape{nbytes}, Strides{1}, Dtype::kUInt8, *buffer->device(),
                                    buffer, static_cast<char*>(buffer->data())));
    }
}

std::unique_ptr<Recording> Recorder::Finish(std::span<const Array> outputs, void (*collect)(),
                                            std::string result) {
    t_state.capture = nullptr;
    recording_->result = std::move(result);
    if (!refused_.empty()) throw CaptureError{refused_};
    for (size_t i = 0; i < recording_->argument_memories.size(); ++i) {
        recording_->argument_writes.push_back(WritesOf(arguments_[i]));
    }
    for (const Array& x : outputs) AddOutput(x);
    recording_->n_results = outputs.size();
    for (const std::vector<Array>& arrays : part_arrays_) {
        for (const Array& x : arrays) AddOutput(x);
        recording_->part_outputs.push_back(arrays.size());
    }
    FindGrads();
    CheckNothingEscaped(outputs, collect);
    for (Memory& memory : recording_->memories) {
        if (memory.held != nullptr) memory.writes = memory.held->version() - memory.version;
        if (memory.held != nullptr) memory.version = memory.held->version();
    }
    return std::move(recording_);
}

}  // namespace chainerx::internal
