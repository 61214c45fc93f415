// Nothing is allocated in the event loop once its buffers have grown: a longer run of the same kind allocates just as
// often. operator new is replaced for this test program, to count.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <new>

#include "tests/sim/small_program.h"

namespace {

std::uint64_t allocations = 0;

void* count_and_allocate(std::size_t size, std::size_t alignment) {
  ++allocations;
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void* or_throw(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) {
  return or_throw(count_and_allocate(size, alignof(std::max_align_t)));
}
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return count_and_allocate(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return or_throw(count_and_allocate(size, static_cast<std::size_t>(alignment)));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}

namespace stepsim {
namespace {

std::uint64_t allocations_of(const Small& made, std::uint32_t steps) {
  const std::uint64_t before = allocations;
  const Timeline t = made.play({.exact_steps = steps});
  EXPECT_EQ(t.steps, steps);
  return allocations - before;
}

/// A ring of 8 in which each sends `count` times round, over links of its own or all over one.
Small ring(std::uint32_t count, bool shared) {
  constexpr std::uint32_t n = 8;
  Small made;
  auto routes = made.ring_routes(n, GB, ps(300 * ns));
  if (shared) routes.assign(n, routes[0]);
  TransferPlan plan = ring_plan(n, 1000);
  for (Role& role : plan.roles) {
    for (Run& run : role.runs) run.count = count;
  }
  made.add_collective(made.communicator("ring", n), plan, routes);
  const std::uint32_t program = made.new_program();
  made.collective("net", 0);
  for (std::uint32_t i = 0; i < n; ++i) made.add_class(program);
  return made;
}

TEST(Allocation, TransfersThatShareNothingAllocateNothing) {
  EXPECT_EQ(allocations_of(ring(1000, false), 1), allocations_of(ring(100, false), 1));
}

TEST(Allocation, TransfersThatShareALinkAllocateNothing) {
  EXPECT_EQ(allocations_of(ring(1000, true), 1), allocations_of(ring(100, true), 1));
}

// The timeline keeps a few numbers per step (its end, its count of ops) and link totals of the last few; the
// collectives of the step find the state of those before.
TEST(Allocation, AStepAllocatesOnlyItsRecords) {
  const Small made = ring(100, false);
  EXPECT_LE(allocations_of(made, 64), allocations_of(made, 32) + 32 * 2 + 8);
}

}  // namespace
}  // namespace stepsim
