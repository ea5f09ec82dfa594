#include "core/thread_count.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace oprt {
namespace {

constexpr int kMaxThreads = 256;

// 0 where the variable is not set or no number from 1 to 256.
int from_environment() {
  const char* text = std::getenv("OPRT_NUM_THREADS");
  if (text == nullptr || *text == '\0') return 0;
  int count = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, count);
  if (error == std::errc() && stop == end && count >= 1 && count <= kMaxThreads) return count;
  if (std::getenv("OPRT_VERBOSE") != nullptr) {
    std::fprintf(stderr, "oprt threads: OPRT_NUM_THREADS is \"%s\", expected 1..%d; ignored\n", text, kMaxThreads);
  }
  return 0;
}

int from_affinity() {
  // The kernel refuses a mask that is smaller than its own, which may be larger than cpu_set_t.
  for (size_t sets = 1; sets <= 64; sets *= 2) {
    std::vector<cpu_set_t> mask(sets);
    const size_t size = sets * sizeof(cpu_set_t);
    if (sched_getaffinity(0, size, mask.data()) == 0) return CPU_COUNT_S(size, mask.data());
  }
  return 1;
}

// "max 100000" (no bound) or "150000 100000": quota and period in microseconds. 0 for no bound.
double read_quota_v2(const std::string& folder) {
  std::ifstream file(folder + "/cpu.max");
  double quota = 0;
  double period = 0;
  return file >> quota >> period && period > 0 ? quota / period : 0;
}

double read_quota_v1(const std::string& folder) {
  double quota = 0;
  double period = 0;
  std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;
  std::ifstream(folder + "/cpu.cfs_period_us") >> period;
  return quota > 0 && period > 0 ? quota / period : 0;
}

// The tightest quota of this process's cgroup and the groups above it, in CPUs; 0 for no bound.
double from_cgroup() {
  double tightest = 0;
  const auto walk_up = [&](const std::string& mount, std::string group, double (*read)(const std::string&)) {
    while (true) {
      const double quota = read(mount + group);
      if (quota > 0 && (tightest == 0 || quota < tightest)) tightest = quota;
      if (group.empty() || group == "/") return;
      const size_t slash = group.find_last_of('/');
      group.erase(slash != std::string::npos ? slash : 0);
    }
  };
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "0::/path" is version 2, "4:cpu,cpuacct:/path" version 1
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    std::string controllers = line.substr(first, second - first + 1);
    std::replace(controllers.begin(), controllers.end(), ':', ',');
    const std::string group = line.substr(second + 1);
    if (controllers == ",,") {
      walk_up("/sys/fs/cgroup", group, read_quota_v2);
    } else if (controllers.find(",cpu,") != std::string::npos) {
      walk_up("/sys/fs/cgroup/cpu", group, read_quota_v1);
    }
  }
  return tightest;
}

}  // namespace

int count_threads() {
  const int wanted = from_environment();
  if (wanted > 0) return wanted;
  int count = from_affinity();
  const double quota = from_cgroup();
  if (quota > 0) count = std::min(count, static_cast<int>(std::ceil(std::min(quota, double{kMaxThreads}))));
  return std::clamp(count, 1, kMaxThreads);
}

}  // namespace oprt
