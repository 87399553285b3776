// SPDX-License-Identifier: Apache-2.0
#include "workloads/import/request_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/base/error.hpp"

namespace lacuna {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string error_of(const std::string& text) {
  try {
    read_requests(text, "r.csv");
  } catch (const TraceError& error) {
    return error.what();
  }
  return "";
}

/// Arrival in nanoseconds, prompt, output.
std::vector<std::vector<std::uint64_t>> numbers(const RequestFile& file) {
  std::vector<std::vector<std::uint64_t>> all;
  for (const ServingRequest& each : file.requests) {
    all.push_back({each.arrival_ns, each.prompt, each.output});
  }
  return all;
}

TEST(RequestFile, ArrivalsAreSecondsToTheNanosecond) {
  const auto requests =
      read_requests(
          "# two of them\narrival,prompt,output\n0,128,32\n\n1.000000001, 5 ,1\n2.5,1,1\n", "r.csv")
          .requests;
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

// The first three lines of the trace of 2023; its year 2024 has zones. Eleven hours and a day lie
// between 23:30 in the zone of India, 18:00 in Greenwich, and 05:00 of the day after next there.
TEST(RequestFile, DatesCountFromTheFirstOne) {
  const RequestFile file = read_requests(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n"
      "2023-11-16 18:15:50.9951690,396,109\n2023-11-16 18:15:51.2225670,879,55\n",
      "r.csv");
  EXPECT_THAT(numbers(file),
              ElementsAre(ElementsAre(0, 374, 44), ElementsAre(4'314'579'000, 396, 109),
                          ElementsAre(4'541'977'000, 879, 55)));
  const std::string zones =
      "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-02-28 23:30:00+05:30,1,1\n"
      "2024-03-01T05:00:00.5Z,1,1\n";  // 2024 has a 29th of February
  EXPECT_EQ(read_requests(zones, "r.csv").requests[1].arrival_ns, 126'000'500'000'000U);
  for (const char* const date : {"2023-13-01 00:00:00", "2023-11-16", "16.11.2023 18:15",
                                 "2023-11-16 18:15:46+5", "2023-11-16 18:15:46."}) {
    EXPECT_THAT(
        error_of("TIMESTAMP,ContextTokens,GeneratedTokens\n" + std::string(date) + ",1,1\n"),
        HasSubstr("r.csv:2:1: error E202"))
        << date;
  }
  EXPECT_THAT(error_of(zones + "2024-03-02 05:00:00,1,1\n"), HasSubstr("in all dates or in none"));
}

TEST(RequestFile, ColumnsAreFoundByName) {
  const RequestFile lengths = read_requests(
      "num_prefill_tokens,num_decode_tokens,num_total_tokens,user_id\n40,6,46,0\n", "r.csv");
  EXPECT_THAT(numbers(lengths), ElementsAre(ElementsAre(0, 40, 6)));
  EXPECT_FALSE(lengths.has_arrivals);
  EXPECT_THAT(lengths.notes, ElementsAre(HasSubstr("vidur"), HasSubstr("not used: user_id")));
  // as pandas writes it: the number of the row first, floats of any length
  const RequestFile timed = read_requests(
      ",arrived_at,num_prefill_tokens,num_decode_tokens\n0,1e-05,7,2\n1,0.0233788490295,9,3\n",
      "r.csv");
  EXPECT_THAT(numbers(timed),
              ElementsAre(ElementsAre(10'000, 7, 2), ElementsAre(23'378'849, 9, 3)));
  EXPECT_THAT(error_of("num_prefill_tokens,num_decode_tokens,num_total_tokens\n40,6,47\n"),
              HasSubstr("allowed: 46"));
  EXPECT_THAT(error_of("num_prefill_tokens,num_decode_tokens,priority\n40,6,1\n"),
              HasSubstr("found 'priority'; allowed: the columns of vidur"));
  EXPECT_THAT(error_of("prompt,prompt,output,arrival\n1,1,1,1\n"), HasSubstr("each column once"));
}

TEST(RequestFile, RequestsThatFailedAreLeftOut) {
  const RequestFile file = read_requests(
      "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
      "5,ChatGPT,472,18,490,Conversation log\n45,ChatGPT,1087,0,1087,API log\n"
      "118,GPT-4,417,276,693,Conversation log\n",
      "r.csv");
  EXPECT_THAT(numbers(file), ElementsAre(ElementsAre(5'000'000'000, 472, 18),
                                         ElementsAre(118'000'000'000, 417, 276)));
  EXPECT_THAT(file.notes, testing::Contains("1 requests without an answer are left out"));
}

TEST(RequestFile, LinesOfJsonAndTabs) {
  const RequestFile shared = read_requests(
      R"({"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47]})"
      "\n"
      R"({"timestamp": 30535, "output_length": 26, "input_length": 6472, "hash_ids": [46]})"
      "\n",
      "r.jsonl");
  EXPECT_THAT(numbers(shared), ElementsAre(ElementsAre(27'482'000'000, 6955, 52),
                                           ElementsAre(30'535'000'000, 6472, 26)));
  EXPECT_THAT(shared.notes, testing::Contains(HasSubstr("hash_ids; prompts that share")));
  const RequestFile tabs =
      read_requests("input_toks\toutput_toks\tarrival_time_ns\n40\t6\t17\n", "r.tsv");
  EXPECT_THAT(numbers(tabs), ElementsAre(ElementsAre(17, 40, 6)));
  EXPECT_EQ(numbers(read_requests(R"({"input_toks": 40, "output_toks": 6, "arrival_time_ns": 17})",
                                  "r.jsonl")),
            numbers(tabs));
  EXPECT_THAT(
      error_of("{\"timestamp\": 1, \"input_length\": 2, \"output_length\": 3}\n{\"a\": 1}\n"),
      HasSubstr("r.csv:2:1: error E004"));
  EXPECT_THAT(error_of("{\"timestamp\": 1, \"input_length\": 2.5, \"output_length\": 3}\n"),
              HasSubstr("found '2.5'"));
  EXPECT_THAT(error_of("{\"prompt\": \"a\"}\n"), HasSubstr("Mooncake"));
}

TEST(RequestFile, AHeaderTellsRequestsFromOtherFiles) {
  EXPECT_TRUE(is_request_header("time, prompt_length, target_length, cached_length"));
  EXPECT_TRUE(is_request_header(R"({"timestamp": 1, "input_length": 2, "output_length": 3})"));
  EXPECT_FALSE(is_request_header(R"({"timestamp": 1, "input_length": {"output_length": 3}})"));
  EXPECT_FALSE(is_request_header("Layer,M,N,K"));
  EXPECT_FALSE(is_request_header("{"));
  EXPECT_FALSE(is_request_header(""));
}

}  // namespace
}  // namespace lacuna
