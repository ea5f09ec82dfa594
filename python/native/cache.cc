#include "native/cache.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace oprt_python {
namespace {

class Mixer {
 public:
  void add(uint64_t value) { state_ = std::rotl((state_ ^ value) * 0x9e3779b97f4a7c15u, 29); }
  size_t result() const { return state_ ^ (state_ >> 31); }

 private:
  uint64_t state_ = 0x243f6a8885a308d3u;
};

bool same_view(const oprt_tensor_view_t& a, const oprt_tensor_view_t& b) {
  return a.dtype == b.dtype && a.device.type == b.device.type && a.device.id == b.device.id && a.ndim == b.ndim &&
         std::equal(a.shape, a.shape + a.ndim, b.shape) && std::equal(a.strides, a.strides + a.ndim, b.strides);
}

}  // namespace

DescriptorCache::Entry::Entry(const Request& request)
    : hash(Hash()(request)), op(request.op), backend(request.backend), attributes(request.attributes), views{} {
  std::copy(request.views, request.views + 1 + op->num_inputs, views.begin());
}

// What differs most from call to call; strides, backend and attributes are left to the comparison, which takes everything in.
size_t DescriptorCache::Hash::operator()(const Request& request) const {
  Mixer mixer;
  mixer.add(reinterpret_cast<uintptr_t>(request.op));
  for (int k = 0; k <= request.op->num_inputs; ++k) {
    const oprt_tensor_view_t& view = request.views[k];
    mixer.add(static_cast<uint64_t>(view.dtype) << 32 | static_cast<uint64_t>(view.ndim));
    for (int d = 0; d < view.ndim; ++d) mixer.add(static_cast<uint64_t>(view.shape[d]));
  }
  return mixer.result();
}

bool DescriptorCache::Equal::same(const Request& a, const Request& b) {
  return a.op == b.op && a.backend == b.backend && a.attributes == b.attributes &&
         std::equal(a.views, a.views + 1 + a.op->num_inputs, b.views, same_view);
}

std::shared_ptr<const Descriptor> DescriptorCache::find(const Request& request) {
  const std::lock_guard lock(mutex_);
  const auto found = index_.find(request);
  if (found == index_.end()) return nullptr;
  ++info_.hits;
  entries_.splice(entries_.begin(), entries_, *found);
  return (*found)->descriptor;
}

std::shared_ptr<const Descriptor> DescriptorCache::create(const Request& request) {
  auto descriptor = std::make_shared<const Descriptor>(request);
  std::shared_ptr<const Descriptor> evicted;  // destroyed after the lock is gone
  const std::lock_guard lock(mutex_);
  ++info_.creates;
  std::list<Entry> fresh;
  fresh.emplace_front(request);
  if (!index_.insert(fresh.begin()).second) return descriptor;  // another thread created the same one
  entries_.splice(entries_.begin(), fresh);
  entries_.front().descriptor = descriptor;
  if (entries_.size() > kCapacity) {
    const Position last = std::prev(entries_.end());
    evicted = std::move(last->descriptor);
    index_.erase(last);
    entries_.erase(last);
    ++info_.evictions;
  }
  return descriptor;
}

DescriptorCache::Info DescriptorCache::info() {
  const std::lock_guard lock(mutex_);
  Info info = info_;
  info.size = entries_.size();
  return info;
}

void DescriptorCache::clear() {
  std::list<Entry> dropped;
  const std::lock_guard lock(mutex_);
  index_.clear();
  dropped.swap(entries_);
  info_ = {};
}

DescriptorCache& descriptor_cache() {
  static DescriptorCache* const cache = new DescriptorCache;
  return *cache;
}

}  // namespace oprt_python
