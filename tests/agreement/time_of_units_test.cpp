// SPDX-License-Identifier: Apache-2.0
// What charts and timelines show of a core's time is what its cycle stack says: waiting is never
// painted as work.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/agreement/request.hpp"
#include "tests/support/driver/real_program.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna::test {
namespace {

using Json = nlohmann::json;
using ByLayer = std::map<std::string, double>;

ByLayer of_stack(const std::string& folder) {
  ByLayer layers;
  const Json result = Json::parse(file_text(folder + "/result.json"));
  for (const Json& part : result.at("runs").at(0).at("operations").at(0).at("cycle_stack")) {
    layers[part.at("layer")] += part.at("unit_cycles").get<double>();
  }
  return layers;
}

ByLayer of_timeline(const std::string& folder) {
  ByLayer layers;
  const Json timeline = Json::parse(file_text(folder + "/timeline.json"));
  for (const Json& event : timeline.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    layers[event.at("cat")] += event.at("args").at("cycles").get<double>();
  }
  return layers;
}

// All cores of a wafer of 2 to 4 columns and rows. A core's last wait is open to the end of the
// log, which its stack books as idle: at most a few cycles of each core.
TEST(TimeOfUnits, ATimelineHasTheLayersOfTheStack) {
  std::uint64_t left = 5;  // each draws figures
  std::uint64_t compared = 0;
  for_each_draw([&](Random& random) {
    if (left == 0) return;
    --left;
    Request request = small_product(random);
    request.machine = "wse2";
    const std::uint64_t columns = 2 + random.bounded(3);
    const std::uint64_t rows = 2 + random.bounded(3);
    request.settings = {"wafer.columns=" + std::to_string(columns),
                        "wafer.rows=" + std::to_string(rows)};
    const TempFolder folder;
    const std::string out = (folder.path() / "out").string();
    std::vector<std::string> words = {
        "run",          "--machine",   request.machine, "--timeline", "--quiet", "--units",
        "wafer.*.core", "--residency", "streamed",      "--out",      out};
    for (const auto& more : {request.product(), request.options()}) {
      words.insert(words.end(), more.begin(), more.end());
    }
    SCOPED_TRACE(testing::PrintToString(words));
    const Ran ran = run_real(words);
    if (ran.status != 0) return;  // it does not fit
    const ByLayer stack = of_stack(out);
    const ByLayer shown = of_timeline(out);
    if (shown.count("left_out") != 0)
      return;  // a file has so many events, and says what is not in it
    ++compared;
    const double slack = 8.0 * static_cast<double>(columns * rows);
    for (const char* const layer : {"compute", "exchange", "sync", "stall", "imbalance"}) {
      const auto in = [&](const ByLayer& layers) {
        const auto found = layers.find(layer);
        return found == layers.end() ? 0 : found->second;
      };
      EXPECT_NEAR(in(shown), in(stack), slack) << layer;
    }
  });
  EXPECT_GT(compared, 0U);
}

}  // namespace
}  // namespace lacuna::test
