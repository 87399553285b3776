// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/matrix/given_masks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "sim/base/error.hpp"
#include "workloads/trace/matrix/pattern_file.hpp"
#include "workloads/trace/row_mask.hpp"

namespace lacuna {
namespace {

std::shared_ptr<const Mask> diagonal(std::uint32_t side) {
  auto mask = std::make_shared<Mask>();
  mask->rows = mask->cols = side;
  mask->offsets.push_back(0);
  for (std::uint32_t i = 0; i < side; ++i) {
    mask->columns.push_back(i);
    mask->offsets.push_back(i + 1U);
  }
  return mask;
}

TEST(GivenMask, StandsWhereverAFileMayStand) {
  const GivenMask given(diagonal(4));
  EXPECT_EQ(read_pattern_file(given.name()).mask, *diagonal(4));
}

TEST(GivenMask, EqualMasksHaveEqualNamesAndOthersHaveNot) {
  const GivenMask first(diagonal(4));
  const GivenMask again(diagonal(4));
  const GivenMask larger(diagonal(5));
  EXPECT_EQ(first.name(), again.name());
  EXPECT_NE(first.name(), larger.name());
}

TEST(GivenMask, LivesAsLongAsItsLastHolder) {
  std::optional<GivenMask> first(diagonal(4));
  const std::string name = first->name();
  std::optional<GivenMask> again(diagonal(4));
  first.reset();
  EXPECT_NE(find_given_mask(name), nullptr);
  again.reset();
  EXPECT_THROW(find_given_mask(name), TraceError);
}

TEST(GivenMask, APathIsNoneOfThem) { EXPECT_EQ(find_given_mask("a/given:b.smtx"), nullptr); }

}  // namespace
}  // namespace lacuna
