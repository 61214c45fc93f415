#include "sim/event_queue.h"

#include <algorithm>

namespace stepsim {

void EventQueue::take_instant(std::vector<QueuedEvent>& batch) {
  batch.clear();
  if (size_ == 0) return;
  if (buckets_[0].empty()) {
    const auto source = std::find_if(buckets_.begin(), buckets_.end(), [](const auto& b) { return !b.empty(); });
    const auto least =
        std::min_element(source->begin(), source->end(), [](const auto& a, const auto& b) { return a.time < b.time; });
    last_ = static_cast<std::uint64_t>(least->time.count());
    for (const QueuedEvent& event : *source) buckets_[bucket_of(event.time)].push_back(event);
    source->clear();
  }
  batch.swap(buckets_[0]);
  size_ -= batch.size();
}

}  // namespace stepsim
