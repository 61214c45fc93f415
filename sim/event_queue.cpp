#include "sim/event_queue.h"

#include <algorithm>

namespace stepsim {

void EventQueue::take_instant(std::vector<QueuedEvent>& batch) {
  batch.clear();
  if (size_ == 0) return;
  Bucket* bucket = &buckets_[earliest_bucket()];
  const auto [least, most] = range(*bucket);
  last_ = static_cast<std::uint64_t>(least.count());
  if (least != most) {
    redistribute(*bucket);
    bucket = &buckets_[bucket_of(least)];
  }
  empty_into(batch, *bucket);
  size_ -= batch.size();
}

/// Lower levels are nearer in time, and so are lower digits within a level.
std::size_t EventQueue::earliest_bucket() const {
  const auto word = static_cast<std::size_t>(std::countr_zero(occupied_words_));
  return word * 64 + static_cast<std::size_t>(std::countr_zero(occupied_[word]));
}

std::pair<Picoseconds, Picoseconds> EventQueue::range(const Bucket& bucket) const {
  Picoseconds least = Picoseconds::max();
  Picoseconds most;
  for (std::uint32_t c = bucket.first; c != nil; c = chunks_[c].next) {
    for (std::uint32_t i = 0; i < chunks_[c].size; ++i) {
      const Picoseconds time = chunks_[c].events[i].time;
      least = std::min(least, time);
      most = std::max(most, time);
    }
  }
  return {least, most};
}

void EventQueue::empty_into(std::vector<QueuedEvent>& batch, Bucket& bucket) {
  for (std::uint32_t c = bucket.first; c != nil; c = free_chunk(c)) {
    batch.insert(batch.end(), chunks_[c].events.begin(), chunks_[c].events.begin() + chunks_[c].size);
  }
  bucket = {};
  mark(bucket, false);
}

/// Each event into a lower bucket.
void EventQueue::redistribute(Bucket& bucket) {
  std::uint32_t c = bucket.first;
  bucket = {};
  mark(bucket, false);
  for (; c != nil; c = free_chunk(c)) {
    for (std::uint32_t i = 0; i < chunks_[c].size; ++i) put(QueuedEvent(chunks_[c].events[i]));
  }
}

void EventQueue::add_chunk(Bucket& bucket) {
  std::uint32_t added = free_;
  if (added == nil) {
    added = static_cast<std::uint32_t>(chunks_.size());
    chunks_.emplace_back();
  } else {
    free_ = chunks_[added].next;
    chunks_[added].size = 0;
    chunks_[added].next = nil;
  }
  if (bucket.first == nil) {
    bucket.first = added;
    mark(bucket, true);
  } else {
    chunks_[bucket.last].next = added;
  }
  bucket.last = added;
}

/// Returns the chunk that came after it.
std::uint32_t EventQueue::free_chunk(std::uint32_t chunk) {
  const std::uint32_t next = std::exchange(chunks_[chunk].next, free_);
  free_ = chunk;
  return next;
}

void EventQueue::mark(const Bucket& bucket, bool occupied) {
  const auto index = static_cast<std::size_t>(&bucket - buckets_.data());
  const std::uint64_t bit = std::uint64_t{1} << (index % 64);
  std::uint64_t& word = occupied_[index / 64];
  word = occupied ? word | bit : word & ~bit;
  const std::uint32_t word_bit = std::uint32_t{1} << (index / 64);
  occupied_words_ = word != 0 ? occupied_words_ | word_bit : occupied_words_ & ~word_bit;
}

}  // namespace stepsim
