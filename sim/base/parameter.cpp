// SPDX-License-Identifier: Apache-2.0
#include "sim/base/parameter.hpp"

#include "sim/base/nearest.hpp"
#include "sim/base/retired_parameters.hpp"

namespace lacuna {

namespace detail {

void refuse_choice(const std::string& path, const std::string& text,
                   const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  throw ParameterError(
      fmt::format("{} = '{}' is not one of {}{}", path, text, list, hint_of(text, words)));
}

bool parse_flag(const std::string& path, const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  throw ParameterError(fmt::format("{} = '{}' is neither true nor false", path, text));
}

}  // namespace detail

ParamBase::ParamBase(ParameterSet* set, const char* name, const char* unit, const char* doc)
    : name_(name), unit_(unit), doc_(doc) {
  set->enrol(this, nullptr);
}

void ParameterSet::enrol(void* member, const char* group) {
  members_.push_back({static_cast<std::byte*>(member) - reinterpret_cast<std::byte*>(this), group});
}

const void* ParameterSet::at(const Member& member) const {
  return reinterpret_cast<const std::byte*>(this) + member.offset;
}

void ParameterSet::for_each(const std::string& prefix, const Visitor& visit) const {
  for (const Member& member : members_) {
    if (member.group != nullptr) {
      static_cast<const ParameterSet*>(at(member))->for_each(prefix + member.group + ".", visit);
    } else {
      const auto& parameter = *static_cast<const ParamBase*>(at(member));
      visit(prefix + parameter.name(), parameter);
    }
  }
}

const ParamBase* ParameterSet::find(const std::string& path) const {
  const ParamBase* found = nullptr;
  for_each([&](const std::string& candidate, const ParamBase& parameter) {
    if (candidate == path) found = &parameter;
  });
  return found;
}

namespace {

std::vector<std::string> paths_of(const ParameterSet& parameters) {
  std::vector<std::string> paths;
  parameters.for_each([&](const std::string& path, const ParamBase&) { paths.push_back(path); });
  return paths;
}

}  // namespace

std::string ParameterSet::nearest_path(const std::string& path) const {
  return nearest(path, paths_of(*this));
}

void ParameterSet::set(const std::string& path, const std::string& text,
                       const std::string& origin) {
  const std::string where = origin.empty() ? "" : " (" + origin + ")";
  const ParamBase* const wanted = find(path);
  if (wanted == nullptr) {
    const std::string retired = retired_parameter(path);
    if (!retired.empty()) {
      throw ParameterError(
          fmt::format("the parameter '{}' {} (doc/migration.md){}", path, retired, where));
    }
    throw ParameterError(
        fmt::format("there is no parameter '{}'{}{}", path, hint_of(path, paths_of(*this)), where));
  }
  try {
    // it is a member of *this, which is not const
    const_cast<ParamBase*>(wanted)->parse(path, text);
  } catch (const ParameterError& error) {
    throw ParameterError(error.what() + where);
  }
}

}  // namespace lacuna
