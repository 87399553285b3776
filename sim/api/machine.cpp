// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/api/hidden.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/ranges.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/machines/system/parameters_of.hpp"

namespace lacuna::api {

namespace {

Parameter described(const std::string& path, const ParamBase& parameter) {
  return {path,
          parameter.value_text(),
          parameter.initial_text(),
          parameter.unit(),
          parameter.limits_text(),
          parameter.doc(),
          parameter.is_plain() && parameter.limits_text() != "true|false"};
}

}  // namespace

Machine::Machine(const std::string& name_or_file, const std::string& label)
    : hidden_(translated([&] {
        auto hidden = std::make_unique<Hidden>();
        hidden->file = name_or_file;
        hidden->label = label;
        hidden->machine = make_machine(standard_machines(), name_or_file, label);
        return hidden;
      })) {}

Machine::~Machine() = default;
Machine::Machine(Machine&& other) noexcept = default;

Machine::Machine(const Machine& other) : Machine(other.hidden_->file, other.hidden_->label) {
  for (const auto& [path, value] : other.hidden_->settings) set(path, value);
}

Machine& Machine::operator=(Machine other) noexcept {
  hidden_.swap(other.hidden_);
  return *this;
}

const std::string& Machine::name() const { return hidden_->machine->name(); }
std::string Machine::kind() const { return hidden_->machine->kind(); }
std::string Machine::extent() const {
  return translated([&] { return hidden_->machine->extent(); });
}

std::vector<Parameter> Machine::parameters() const {
  std::vector<Parameter> all;
  for_each_parameter(*hidden_->machine, [&](const std::string& path, const ParamBase& parameter) {
    all.push_back(described(path, parameter));
  });
  return all;
}

Parameter Machine::parameter(const std::string& path) const {
  const lacuna::Machine& machine = *hidden_->machine;
  if (const ParamBase* const found = find_parameter(machine, path)) return described(path, *found);
  std::vector<std::string> paths;
  for_each_parameter(machine,
                     [&](const std::string& each, const ParamBase&) { paths.push_back(each); });
  throw RequestError(
      fmt::format("{}: there is no parameter '{}'{}", name(), path, hint_of(path, paths)));
}

Machine& Machine::set(const std::string& path, const std::string& value) {
  translated([&] { hidden_->machine->set(path, value, ""); });
  const auto same = [&](const auto& setting) { return setting.first == path; };
  find_or_add(hidden_->settings, same, {path, value}).second = value;
  return *this;
}

Machine& Machine::set(const std::string& path, double value) {
  return set(path, fmt::format("{}", value));
}

}  // namespace lacuna::api
