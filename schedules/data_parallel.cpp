// data_parallel.cpp: gradient buckets of plain data parallelism (Li et al. 2020; book, "Data parallelism").
//
// An all-reduce moves twice the bytes of the gradients over the group, and has from the bucket's last weight gradient
// until the optimizer to do so.
#include "schedules/gradients.h"

namespace stepsim {

void Gradients::add_to_bucket(int unit, OpId gradient) {
  bucket_.push_back({unit, gradient});
  bucket_bytes_ += whole(unit);
  if (bucket_bytes_ >= strategy_.bucket) reduce_bucket();
}

void Gradients::reduce_bucket() {
  OpId done = bucket_.back().op;
  if (!data_axes_.empty()) {
    const WeightUnit& first = tape_.units[static_cast<std::size_t>(bucket_.front().unit)];
    const std::string label = bucket_.size() == 1 ? first.name : "bucket";
    PendingOp pending = writer_.collective(CollectiveKind::all_reduce, data_axes_, bucket_bytes_, Queue::reduce,
                                           "all-reduce " + label, false);
    set_tag(pending, first.layer, static_cast<std::int32_t>(strategy_.microbatches) - 1);
    pending.waits_for.push_back({done, 0, Event::end});  // compute runs in order: the last is the latest
    done = writer_.add(pending);
  }
  for (const Ready& member : bucket_) ready_.push_back({member.unit, data_axes_.empty() ? member.op : done});
  bucket_.clear();
  bucket_bytes_ = 0;
}

}  // namespace stepsim
