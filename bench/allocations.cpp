#include "bench/allocations.h"

#include <cstdlib>
#include <new>

namespace {

std::uint64_t& count() {
  static std::uint64_t calls = 0;
  return calls;
}

void* or_throw(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

namespace stepsim {

std::uint64_t allocations() {
  return count();
}

}  // namespace stepsim

// The forms for arrays, with a size or with nothrow end in these four. [new.delete]
void* operator new(std::size_t size) {
  ++count();
  return or_throw(std::malloc(size > 0 ? size : 1));
}

void* operator new(std::size_t size, std::align_val_t alignment) {
  ++count();
  const auto unit = static_cast<std::size_t>(alignment);
  return or_throw(std::aligned_alloc(unit, (size + unit - 1) / unit * unit));
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
