// SPDX-License-Identifier: Apache-2.0
#include "sim/base/parameter.hpp"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"

namespace lacuna {

namespace {

template <class T>
T parse_number(const std::string& path, const std::string& text, const Range<T>& limits,
               const char* unit) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data(), end, value);
  const std::string allowed = fmt::format("[{}, {}]", limits.min, limits.max);
  const std::string after = *unit == 0 ? "" : std::string(" ") + unit;
  if (error == std::errc::invalid_argument || read_to != end) {
    throw ParameterError(
        fmt::format("{} = '{}' is not a number in {}{}", path, text, allowed, after));
  }
  if (error != std::errc{} || !(value >= limits.min && value <= limits.max)) {
    throw ParameterError(fmt::format("{} = {}{} is outside {}", path, text, after, allowed));
  }
  return value;
}

bool parse_flag(const std::string& path, const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  throw ParameterError(fmt::format("{} = '{}' is neither true nor false", path, text));
}

}  // namespace

template <class T, bool is_enum>
Param<T, is_enum>& Param<T, is_enum>::operator=(T value) {
  if constexpr (kIsNumber) {
    if (!(value >= limits_.min && value <= limits_.max)) {
      throw ParameterError(
          fmt::format("{} = {} {} is outside {}", name(), value, unit(), limits_text()));
    }
  }
  value_ = std::move(value);
  return *this;
}

template <class T, bool is_enum>
std::string Param<T, is_enum>::value_text() const {
  return fmt::format("{}", value_);
}

template <class T, bool is_enum>
std::string Param<T, is_enum>::initial_text() const {
  return fmt::format("{}", initial_);
}

template <class T, bool is_enum>
std::string Param<T, is_enum>::limits_text() const {
  if constexpr (kIsNumber) return fmt::format("[{}, {}]", limits_.min, limits_.max);
  return std::is_same_v<T, bool> ? "true|false" : "";
}

template <class T, bool is_enum>
bool Param<T, is_enum>::is_plain() const {
  return kIsNumber || std::is_same_v<T, bool>;
}

template <class T, bool is_enum>
void Param<T, is_enum>::parse(const std::string& path, const std::string& text) {
  if constexpr (kIsNumber) {
    value_ = parse_number<T>(path, text, limits_, unit());
  } else if constexpr (std::is_same_v<T, bool>) {
    value_ = parse_flag(path, text);
  } else {
    value_ = text;
  }
}

template class Param<int>;
template class Param<unsigned>;
template class Param<double>;
template class Param<bool>;
template class Param<std::string>;

ChoiceParam::ChoiceParam(ParameterSet* set, const char* name, const char* doc, int initial,
                         std::vector<Choice> choices)
    : ParamBase(set, name, "", doc),
      value_(initial),
      initial_(initial),
      choices_(std::move(choices)) {}

namespace {

const char* word_of(const std::vector<Choice>& choices, int value) {
  for (const Choice& choice : choices) {
    if (choice.value == value) return choice.word;
  }
  return "?";
}

}  // namespace

std::string ChoiceParam::value_text() const { return word_of(choices_, value_); }
std::string ChoiceParam::initial_text() const { return word_of(choices_, initial_); }

std::string ChoiceParam::limits_text() const {
  std::string words;
  for (const Choice& choice : choices_) {
    words += words.empty() ? "" : "|";
    words += choice.word;
  }
  return words;
}

void ChoiceParam::parse(const std::string& path, const std::string& text) {
  std::vector<std::string> words;
  for (const Choice& choice : choices_) {
    words.emplace_back(choice.word);
    if (text == choice.word) {
      value_ = choice.value;
      return;
    }
  }
  throw ParameterError(fmt::format("{} = '{}' is not one of {}{}", path, text,
                                   fmt::join(words, ", "), hint_of(text, words)));
}

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

void ParameterSet::set(const std::string& path, const std::string& text,
                       const std::string& origin) {
  const std::string where = origin.empty() ? "" : " (" + origin + ")";
  const ParamBase* const wanted = find(path);
  if (wanted == nullptr) {
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
