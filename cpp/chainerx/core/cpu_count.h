// The number of CPUs that this process may use.
#pragma once

namespace chainerx::internal {

// Returns the CPUs that the affinity mask and the quota of the cgroup allow, at most `most`. The
// first call reads the files of the cgroup.
int CountCpus(int most);

}  // namespace chainerx::internal
