// What the test driver's libcuda exports besides the driver's functions.
#pragma once

#include <cstdint>

// What is alive: allocations and handles of memory, of all devices and of the host; and the bytes
// of the devices'.
struct cx_test_statistics {
    std::uint64_t live_allocations, live_bytes;
};

#pragma GCC visibility push(default)
extern "C" {
// Replaces the failures that are planned, in the form of CHAINERX_CUDA_TEST_FAIL.
void cx_test_fail(const char* plan);
// Reads the environment anew, but for the number of devices; nothing may run meanwhile.
void cx_test_reload();
void cx_test_stats(cx_test_statistics* statistics);
// How often a function was called, or all bits if there is none of the name.
unsigned long long cx_test_calls(const char* symbol);
// Forgets the launches so far, and begins or ends to list them.
void cx_test_log_launches(bool enable);
// Copies the names of those listed, one a line in the order of the calls, and returns the bytes of
// all: kernels, copies, fills, calls of libraries. They are listed when they are asked for, also
// where kernels do not run.
unsigned long long cx_test_launches(char* text, unsigned long long size);

// For the stand-ins for NVIDIA's libraries. Queues run(data), or adds it to a captured graph;
// drop(data) comes when it can't run any more. Returns a CUresult.
int cx_test_enqueue(void* stream, void (*run)(void*), void* data, void (*drop)(void*));
// Does memory of a device, or pinned memory, have all these bytes?
bool cx_test_covers(const void* p, std::uint64_t nbytes);
}
#pragma GCC visibility pop
