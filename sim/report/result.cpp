// SPDX-License-Identifier: Apache-2.0
#include "sim/report/result.hpp"

#include "sim/base/ranges.hpp"
#include "sim/base/texts.hpp"

namespace lacuna {

OpResult::OpResult() = default;
OpResult::OpResult(const OpResult&) = default;
OpResult::OpResult(OpResult&&) noexcept = default;
OpResult& OpResult::operator=(const OpResult&) = default;
OpResult& OpResult::operator=(OpResult&&) noexcept = default;
OpResult::~OpResult() = default;

bool is_idealised(const OpResult& result) {
  return any_of(result.remarks,
                [](const std::string& each) { return starts_with(each, "idealised"); });
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
