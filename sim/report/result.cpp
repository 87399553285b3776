// SPDX-License-Identifier: Apache-2.0
#include "sim/report/result.hpp"

#include <algorithm>

namespace lacuna {

OpResult::OpResult() = default;
OpResult::OpResult(const OpResult&) = default;
OpResult::OpResult(OpResult&&) noexcept = default;
OpResult& OpResult::operator=(const OpResult&) = default;
OpResult& OpResult::operator=(OpResult&&) noexcept = default;
OpResult::~OpResult() = default;

bool is_idealised(const OpResult& result) {
  return std::any_of(result.remarks.begin(), result.remarks.end(),
                     [](const std::string& each) { return each.rfind("idealised", 0) == 0; });
}

const char* status_name(Status status) {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::out_of_memory:
      return "out_of_memory";
    case Status::unsupported:
      return "unsupported";
    case Status::failed:
      return "failed";
    case Status::interrupted:
      return "interrupted";
  }
  return "?";
}

}  // namespace lacuna
