// SPDX-License-Identifier: Apache-2.0
#include "tests/support/agreement/request.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <ostream>

#include "tests/support/driver/random_operation.hpp"
#include "tests/support/driver/real_program.hpp"

namespace lacuna::test {
namespace {

std::optional<std::uint64_t> environment(const char* name) {
  const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  if (text == nullptr) return std::nullopt;
  return std::stoull(text);
}

/// The columns of a summary that do not depend on how a run was asked for.
constexpr const char* kAgreed[] = {"m",
                                   "k",
                                   "n",
                                   "density",
                                   "cycles",
                                   "time_s",
                                   "useful_flop",
                                   "utilisation",
                                   "sram_read_bytes",
                                   "sram_write_bytes",
                                   "fabric_bytes",
                                   "io_bytes",
                                   "energy_j",
                                   "energy_low_j",
                                   "energy_high_j",
                                   "power_w",
                                   "silicon_mm2"};

Numbers numbers_of_row(const nlohmann::json& row) {
  Numbers numbers;
  numbers.status = row.at("status").get<std::string>();
  if (numbers.status != "ok" && row.at("reason").is_string()) {
    numbers.status += ": " + row.at("reason").get<std::string>();
  }
  for (const char* name : kAgreed) {
    const nlohmann::json& value = row.at(name);
    numbers.values[name] = value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
  }
  return numbers;
}

}  // namespace

std::uint64_t draws() { return environment("LACUNA_DRAWS").value_or(50); }

void for_each_draw(const std::function<void(Random& random)>& property) {
  const std::optional<std::uint64_t> only = environment("LACUNA_DRAW");
  const std::uint64_t end = only ? *only + 1 : draws();
  for (std::uint64_t draw = only.value_or(0); draw < end; ++draw) {
    SCOPED_TRACE("LACUNA_DRAW=" + std::to_string(draw));
    Random random(draw + 1);
    property(random);
    if (testing::Test::HasFatalFailure()) return;
  }
}

std::string Request::shape() const {
  return std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n);
}

std::vector<std::string> Request::product() const { return {"--gemm", shape(), "--dtype", dtype}; }

std::vector<std::string> Request::options() const {
  std::vector<std::string> words;
  for (const std::string& setting : settings) {
    words.insert(words.end(), {"--set", setting});
  }
  words.insert(words.end(), {"--seed", std::to_string(seed)});
  if (!pattern.empty()) words.insert(words.end(), {"--pattern", pattern});
  return words;
}

Request small_product(Random& random) {
  const std::vector<std::string> densities = {"1", "0.5", "0.25", "0.1", "0.02"};
  Request request;
  request.machine = pick<std::string>(random, {"gc200", "bow", "c600", "wse1", "wse2", "wse3"});
  if (request.machine.rfind("wse", 0) == 0) {
    request.settings = {"wafer.columns=" + std::to_string(1 + random.bounded(12)),
                        "wafer.rows=" + std::to_string(1 + random.bounded(12))};
  } else {
    request.settings = {"ipu.tiles=" + pick<std::string>(random, {"16", "64", "184"})};
  }
  request.m = 16 * upto(random, 8);
  request.k = 16 * upto(random, 8);
  request.n = upto(random, 48);
  request.pattern = pick<std::string>(random, {"unstructured", "block4", "block16", "nm:2:4"});
  if (request.pattern != "nm:2:4") request.pattern += ":" + pick(random, densities);
  request.dtype = pick<std::string>(random, {"fp16", "fp32"});
  request.seed = upto(random, 1000);
  return request;
}

std::ostream& operator<<(std::ostream& out, const Numbers& numbers) {
  out << numbers.status;
  for (const auto& [name, value] : numbers.values) {
    out << "\n  " << name << " ";
    value ? out << testing::PrintToString(*value) : out << "-";
  }
  return out;
}

std::multimap<std::string, Numbers> rows_of(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = arguments;
  words.insert(words.end(), {"--json", "--quiet"});
  const Ran ran = run_real(words);
  const auto printed = nlohmann::json::parse(ran.out, nullptr, false);
  if (!printed.is_array()) return {{"TOTAL", Numbers{ran.err, {}}}};
  std::multimap<std::string, Numbers> rows;
  for (const nlohmann::json& row : printed) {
    rows.emplace(row.at("op_id").get<std::string>(), numbers_of_row(row));
  }
  return rows;
}

std::vector<Numbers> numbers_of(const std::vector<std::string>& arguments,
                                const std::string& op_id) {
  const auto all = rows_of(arguments);
  const auto [first, last] = all.equal_range(op_id);
  std::vector<Numbers> rows;
  for (auto row = first; row != last; ++row) rows.push_back(row->second);
  return rows;
}

void expect_close(const Numbers& numbers, const Numbers& other) {
  constexpr double kRoundings = 1e-12;
  EXPECT_EQ(numbers.status, other.status);
  ASSERT_EQ(numbers.values.size(), other.values.size());
  for (const auto& [name, value] : numbers.values) {
    const std::optional<double> known = other.values.at(name);
    ASSERT_EQ(value.has_value(), known.has_value()) << name;
    EXPECT_NEAR(value.value_or(0), known.value_or(0), kRoundings * std::abs(known.value_or(0)))
        << name;
  }
}

}  // namespace lacuna::test
