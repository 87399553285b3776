// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/command_line.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/base/split.hpp"
#include "sim/base/texts.hpp"
#include "sim/driver/command/help.hpp"
#include "sim/driver/command/typed_verbs.hpp"
#include "sim/driver/sweep/mpi_ranks.hpp"

namespace lacuna {

namespace {

/// Sets what an option was given into the options.
void set(const TypedOption& option, const std::vector<std::string>& values, Options& options) {
  if (option.valued && !option.repeated && values.size() > 1) {
    throw refused("{} is given {} times; allowed: once", option.dashed(), values.size());
  }
  for (const std::string& value : values) {
    if (option.declared != nullptr) {
      option.declared->set(options, value);
    } else if (option.valued || check_word(option.dashed(), value, {"true", "false"}) == "true") {
      options.generator.emplace_back(option.name, option.valued ? value : "1");
    }
  }
}

/// Takes words, options and their values one after the other.
class Reader {
 public:
  explicit Reader(const std::vector<std::string>& arguments) : arguments_(arguments) {}

  CommandLine read() {
    while (next_ < arguments_.size()) {
      const std::string& argument = arguments_[next_++];
      if (only_words_ || argument.size() < 2 || argument[0] != '-') {
        take_word(argument);
      } else if (argument == "--") {
        only_words_ = true;
      } else {
        take_option(argument);
      }
    }
    CommandLine line;
    if (given("help")) {
      line.text = help_text(*verb_, arguments_);
    } else if (given("version")) {
      line.text = fmt::format("lacuna {}, {}\n", build_version(), mpi_description());
    } else {
      set_options(line.options);
    }
    return line;
  }

 private:
  bool given(const char* name) const {
    return any_of(values_, [&](const auto& each) { return each.first->name == name; });
  }

  void take_word(const std::string& word) {
    if (verb_->below.empty()) return words_.push_back(word);
    if (const TypedVerb* const below = find_named(verb_->below, word)) {
      verb_ = below;
      return;
    }
    const std::vector<std::string> names = names_in(verb_->below);
    throw refused("there is no verb '{}'; there are {}{}", word, fmt::join(names, ", "),
                  hint_of(word, names));
  }

  void take_option(const std::string& argument) {
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const std::string plain = starts_with(name, "--") ? name.substr(2) : "";
    const TypedOption* const option = find_named(verb_->options, name == "-h" ? "help" : plain);
    if (option == nullptr) {
      std::vector<std::string> others;  // that have it
      for_each_verb(typed_program(), [&](const TypedVerb& each) {
        if (find_named(each.options, plain) != nullptr) others.push_back(each.typed);
      });
      throw refused("{} has no option '{}'{}", verb_->typed, name,
                    others.empty() ? hint_of(name, option_names(*verb_))
                                   : fmt::format("; it is one of {}", fmt::join(others, ", ")));
    }
    std::vector<std::string>& values = values_[option];
    if (equals != std::string::npos) {
      values.push_back(argument.substr(equals + 1));
    } else {
      values.push_back(option->valued ? value_behind(*option) : "true");
    }
  }

  /// The next argument. Where there may be none, it is neither an option nor a word that the verb
  /// needs.
  std::string value_behind(const TypedOption& option) {
    const bool ends = next_ == arguments_.size();
    if (option.declared != nullptr && option.declared->is(OptionDeclaration::perhaps_valued)) {
      const std::size_t words = words_.size() + arguments_.size() - next_;
      const bool is_needed = words <= static_cast<std::size_t>(verb_->declared->least);
      if (ends || is_needed || starts_with(arguments_[next_], "-")) return "";
    } else if (ends) {
      throw RequestError(option.dashed() + ": a value is missing");
    } else if (starts_with(arguments_[next_], "--")) {
      throw refused("{}: a value is missing before '{}'", option.dashed(), arguments_[next_]);
    }
    return arguments_[next_++];
  }

  void set_options(Options& options) const {
    const std::string names = fmt::format("{}", fmt::join(names_in(verb_->below), ", "));
    if (verb_ == &typed_program()) {
      throw refused("a verb is missing: {}; see lacuna --help", names);
    }
    if (!names.empty()) {
      throw refused("{}: a word is missing: {}", verb_->typed, names);
    }
    for (const auto& [option, values] : values_) set(*option, values, options);
    check_words();
    options.arguments = arguments_;
    options.subjects = words_;
    const std::vector<std::string> verbs = split(verb_->declared->name, ' ');
    options.verb = verbs.front();
    if (verbs.size() > 1) options.subverb = verbs.back();
  }

  void check_words() const {
    const VerbDeclaration& verb = *verb_->declared;
    const auto count = static_cast<int>(words_.size());
    if (count < verb.least) {
      throw refused("{}: {} is required", verb_->typed, verb.word);
    }
    if (count > verb.most && verb.most == 0) {
      throw refused("{} does not take the word '{}'", verb_->typed, words_.front());
    }
    if (count > verb.most && verb.most != kAnyNumber) {
      throw refused("more than one {} is given; allowed: one", verb.word);
    }
    if (contains(words_, "")) throw RequestError(verb_->typed + ": a word is empty");
  }

  const std::vector<std::string>& arguments_;
  std::size_t next_ = 0;
  bool only_words_ = false;
  const TypedVerb* verb_ = &typed_program();
  std::vector<std::string> words_;
  std::map<const TypedOption*, std::vector<std::string>> values_;  // in the order of declarations
};

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
  return Reader(arguments).read();
}

}  // namespace lacuna
