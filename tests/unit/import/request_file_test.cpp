// SPDX-License-Identifier: Apache-2.0
#include "workloads/import/request_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/base/error.hpp"

namespace lacuna {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::string& text) {
  try {
    read_requests(text, "r.csv");
  } catch (const TraceError& error) {
    return error.what();
  }
  return "";
}

TEST(RequestFile, ArrivalsAreSecondsToTheNanosecond) {
  const auto requests = read_requests(
      "# two of them\narrival,prompt,output\n0,128,32\n\n1.000000001, 5 ,1\n2.5,1,1\n", "r.csv");
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(requests[0].arrival_ns, 0U);
  EXPECT_EQ(requests[0].prompt, 128U);
  EXPECT_EQ(requests[0].output, 32U);
  EXPECT_EQ(requests[0].positions(), 159U);
  EXPECT_EQ(requests[1].arrival_ns, 1'000'000'001U);
  EXPECT_EQ(requests[1].prompt, 5U);
  EXPECT_EQ(requests[2].arrival_ns, 2'500'000'000U);
}

TEST(RequestFile, SaysLineAndColumnOfAllThatIsWrong) {
  const std::string all = error_of("arrival,prompt,output\n1,8,8\n0.5,0,8\n2,8,x\n-1,8,8\n3,8\n");
  EXPECT_THAT(all, HasSubstr("r.csv:3:1"));
  EXPECT_THAT(all, HasSubstr("order of their arrival"));
  EXPECT_THAT(all, HasSubstr("r.csv:3:5"));
  EXPECT_THAT(all, HasSubstr("whole number of tokens from 1"));
  EXPECT_THAT(all, HasSubstr("r.csv:4:5"));
  EXPECT_THAT(all, HasSubstr("r.csv:5:1"));
  EXPECT_THAT(all, HasSubstr("r.csv:6:1"));
  EXPECT_THAT(all, HasSubstr("2 cells"));
  EXPECT_THAT(error_of("time,prompt,output\n0,1,1\n"), HasSubstr("arrival,prompt,output"));
  EXPECT_THAT(error_of("arrival,prompt,output\n"), HasSubstr("no row after the header"));
  EXPECT_THAT(error_of(""), HasSubstr("no header"));
  for (const char* const arrival : {"1.", ".5", "1e3", "1.0000000001", "1000000001", ""}) {
    EXPECT_THAT(error_of("arrival,prompt,output\n" + std::string(arrival) + ",1,1\n"),
                HasSubstr("r.csv:2"))
        << arrival;
  }
}

}  // namespace
}  // namespace lacuna
