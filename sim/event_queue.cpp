#include "sim/event_queue.h"

#include <algorithm>

namespace stepsim {

void EventQueue::take_instant(std::vector<QueuedEvent>& batch) {
  batch.clear();
  if (size_ == 0) return;
  if (buckets_[0].empty()) {
    std::vector<QueuedEvent>& source = buckets_[static_cast<std::size_t>(std::countr_zero(occupied_)) + 1];
    occupied_ &= occupied_ - 1;
    const auto least = std::min_element(source.begin(), source.end(),
                                        [](const auto& one, const auto& other) { return one.time < other.time; });
    last_ = static_cast<std::uint64_t>(least->time.count());
    for (const QueuedEvent& event : source) put(event);  // each into a lower bucket
    source.clear();
  }
  batch.swap(buckets_[0]);
  size_ -= batch.size();
}

}  // namespace stepsim
