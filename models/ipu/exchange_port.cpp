// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/exchange_port.hpp"

#include <fmt/format.h>

#include "sim/base/error.hpp"

namespace lacuna::ipu {

void ExchangePort::begin(const ExchangePlan& plan, TileMemory* values) {
  values_ = values;
  words_out_ = words_in_ = 0;
  send_ = plan.sends.data() + plan.send_first[id_];
  send_end_ = plan.sends.data() + plan.send_first[id_ + 1];
  receive_ = plan.receives.data() + plan.receive_first[id_];
  receive_end_ = plan.receives.data() + plan.receive_first[id_ + 1];
  elements_ = PlainElements(memory_, plan.memory_begin);
  element_ = plan.memory_begin;
}

void ExchangePort::late(Cycle start) const {
  throw InternalError(fmt::format("tile {} has two words in cycle {} of an exchange", id_, start));
}

}  // namespace lacuna::ipu
