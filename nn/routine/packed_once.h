// A constant that several layers of a model use is packed once: in a small file, many layers may
// use the same weights.
#ifndef INTAGLIO_NN_ROUTINE_PACKED_ONCE_H_
#define INTAGLIO_NN_ROUTINE_PACKED_ONCE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// Any number of threads may use one object at once.
class PackedOnce {
 public:
  PackedOnce() = default;
  // Takes over what any of `earlier` has made of the same constants, instead of making it again,
  // until ForgetEarlier. The constants of `earlier` must live until then.
  explicit PackedOnce(std::vector<std::shared_ptr<PackedOnce>> earlier)
      : earlier_(std::move(earlier)) {}
  void ForgetEarlier() { earlier_.clear(); }

  // Identifies a form of one type: addresses and numbers, in an order that the maker chooses.
  using Key = std::vector<int64_t>;

  // Returns the form of type T that was made for this key. If there is none, make() makes it now,
  // or it is taken over, and `is_new` becomes true. make() returns a Result of a shared T.
  template <class T, class Make>
  Result<std::shared_ptr<const T>> Get(const Key& key, const Make& make, bool& is_new) {
    const Key typed = Typed(key, &TypeTag<T>);
    const Use entry(*this, typed);
    const std::lock_guard<std::mutex> lock(entry->mutex);
    if (entry->form == nullptr) {
      for (const auto& earlier : earlier_) {
        if (entry->form == nullptr) entry->form = earlier->Held(typed);
      }
      if (entry->form == nullptr) {
        Result<std::shared_ptr<const T>> made = make();
        if (!made.ok()) return made;
        entry->form = *made;
      }
      is_new = true;
    }
    return std::static_pointer_cast<const T>(entry->form);
  }

  // How many forms are held or being made.
  size_t count() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return entries_.size();
  }

 private:
  struct Entry {
    std::mutex mutex;
    std::shared_ptr<const void> form;
    int users = 0;  // guarded by the mutex of all entries
  };
  using Entries = std::map<Key, Entry>;
  template <class T>
  static constexpr char TypeTag = 0;

  static Key Typed(Key key, const void* type) {
    key.push_back(static_cast<int64_t>(reinterpret_cast<uintptr_t>(type)));
    return key;
  }

  // The entry of a key while a thread uses it. The last user of an entry whose form could not be
  // made removes it.
  class Use {
   public:
    Use(PackedOnce& all, const Key& key) : all_(all) {
      const std::lock_guard<std::mutex> lock(all_.mutex_);
      place_ = all_.entries_.try_emplace(key).first;
      ++place_->second.users;
    }
    ~Use() {
      const std::lock_guard<std::mutex> lock(all_.mutex_);
      Entry& entry = place_->second;
      if (--entry.users == 0 && entry.form == nullptr) all_.entries_.erase(place_);
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    Entry* operator->() const { return &place_->second; }

   private:
    PackedOnce& all_;
    Entries::iterator place_;
  };

  // The form, or null.
  std::shared_ptr<const void> Held(const Key& key) {
    const Use entry(*this, key);
    const std::lock_guard<std::mutex> lock(entry->mutex);
    return entry->form;
  }

  std::vector<std::shared_ptr<PackedOnce>> earlier_;
  std::mutex mutex_;
  Entries entries_;
};

// A packed constant. Layers that use the same constant share it.
template <class Form>
struct PackedOf {
  Form form;
  size_t new_bytes = 0;  // 0 if another layer has packed it
};

// A form of a layer's constant, from the model's PackedOnce or, without one, made for this layer
// alone. Each kernel has a form of its own, and so has each way to add float32: packed float32
// knows the loops that read it.
template <class T, class Make>
Result<std::shared_ptr<const T>> PackOnce(const LayerOptions& options, PackedOnce::Key key,
                                          const Make& make, bool& is_new) {
  if (options.packed == nullptr) {
    is_new = true;
    return make();
  }
  key.insert(key.end(), options.kernel.begin(), options.kernel.end());
  key.push_back(static_cast<int64_t>(options.kernel.size()));
  key.push_back(static_cast<int64_t>(options.float_sums));
  return options.packed->Get<T>(key, make, is_new);
}

inline int64_t KeyOf(const void* address) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(address));
}

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_ROUTINE_PACKED_ONCE_H_
