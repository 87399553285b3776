// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/base/error.hpp"
#include "tests/support/json_edit.hpp"
#include "tests/support/paths.hpp"
#include "workloads/import/import_table.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr auto with = test::with_member;

Imported read(const std::string& text, const Pairs& settings = {{"layers", "1"}}) {
  return import_text(text, "model.json", settings);
}

std::string shipped(const std::string& name) {
  return read_text_file(test::source_path("traces/configs/" + name));
}

// A reader would take the last of two, and nobody could say which was meant.
TEST(ModelConfig, HasEachKeyOnce) {
  const std::string text = shipped("mixtral-8x7b.json");
  const std::string twice = text.substr(0, text.rfind('}')) + R"(, "hidden_size": 2048})";
  EXPECT_THAT([&] { read(twice); },
              ThrowsMessage<TraceError>(AllOf(HasSubstr("key 'hidden_size'"), HasSubstr("E209"))));
  // of objects in objects each has its own
  const std::string inner = text.substr(0, text.rfind('}')) +
                            R"(, "rope_scaling": {"rope_type": "a", "rope_type": "b"}})";
  EXPECT_THAT([&] { read(inner); }, ThrowsMessage<TraceError>(HasSubstr("key 'rope_type'")));
}

TEST(ModelConfig, ANumberInQuotesIsNone) {
  const std::string text = shipped("mixtral-8x7b.json");
  EXPECT_THAT([&] { read(with(text, "num_hidden_layers", R"("32")")); },
              ThrowsMessage<TraceError>(HasSubstr(R"(found '"32"')")));
}

TEST(ModelConfig, MaskedPositionsAreOfBertsHeadAlone) {
  const auto refused = [](const std::string& text, Pairs settings, const char* why) {
    settings.emplace_back("predictions", "4");
    EXPECT_THAT([&] { read(text, settings); }, ThrowsMessage<RequestError>(HasSubstr(why)));
  };
  refused(shipped("mixtral-8x7b.json"), {}, "none but of BERT's head");
  const std::string bert = shipped("bert-tiny_training.json");
  refused(bert, {}, "none without heads");
  EXPECT_NO_THROW(read(bert, {{"predictions", "4"}, {"heads", "1"}}));
}

}  // namespace
}  // namespace lacuna
