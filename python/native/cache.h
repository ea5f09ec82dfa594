// The descriptors of one-shot calls, so that a call like an earlier one creates nothing.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_set>

#include "native/descriptor.h"

namespace oprt_python {

// At most kCapacity descriptors; the one not used for longest leaves first. A key is compared in full, its hash only finds it. A
// descriptor that leaves while it executes lives until that call is over. Safe for threads; finding one allocates nothing.
class DescriptorCache {
 public:
  static constexpr size_t kCapacity = 256;

  struct Info {
    size_t hits;
    size_t creates;
    size_t evictions;
    size_t size;
  };

  // nullptr where there is none yet.
  std::shared_ptr<const Descriptor> find(const Request& request);
  // Creates a descriptor and keeps it. Raises the Python error of a failed create, keeping nothing.
  std::shared_ptr<const Descriptor> create(const Request& request);

  Info info();
  void clear();  // empties it and sets the counts to 0

 private:
  struct Entry {
    explicit Entry(const Request& request);
    Request key() const { return {op, backend, views.data(), attributes}; }

    size_t hash;
    const Operator* op;
    oprt_backend_t backend;
    Attributes attributes;
    std::array<oprt_tensor_view_t, kMaxOperands> views;
    std::shared_ptr<const Descriptor> descriptor;
  };
  using Position = std::list<Entry>::iterator;

  struct Hash {
    using is_transparent = void;
    size_t operator()(const Request& request) const;
    size_t operator()(const Position& position) const { return position->hash; }
  };
  struct Equal {
    using is_transparent = void;
    static bool same(const Request& a, const Request& b);
    bool operator()(const Position& a, const Position& b) const { return same(a->key(), b->key()); }
    bool operator()(const Request& a, const Position& b) const { return same(a, b->key()); }
    bool operator()(const Position& a, const Request& b) const { return same(a->key(), b); }
  };

  std::mutex mutex_;
  std::list<Entry> entries_;  // used last, first
  std::unordered_set<Position, Hash, Equal> index_;
  Info info_{};
};

// Of this process; never destroyed, because work may outlive main.
DescriptorCache& descriptor_cache();

}  // namespace oprt_python
