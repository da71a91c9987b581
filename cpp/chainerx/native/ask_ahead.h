// Whether loops ask for memory before its turn comes.
#pragma once

namespace chainerx::native {

// Intel's wait for the third-level cache within long expressions: asked ahead, they take a tenth to
// a fifth less. AMD's bring by themselves what comes next, and take up to a third more, where the
// operands exceed that cache (x + y of float64 in benchmarks/routines.py). Set with the instruction
// set.
extern bool asks_ahead;

}  // namespace chainerx::native
