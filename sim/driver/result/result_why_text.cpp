// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/result/result_why_text.hpp"

#include "sim/driver/result/result_why.hpp"

namespace lacuna {

std::string why_json_text(const Why& why) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  kWhyFields(JsonWriter(json), why);
  return json.dump(1);
}

}  // namespace lacuna
