#include "chainerx/capture/replay.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "chainerx/capture/fuse.h"
#include "chainerx/capture/memory_plan.h"
#include "chainerx/capture/recorder.h"
#include "chainerx/core/error.h"
#include "chainerx/core/interrupt.h"
#include "chainerx/core/overlap.h"

namespace chainerx::internal {
namespace {

char* BaseOf(const Array& x) { return RangeOf(x).begin; }

}  // namespace

Replay::Replay(std::unique_ptr<Recording> recording, const Recording& first, Options options)
    : recording_{std::move(recording)}, n_fused_{options.fuse ? Fuse(*recording_) : 0} {
    recording_->argument_arrays.clear();
    FixPlaces(first, options);
    AddCalls();
    AddHeldMemory(first);
    FindSources();
    keys_.resize(recording_->keys.size());
    FindOwnGrads();
    PlanMemory();
    MakeGraph();
    FindStreams();
}

void Replay::FixPlaces(const Recording& first, Options options) {
    for (size_t i = 0; i < recording_->argument_extents.size(); ++i) {
        is_fixed_.push_back(!options.has_own_arguments && recording_->argument_extents[i].begin ==
                                                              first.argument_extents[i].begin);
    }
    for (size_t i = 0; i < recording_->grads.size(); ++i) {
        RecordedGrad& grad = recording_->grads[i];
        // The step may also use that array by itself.
        if (grad.begin != first.grads[i].begin) grad.begin = nullptr;
    }
}

void Replay::AddCalls() {
    for (const RecordedCall& call : recording_->calls) {
        entries_.push_back({call.device, call.call.get(), call.bytes ? &*call.bytes : nullptr,
                            call.host ? &call : nullptr, call.time, call.is_masked});
    }
}

void Replay::AddHeldMemory(const Recording& first) {
    for (size_t i = 0; i < recording_->memories.size(); ++i) {
        Memory& memory = recording_->memories[i];
        if (memory.held == nullptr) continue;
        auto* const begin = static_cast<char*>(memory.held->data());
        held_extents_.push_back({begin, begin + memory.held->nbytes()});
        // If the count began before the memory was found, both recordings together show it.
        if (memory.begins_written && i < first.memories.size() &&
            memory.held == first.memories[i].held &&
            memory.version - first.memories[i].version > memory.writes) {
            ++memory.writes;
        }
        (memory.is_borrowed ? borrowed_ : held_).push_back(&memory);
        if (memory.writes != 0) written_.push_back(&memory);
    }
}

void Replay::FindSources() {
    for (const RecordedOutput& output : recording_->outputs) {
        sources_.push_back(SourceOf(output.place));
    }
    for (const RecordedCall& call : recording_->calls) {
        if (!call.host) continue;
        std::vector<Source>& sources =
            host_sources_.emplace_back(&call, std::vector<Source>{}).second;
        for (const RecordedArray& x : call.arrays) sources.push_back(SourceOf(x.place));
    }
}

void Replay::MakeGraph() {
    std::vector<int> results;
    std::vector<int> grads;
    for (const Fresh& f : fresh_) (f.grad >= 0 ? grads : results).push_back(f.memory);
    graph_ = std::make_unique<GraphReplay>(*recording_, is_fixed_, results, grads);
    if (!graph_->is_possible()) graph_ = nullptr;
}

void Replay::FindStreams() {
    for (const Entry& entry : entries_) order_.Add(*entry.device);
    for (const Array& arena : arenas_) order_.Add(*arena.buffer());
    for (const Memory& memory : recording_->memories) {
        if (memory.held != nullptr) order_.Add(*memory.held);
    }
}

Replay::Source Replay::SourceOf(const Place& place) {
    const Memory& memory = recording_->memories[static_cast<size_t>(place.memory)];
    Source source{};
    if (memory.kind == MemoryKind::kArgument) {
        const auto& all = recording_->argument_memories;
        const auto& grads = recording_->grads;
        const auto it = std::ranges::find(all, place.memory);
        if (it != all.end()) {
            source.argument = static_cast<int>(it - all.begin());
        } else {
            source.grad = static_cast<int>(
                std::ranges::find(grads, place.memory, &RecordedGrad::memory) - grads.begin());
        }
    } else if (memory.kind == MemoryKind::kTemporary) {
        auto it = std::ranges::find(fresh_, place.memory, &Fresh::memory);
        if (it == fresh_.end()) {
            it = fresh_.insert(it, {place.memory, memory.stand_in->device(), memory.nbytes});
        }
        source.fresh = static_cast<int>(it - fresh_.begin());
    }
    return source;
}

void Replay::FindOwnGrads() {
    for (size_t i = 0; i < recording_->grads.size(); ++i) {
        const RecordedGrad& grad = recording_->grads[i];
        if (grad.before != RecordedGrad::Before::kAny || grad.output < 0) continue;
        const int fresh = sources_[static_cast<size_t>(grad.output)].fresh;
        if (fresh < 0 || std::ranges::count(sources_, fresh, &Source::fresh) != 1) continue;
        // What an error before it is cleared has to leave.
        const auto memory = static_cast<size_t>(fresh_[static_cast<size_t>(fresh)].memory);
        if (!grad.begins_cleared || recording_->memories[memory].first_use < grad.first_write)
            continue;
        fresh_[static_cast<size_t>(fresh)].grad = static_cast<int>(i);
    }
}

void Replay::PlanMemory() {
    std::vector<PlannedBlock> blocks(recording_->memories.size(), {0, -1, -1});
    const auto use = [&](const Place& place, size_t when) {
        PlannedBlock& block = blocks[static_cast<size_t>(place.memory)];
        if (block.first < 0) block.first = static_cast<int64_t>(when);
        block.last = static_cast<int64_t>(when);
    };
    for (size_t i = 0; i < recording_->calls.size(); ++i) {
        const RecordedCall& call = recording_->calls[i];
        for (const RecordedArray& x : call.arrays) use(x.place, i);
        if (call.bytes) use(call.bytes->to, i);
    }
    std::vector<Device*> devices;
    const auto is_planned = [&](size_t i, const Device* device) {
        const Memory& memory = recording_->memories[i];
        return memory.kind == MemoryKind::kTemporary && blocks[i].first >= 0 &&
               memory.stand_in->device() == device &&
               std::ranges::find(fresh_, static_cast<int>(i), &Fresh::memory) == fresh_.end();
    };
    for (const Memory& memory : recording_->memories) {
        Device* const device = memory.stand_in->device();
        if (std::ranges::find(devices, device) == devices.end()) devices.push_back(device);
    }
    for (Device* device : devices) {
        std::vector<PlannedBlock> planned;
        std::vector<size_t> indices;
        for (size_t i = 0; i < blocks.size(); ++i) {
            if (!is_planned(i, device)) continue;
            blocks[i].nbytes = recording_->memories[i].nbytes;
            planned.push_back(blocks[i]);
            indices.push_back(i);
        }
        // As aligned as arrays of their own: libraries choose by that.
        const int64_t align = device->default_stream() != nullptr ? 256 : 64;
        const int64_t nbytes = internal::PlanMemory(planned, align);
        if (planned.empty()) continue;
        const Array arena = EmptyUnchecked({nbytes}, Dtype::kUInt8, *device);
        for (size_t k = 0; k < planned.size(); ++k) {
            recording_->memories[indices[k]].MoveTo(arena.raw_data() + planned[k].offset);
        }
        arenas_.push_back(arena);
        nbytes_ += nbytes;
    }
}

int64_t Replay::nbytes() const {
    int64_t total = nbytes_ + (graph_ != nullptr ? graph_->nbytes() : 0);
    for (const auto& chain : recording_->chains) {
        if (chain->plan != nullptr) total += chain->plan->nbytes();
    }
    return total;
}

bool Replay::IsAbandoned() const {
    for (const Memory* memory : held_) {
        if (memory->held->use_count() <= memory->holders->load(std::memory_order_relaxed)) {
            return true;
        }
    }
    return !std::ranges::all_of(recording_->variables, &IsCurrentVariable);
}

void Replay::FindPresent(std::span<const Array> arguments) {
    present_.clear();
    for (const RecordedGrad& grad : recording_->grads) {
        Array now{};
        if (grad.memory >= 0) {
            now = grad.SlotIn(arguments)->FindGrad(grad.id);
            if (now.is_null())
                throw ChainerxError{"capture: another thread has cleared a gradient"};
        }
        present_.push_back(std::move(now));
    }
}

bool Replay::IsHeld(Extent range) const {
    return std::ranges::any_of(held_extents_, [range](const Extent& held) {
        return range.begin < held.end && held.begin < range.end;
    });
}

const char* Replay::FindOtherUse(std::span<const Array> arguments) const {
    for (size_t i = 0; i < arguments.size(); ++i) {
        const Extent range = RangeOf(arguments[i]);
        if (range.begin == range.end) continue;
        if (is_fixed_[i] && range.begin != recording_->argument_extents[i].begin) {
            return "an argument was the same array before, and is another one now";
        }
        if (IsHeld(range)) return "an argument is an array that it uses by itself, too";
    }
    for (size_t i = 0; i < present_.size(); ++i) {
        const Array& grad = present_[i];
        if (grad.is_null()) continue;
        char* const begin = recording_->grads[i].begin;
        if (begin != nullptr && begin != BaseOf(grad)) {
            return "a gradient was the same array before, and is another one now";
        }
        const auto is_shared = [&](const Array& x) { return internal::MayShareMemory(x, grad); };
        if (std::ranges::any_of(arguments, is_shared) || IsHeld(RangeOf(grad))) {
            return "a gradient is an array that it uses by itself, too";
        }
    }
    return nullptr;
}

void Replay::MarkWritten(std::span<const Array> arguments) {
    for (Memory* memory : written_) {
        memory->held->ForgetWrites(memory->held->version() + memory->writes);
    }
    for (size_t i = 0; i < arguments.size(); ++i) {
        const uint32_t writes = recording_->argument_writes[i];
        Buffer& buffer = *arguments[i].buffer();
        if (writes != 0) buffer.ForgetWrites(buffer.version() + writes);
    }
    for (size_t i = 0; i < present_.size(); ++i) {
        const uint32_t writes = recording_->grads[i].writes;
        if (writes == 0 || present_[i].is_null()) continue;
        Buffer& buffer = *present_[i].buffer();
        buffer.ForgetWrites(buffer.version() + writes);
    }
}

void Replay::Run(const Entry& entry) {
    const KernelFn fn = entry.device->kernels()[entry.call->kernel().id];
    if (fn != nullptr) [[likely]] {
        entry.call->Run(fn);
    } else {
        CallHooked(entry.call->DataFor(*entry.device));
    }
}

void Replay::RunCalls() {
    for (const Entry& entry : entries_) {
        time_ = entry.time;
        if (entry.is_masked) [[unlikely]] {
            const NoInterruptScope scope;
            Run(entry);
            continue;
        }
        if (entry.call != nullptr) [[likely]] {
            Run(entry);
            continue;
        }
        if (entry.host != nullptr) {
            RunHost(*entry.host);
            continue;
        }
        const HostBytes& host = *entry.bytes;
        if (graph_ != nullptr && graph_->IsWritten(host)) continue;
        const Memory& memory = recording_->memories[static_cast<size_t>(host.to.memory)];
        char* const to = static_cast<char*>(memory.stand_in->data()) + host.to.offset;
        entry.device->CopyFromHost(to, host.bytes.data(), static_cast<int64_t>(host.bytes.size()));
        if (host.key >= 0) {
            const uint64_t key = keys_[static_cast<size_t>(host.key)] + host.add;
            entry.device->CopyFromHost(to, &key, sizeof(key));
        }
    }
}

void Replay::TakeFresh(std::span<const Array> arguments) {
    for (Fresh& f : fresh_) {
        if (f.grad >= 0) {
            const RecordedGrad& grad = recording_->grads[static_cast<size_t>(f.grad)];
            const RecordedOutput& output = recording_->outputs[static_cast<size_t>(grad.output)];
            if (Slot* const slot = grad.SlotIn(arguments)) f.old_grad = slot->TakeOwnGrad(grad.id);
            const Array& x = f.old_grad;
            if (!x.is_null() && x.buffer()->nbytes() == f.nbytes && &x.device() == f.device &&
                x.offset() == output.place.offset && x.dtype() == output.dtype &&
                x.shape() == output.shape && x.strides() == output.strides &&
                x.body()->read_only == output.read_only) {
                f.buffer = x.buffer();
                order_.Use(*f.buffer);
            }
        }
        if (f.buffer == nullptr) {
            f.buffer = f.device->Allocate(f.nbytes);
            f.is_allocated = true;
        }
        recording_->memories[static_cast<size_t>(f.memory)].MoveTo(
            static_cast<char*>(f.buffer->data()));
    }
}

// Arrays have references of their own. Old gradients are there only if the step has failed.
void Replay::ReleaseFresh(std::span<const Array> arguments) noexcept {
    for (Fresh& f : fresh_) {
        Buffer* const buffer = std::exchange(f.buffer, nullptr);
        if (std::exchange(f.is_allocated, false)) buffer->Unref();
        if (f.old_grad.is_null()) continue;
        const RecordedGrad& grad = recording_->grads[static_cast<size_t>(f.grad)];
        grad.SlotIn(arguments)->SetGrad(grad.id, std::exchange(f.old_grad, Array{}));
    }
}

Buffer* Replay::BufferOf(const Source& source, const Memory& memory,
                         std::span<const Array> arguments) const {
    if (source.fresh >= 0) return fresh_[static_cast<size_t>(source.fresh)].buffer;
    if (source.argument >= 0) return arguments[static_cast<size_t>(source.argument)].buffer();
    if (source.grad >= 0) return present_[static_cast<size_t>(source.grad)].buffer();
    return memory.held;
}

void Replay::DrawKeys(size_t end) {
    for (; n_drawn_ < end; ++n_drawn_) keys_[n_drawn_] = recording_->keys[n_drawn_]();
}

// Arrays own their memory, so that the code may keep them.
void Replay::RunHost(const RecordedCall& call) {
    const auto sources =
        std::ranges::find(host_sources_, &call, &decltype(host_sources_)::value_type::first);
    std::vector<Array> arrays;
    for (size_t i = 0; i < call.arrays.size(); ++i) {
        const RecordedArray& x = call.arrays[i];
        const Memory& memory = recording_->memories[static_cast<size_t>(x.place.memory)];
        Buffer* const buffer = BufferOf(sources->second[i], memory, arguments_);
        buffer->Ref();
        const ArrayBody& body = *x.body;
        Array& y = arrays.emplace_back(
            MakeArray(body.shape, body.strides, body.dtype, *body.device, buffer, body.data));
        y.body()->read_only = body.read_only;
    }
    const std::span<const Array> all = arrays;
    call.host->code->Run(all.first(call.host->n_inputs), all.subspan(call.host->n_inputs));
    DrawKeys(KeysBefore(sources + 1 - host_sources_.begin()));
}

size_t Replay::KeysBefore(ptrdiff_t i) const {
    const auto n = static_cast<ptrdiff_t>(host_sources_.size());
    return i < n ? host_sources_[static_cast<size_t>(i)].first->host->n_keys : keys_.size();
}

Array Replay::MakeOutput(size_t i, std::span<const Array> arguments) {
    const RecordedOutput& output = recording_->outputs[i];
    const Memory& memory = recording_->memories[static_cast<size_t>(output.place.memory)];
    const Source& source = sources_[i];
    if (source.fresh >= 0) {
        Fresh& f = fresh_[static_cast<size_t>(source.fresh)];
        Array old = std::exchange(f.old_grad, Array{});
        if (!old.is_null() && old.buffer() == f.buffer) return old;
    }
    Buffer* const buffer = BufferOf(source, memory, arguments);
    buffer->Ref();
    Array x = MakeArray(output.shape, output.strides, output.dtype, *output.device, buffer,
                        static_cast<char*>(memory.stand_in->data()) + output.place.offset);
    x.body()->read_only = output.read_only;
    return x;
}

const char* Replay::Begin(std::span<const Array> arguments) {
    FindPresent(arguments);
    if (IsAbandoned()) return "an array that it uses was replaced by another one";
    const auto is_current = [](const Memory* m) { return IsCurrentBorrowed(*m->held); };
    if (!std::ranges::all_of(borrowed_, is_current)) {
        return "an array of NumPy that it uses was resized in place";
    }
    if (const char* reason = FindOtherUse(arguments)) return reason;
    order_.Begin(arguments);
    for (const auto& part : recording_->parts) {
        if (!part->Prepare()) {
            return "an optimizer, a variable or a setting that it uses has changed";
        }
    }
    return nullptr;
}

void Replay::MovePlaces(std::span<const Array> arguments) {
    Recording& recording = *recording_;
    for (size_t i = 0; i < arguments.size(); ++i) {
        const auto memory = static_cast<size_t>(recording.argument_memories[i]);
        recording.memories[memory].MoveTo(BaseOf(arguments[i]));
    }
    for (size_t i = 0; i < present_.size(); ++i) {
        if (present_[i].is_null()) continue;
        order_.Use(*present_[i].buffer());
        const int memory = recording.grads[i].memory;
        recording.memories[static_cast<size_t>(memory)].MoveTo(BaseOf(present_[i]));
    }
}

void Replay::Launch() {
    time_ = 0;
    if (graph_ != nullptr) {
        graph_->Run(keys_, [this] { RunCalls(); });
    } else {
        RunCalls();
    }
}

// Those that are as before the step are still there, or are put back by ReleaseFresh.
void Replay::SettleGrads(std::span<const Array> arguments) {
    for (const RecordedGrad& grad : recording_->grads) {
        Slot* const slot = grad.SlotIn(arguments);
        if (slot == nullptr || !grad.is_set || time_ < grad.first_write) continue;
        const bool is_done = time_ >= grad.last_write;
        if (!is_done && !grad.begins_cleared) continue;
        Array now{};
        if (is_done && grad.output >= 0) {
            now = MakeOutput(static_cast<size_t>(grad.output), arguments);
        } else {
            const auto has_it = [&](const Fresh& f) {
                return f.grad >= 0 && &recording_->grads[static_cast<size_t>(f.grad)] == &grad;
            };
            const auto it = std::ranges::find_if(fresh_, has_it);
            if (it != fresh_.end()) it->old_grad = Array{};
        }
        slot->SetGrad(grad.id, std::move(now));
    }
}

bool Replay::Run(std::span<const Array> arguments, std::vector<Array>& outputs,
                 const char*& reason) {
    Recording& recording = *recording_;
    const PresentScope present{present_};
    reason = Begin(arguments);
    if (reason != nullptr) return false;
    n_drawn_ = 0;
    DrawKeys(KeysBefore(0));
    MovePlaces(arguments);
    arguments_ = arguments;
    struct Guard {
        Replay& self;
        std::span<const Array> arguments;
        ~Guard() { self.ReleaseFresh(arguments); }
    } guard{*this, arguments};
    TakeFresh(arguments);
    MarkWritten(arguments);
    try {
        Launch();
    } catch (...) {
        const std::exception_ptr error = std::current_exception();
        try {
            SettleGrads(arguments);
        } catch (const std::bad_alloc&) {  // some are as before the step
        }
        std::rethrow_exception(error);
    }
    size_t next = recording.n_results;
    for (const size_t n : recording.part_outputs) next += n;
    outputs.reserve(next);
    for (size_t i = 0; i < next; ++i) outputs.push_back(MakeOutput(i, arguments));
    for (const RecordedGrad& grad : recording.grads) {
        Slot* const slot = grad.SlotIn(arguments);
        if (slot == nullptr || !grad.is_set) continue;
        slot->SetGrad(grad.id, grad.output < 0
                                   ? Array{}
                                   : MakeOutput(static_cast<size_t>(grad.output), arguments));
    }
    next = recording.n_results;
    for (size_t i = 0; i < recording.parts.size(); ++i) {
        const size_t n = recording.part_outputs[i];
        recording.parts[i]->Finish(std::span{outputs}.subspan(next, n));
        next += n;
    }
    outputs.resize(recording.n_results);
    return true;
}

}  // namespace chainerx::internal
