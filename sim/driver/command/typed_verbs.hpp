// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/driver/run/option_table.hpp"

namespace lacuna {

/// An option of a verb: of the table of options, or a key of generators, importers or schedules.
struct TypedOption {
  std::string name;   // without its dashes
  std::string value;  // what follows it, for help; may be empty
  std::string meaning;
  std::string group;
  bool valued = false;
  bool repeated = false;                        // may be given several times
  const OptionDeclaration* declared = nullptr;  // null: a key, --help or --version

  std::string dashed() const { return "--" + name; }
};

/// A verb, and what may stand behind it.
struct TypedVerb {
  std::string name;
  std::string typed;  // with all above it: "lacuna trace show"
  std::string what;
  std::string footer;  // of its help
  std::vector<TypedOption> options = {};
  const VerbDeclaration* declared = nullptr;  // null: verbs stand below it
  std::string word_meaning = {};              // of the words behind it
  std::vector<TypedVerb> below = {};
};

/// `lacuna` itself, with all verbs below it. Command line, help, completion and manual page are
/// made from it.
const TypedVerb& typed_program();

/// Calls `visit` with a verb and all below it.
void for_each_verb(const TypedVerb& verb, const std::function<void(const TypedVerb&)>& visit);

/// The names of its options with their dashes.
std::vector<std::string> option_names(const TypedVerb& verb);

}  // namespace lacuna
