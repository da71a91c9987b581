// Runs all tests, or those whose names contain an argument.
#include <algorithm>

#include "test.h"

int main(int argc, char** argv) {
    chainerx::Context context;
    chainerx::SetGlobalDefaultContext(&context);
    chainerx::random::Uniform({1});  // the state of the default generator stays on the device
    int n_run = 0;
    int n_failed = 0;
    std::vector<cxtest::Test>& tests = cxtest::Tests();
    // Tests that fork come first: others leave gigabytes in the pools, and each fork copies their
    // pages' table.
    std::stable_partition(tests.begin(), tests.end(), [](const cxtest::Test& test) {
        return std::strncmp(test.name, "Fork", 4) == 0;
    });
    for (const cxtest::Test& test : tests) {
        bool wanted = argc == 1;
        for (int i = 1; i < argc; ++i) wanted |= std::strstr(test.name, argv[i]) != nullptr;
        if (!wanted) continue;
        ++n_run;
        std::string text;
        chainerx::SetLeakTracking(true);
        try {
            test.run();
        } catch (const cxtest::Failure& f) {
            text = f.text;
        } catch (const std::exception& e) {
            text = std::string{"exception: "} + e.what();
        }
        const chainerx::LiveCounts live = chainerx::GetLiveCounts();
        if (text.empty() && (live.bodies != 0 || live.nodes != 0 || live.buffers != 0)) {
            text = "left behind: " + std::to_string(live.bodies) + " bodies, " +
                   std::to_string(live.nodes) + " nodes, " + std::to_string(live.buffers) +
                   " buffers";
        }
        n_failed += text.empty() ? 0 : 1;
        std::cout << (text.empty() ? "ok      " : "FAILED  ") << test.name;
        std::cout << (text.empty() ? "" : "  ") << text << std::endl;
    }
    std::cout << n_run << " tests, " << n_failed << " failed" << std::endl;
    return n_failed == 0 && n_run > 0 ? 0 : 1;
}
