// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/driver/run/options.hpp"

namespace lacuna {

/// The verbs, for sets of them.
enum Verb : unsigned {
  kOfRun = 1,
  kOfCompare = 2,
  kOfSweep = 4,
  kOfSearch = 8,
  kOfDescribe = 16,
  kOfValidate = 32,
  kOfPlot = 64,
  kOfMake = 128,
  kOfImport = 256,
  kOfSchedule = 512,
  kOfShow = 1024,
  kOfCheck = 2048
};

/// A verb as the command line, its help and its manual page have it.
struct VerbDeclaration {
  Verb verb;
  const char* name;  // "run", "trace show"
  const char* what;
  const char* example;
  const char* word;  // what stands behind it without dashes; empty: nothing
  const char* meaning;
  int least;  // of these words
  int most;   // kAnyNumber: as many as there are
};
inline constexpr int kAnyNumber = 1 << 10;

const std::vector<VerbDeclaration>& verb_table();

/// What a request is of, for sets: rows of a workload, a language model, a training step or rows
/// on a system of chips, finished results.
enum Request : unsigned { kOfRows = 1, kOfModel = 2, kOfSystem = 4, kOfResults = 8 };

/// An option: all that is known of it stands here. The command line, help, completion, manual page,
/// words of experiments, keywords of Python and refusals are made from it.
struct OptionDeclaration {
  using Flag = bool Options::*;
  using Text = Options::Text Options::*;
  using Texts = Options::Texts Options::*;

  const char* name;   // without its dashes
  const char* value;  // what follows it; empty: nothing
  const char* group;
  unsigned verbs;     // that take it
  unsigned requests;  // that it says something of; beside others it is refused
  std::variant<Flag, Text, Texts> place;
  const char* meaning;

  unsigned traits = 0;
  const char* needs = "";  // an option, or one of several between '|', without which it is refused
  const char* choices = "";  // its words, between blanks, if they are few
  unsigned repeated = 0;     // verbs in which it may be given several times

  enum Trait : unsigned {
    first = 1,          // what most people need
    how = 2,            // says how and where, not what: no part of what makes a result again
    word = 4,           // of experiment files, too
    perhaps_valued = 8  // may stand without its value
  };
  bool is(Trait trait) const { return (traits & trait) != 0; }

  /// "--with-dense", and as a word of experiments and Python "with_dense".
  std::string dashed() const { return std::string("--") + name; }
  std::string underscored() const;

  /// Whether it was given.
  bool is_given(const Options& options) const;

  /// Sets it to a value, or adds that to its values; of a flag "true" or "false".
  void set(Options& options, const std::string& said) const;
};

const std::vector<OptionDeclaration>& option_table();

/// Of a name with its dashes, or as a word of experiments; null if there is none.
const OptionDeclaration* find_option(const std::string& name);

/// The words of experiments on rows, or those on language models alone.
std::vector<std::string> experiment_words(Request request);

/// Sets an option to a word of an experiment; false if it is none. Of one that may be repeated the
/// words between blanks are added.
bool say_word(Options& options, const std::string& word, const std::string& value);

/// RequestError of an option that was given without what it needs.
void check_needs(const Options& options);

/// RequestError of an option that was given and says nothing of such a request; {} in `why` is its
/// name.
void refuse_others(const Options& options, Request request, const std::string& why);

/// The arguments that make this result, for a result file: without options that say how, and with
/// the engine written out at the end.
std::vector<std::string> reproducing_arguments(const Options& options);

/// The first option given that is of such a request alone; null if there is none.
const OptionDeclaration* first_of(const Options& options, Request request);

}  // namespace lacuna
