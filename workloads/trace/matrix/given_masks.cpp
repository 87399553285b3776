// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/matrix/given_masks.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/mix.hpp"
#include "sim/base/texts.hpp"

namespace lacuna {
namespace {

constexpr const char* kMark = "given:";

struct Known {
  std::shared_ptr<const Mask> mask;
  int holders = 0;
};

/// The masks of this process, by name.
struct Registry {
  std::mutex mutex;
  std::map<std::string, Known> masks;
};

Registry& registry() {
  static Registry known;
  return known;
}

}  // namespace

std::string digest(const Mask& mask) {
  std::uint64_t first = mix(mask.rows);
  std::uint64_t second = mix(~std::uint64_t{mask.cols});
  const auto add = [&](std::uint64_t value) {
    first = mix(first ^ value);
    second = mix(second + value);
  };
  add(std::uint64_t{mask.block_rows} << 32U | mask.block_cols);
  for (const std::uint64_t offset : mask.offsets) add(offset);
  for (const std::uint32_t column : mask.columns) add(column);
  return fmt::format("{:016x}{:016x}", first, second);
}

GivenMask::GivenMask(std::shared_ptr<const Mask> mask)
    : name_(kMark + digest(*mask)), mask_(std::move(mask)) {
  const std::lock_guard<std::mutex> lock(registry().mutex);
  Known& known = registry().masks[name_];
  if (known.holders++ == 0) known.mask = mask_;
}

GivenMask::~GivenMask() {
  const std::lock_guard<std::mutex> lock(registry().mutex);
  const auto known = registry().masks.find(name_);
  if (--known->second.holders == 0) registry().masks.erase(known);
}

std::shared_ptr<const Mask> find_given_mask(const std::string& path) {
  if (!starts_with(path, kMark)) return nullptr;
  const std::lock_guard<std::mutex> lock(registry().mutex);
  const auto known = registry().masks.find(path);
  if (known != registry().masks.end()) return known->second.mask;
  throw TraceError(fmt::format(
      "{}: a mask that a program gave, and which it no longer has: no file can stand for it",
      path));
}

}  // namespace lacuna
