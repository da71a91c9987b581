// How many CPUs this process may use.
#pragma once

namespace chainerx::internal {

// Those that the affinity mask and the quota of the cgroup leave, at most `most`. The files of the
// cgroup are read by the first call.
int CountCpus(int most);

}  // namespace chainerx::internal
