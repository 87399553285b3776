// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace lacuna {

class ParameterSet;

/// The least and the largest value that is allowed.
template <class T>
struct Range {
  T min;
  T max;
};

template <class T>
constexpr Range<T> range(T min, T max) {
  return {min, max};
}

/// A word of an enumeration, and the value it stands for.
struct Choice {
  const char* word;
  int value;
};

/// The words of an enumeration, in the order they are listed to the user.
template <class E>
struct Choices {
  Choices(std::initializer_list<std::pair<const char*, E>> choices) {
    list.reserve(choices.size());
    for (const auto& [word, value] : choices) list.push_back({word, static_cast<int>(value)});
  }

  std::vector<Choice> list;
};

/// What param() says of a parameter, on its way to the Param it initialises. `Limits` is
/// Range<T> for numbers, Choices<T> for enumerations, nothing for flags and text.
template <class T, class Limits>
struct ParamSpec {
  ParameterSet* set;
  const char* name;
  T initial;
  Limits limits;
  const char* unit;
  const char* doc;
};

/// Of flags and text, which have no range.
struct NoLimits {};

/// A number with its range and unit.
template <class T>
ParamSpec<T, Range<T>> param(ParameterSet* set, const char* name, T initial, Range<T> limits,
                             const char* unit, const char* doc) {
  return {set, name, initial, limits, unit, doc};
}

/// One of a list of words.
template <class E>
ParamSpec<E, Choices<E>> param(ParameterSet* set, const char* name, E initial, Choices<E> choices,
                               const char* doc) {
  return {set, name, initial, std::move(choices), "", doc};
}

/// A flag, true or false.
inline ParamSpec<bool, NoLimits> flag(ParameterSet* set, const char* name, bool initial,
                                      const char* doc) {
  return {set, name, initial, {}, "", doc};
}

/// Free text, such as a label.
inline ParamSpec<std::string, NoLimits> text(ParameterSet* set, const char* name,
                                             const char* initial, const char* doc) {
  return {set, name, initial, {}, "", doc};
}

/// What group() says of a set of parameters inside another.
struct GroupSpec {
  ParameterSet* set;
  const char* name;
  const char* doc;
};

inline GroupSpec group(ParameterSet* set, const char* name, const char* doc) {
  return {set, name, doc};
}

/// One documented, range-checked parameter, seen without its type.
class ParamBase {
 public:
  virtual ~ParamBase() = default;

  const char* name() const { return name_; }
  const char* unit() const { return unit_; }
  const char* doc() const { return doc_; }

  virtual std::string value_text() const = 0;
  virtual std::string initial_text() const = 0;
  virtual std::string limits_text() const = 0;

  /// True if the value is to be written without quotes in JSON: a number or a flag.
  virtual bool is_plain() const = 0;

  /// Takes the value from `text`, or throws a ParameterError that calls the parameter `path`.
  virtual void parse(const std::string& path, const std::string& text) = 0;

 protected:
  ParamBase(ParameterSet* set, const char* name, const char* unit, const char* doc);
  ParamBase(const ParamBase&) = default;
  ParamBase& operator=(const ParamBase&) = default;

 private:
  const char* name_;
  const char* unit_;
  const char* doc_;
};

/// A struct of parameters that knows its members. They are found by their offset in the struct,
/// so a set is copied and varied like any value.
class ParameterSet {
 public:
  using Visitor = std::function<void(const std::string& path, const ParamBase& parameter)>;

  /// Visits every parameter in the order of declaration, those of groups included.
  void for_each(const Visitor& visit) const { for_each("", visit); }

  /// Sets the parameter at `path`, such as "zero_filter.scan_width". `origin` (such as
  /// "study.yaml:7", may be empty) ends the text of the error if it cannot be.
  void set(const std::string& path, const std::string& text, const std::string& origin = "");

  /// The parameter at `path`, or nothing.
  const ParamBase* find(const std::string& path) const;

 private:
  friend class ParamBase;
  template <class P>
  friend struct Group;

  struct Member {
    std::ptrdiff_t offset;
    const char* group;  // null for a parameter
  };

  void enrol(void* member, const char* group);
  void for_each(const std::string& prefix, const Visitor& visit) const;
  const void* at(const Member& member) const;

  std::vector<Member> members_;
};

/// A parameter of type T, used as a T: a number, a flag or text. Its functions are in parameter.cpp
/// for the types named below, so that no file that has parameters compiles them.
template <class T, bool is_enum = std::is_enum_v<T>>
class Param final : public ParamBase {
  static constexpr bool kIsNumber = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
  using Limits = std::conditional_t<kIsNumber, Range<T>, NoLimits>;

 public:
  template <class U, class L>
  Param(const ParamSpec<U, L>& spec)
      : ParamBase(spec.set, spec.name, spec.unit, spec.doc),
        value_(static_cast<T>(spec.initial)),
        initial_(static_cast<T>(spec.initial)),
        limits_(convert(spec.limits)) {}

  operator const T&() const { return value_; }
  const T& value() const { return value_; }

  /// ParameterError if a number is outside its range.
  Param& operator=(T value);

  std::string value_text() const override;
  std::string initial_text() const override;
  std::string limits_text() const override;
  bool is_plain() const override;
  void parse(const std::string& path, const std::string& text) override;

 private:
  template <class L>
  static Limits convert(const L& limits) {
    if constexpr (kIsNumber) {
      return {static_cast<T>(limits.min), static_cast<T>(limits.max)};
    } else {
      return limits;
    }
  }

  T value_;
  T initial_;
  Limits limits_;
};

extern template class Param<unsigned>;
extern template class Param<double>;
extern template class Param<bool>;
extern template class Param<std::string>;

/// An enumeration without its type.
class ChoiceParam : public ParamBase {
 public:
  std::string value_text() const override;
  std::string initial_text() const override;
  std::string limits_text() const override;
  bool is_plain() const override { return false; }
  void parse(const std::string& path, const std::string& text) override;

 protected:
  ChoiceParam(ParameterSet* set, const char* name, const char* doc, int initial,
              std::vector<Choice> choices);

  int value_;

 private:
  int initial_;
  std::vector<Choice> choices_;
};

/// A parameter that is one of an enumeration.
template <class E>
class Param<E, true> final : public ChoiceParam {
 public:
  Param(const ParamSpec<E, Choices<E>>& spec)
      : ChoiceParam(spec.set, spec.name, spec.doc, static_cast<int>(spec.initial),
                    spec.limits.list) {}

  operator E() const { return value(); }
  E value() const { return static_cast<E>(value_); }

  Param& operator=(E value) {
    value_ = static_cast<int>(value);
    return *this;
  }
};

/// A named set of parameters inside another; its name is one step of their paths.
template <class P>
struct Group final : P {
  Group(const GroupSpec& spec) { spec.set->enrol(static_cast<ParameterSet*>(this), spec.name); }
};

}  // namespace lacuna
