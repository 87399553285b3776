// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/support/driver/real_program.hpp"
#include "tests/support/paths.hpp"

namespace lacuna::test {
namespace {

class Manual : public ::testing::TestWithParam<const char*> {};

TEST_P(Manual, PageIsWhatTheProgramSays) {
  const std::string subject = GetParam();
  const Ran ran = run_real("describe " + subject + " --markdown");
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::string page = source_path("doc/" + subject + ".md");
  if (renew(page, ran.out)) return;
  // not EXPECT_EQ: a page is too long to be shown twice
  EXPECT_TRUE(file_text(page) == ran.out)
      << page << " is not what `lacuna describe " << subject
      << " --markdown` prints; scripts/renew_golden.sh renews it";
}

std::string name_of(const ::testing::TestParamInfo<const char*>& info) { return info.param; }

INSTANTIATE_TEST_SUITE_P(Of, Manual, ::testing::Values("parameters", "statistics"), name_of);

}  // namespace
}  // namespace lacuna::test
