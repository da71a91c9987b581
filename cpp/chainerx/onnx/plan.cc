#include "chainerx/onnx/plan.h"

namespace chainerx::onnx {
namespace {

// All that a step reads, in graphs within it, too.
void AddRead(const Step& step, std::vector<int>* read) {
    for (const int slot : step.inputs) {
        if (slot != kNoSlot) read->push_back(slot);
    }
    for (const Attribute& a : step.attributes) {
        if (a.block == nullptr) continue;
        for (const Step& inner : a.block->steps) AddRead(inner, read);
        read->insert(read->end(), a.block->outputs.begin(), a.block->outputs.end());
    }
}

}  // namespace

std::vector<int> ReadBy(const Step& step) {
    std::vector<int> read;
    AddRead(step, &read);
    return read;
}

void FreeEarly(const std::unordered_set<int>& kept, Block* block) {
    std::unordered_set<int> own(block->inputs.begin(), block->inputs.end());
    for (const Step& step : block->steps) own.insert(step.outputs.begin(), step.outputs.end());
    std::unordered_set<int> later(block->outputs.begin(), block->outputs.end());
    later.insert(kept.begin(), kept.end());
    later.insert(kNoSlot);
    for (size_t i = block->steps.size(); i-- > 0;) {
        Step& step = block->steps[i];
        step.freed.clear();
        std::vector<int> slots = ReadBy(step);
        slots.insert(slots.end(), step.outputs.begin(), step.outputs.end());
        for (const int slot : slots) {
            if (own.contains(slot) && later.insert(slot).second) step.freed.push_back(slot);
        }
    }
}

}  // namespace chainerx::onnx
