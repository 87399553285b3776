// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "sim/driver/sweep/search_order.hpp"
#include "sim/driver/sweep/sweep_condition.hpp"

namespace lacuna {

/// Words that take one or several values together: a line of a grid, or a zip.
struct SweepAxis {
  std::vector<std::string> keys;                // words of options, or paths of parameters
  std::vector<std::string> places;              // of each, "study.yaml:7:3"
  std::vector<std::vector<std::string>> steps;  // one or more; each with a value for each key
};

/// What a file says of a search: words and numbers as they are written, each with its place.
struct SearchWords {
  struct Word {
    std::string text;
    std::string place;
  };
  std::vector<Word> minimise;    // one or more objectives
  std::vector<Word> subject_to;  // conditions of what is measured, such as "power_w <= 300"
  SearchTerms terms;             // `strategy: all` does not prune
  std::string place;             // of `strategy`
  std::string terms_place;       // of `gain` or `at_a_time`; empty: neither is there
};

/// An experiment file as it is written. What its words and values mean is checked where they are
/// used.
struct SweepFile {
  std::string path;
  std::vector<SweepAxis> axes;  // in the order of the file; the first varies slowest
  std::vector<SweepCondition> where;
  SearchWords search;
};

/// True if the file is of a language model: it has the word `model`.
bool is_of_model(const SweepFile& file);

/// Reads an experiment file. RequestError, with file, line and column, if it is no YAML, a key is
/// unknown or given twice, a list is empty, a range has no end, or the lists of a zip differ in
/// length.
SweepFile read_sweep(const std::string& path);

/// The same of a file that is searched: it has `minimise`, and may have `subject_to`, `budget`,
/// `strategy`, `restarts`, `gain` and `at_a_time`; `space` is another word for `grid`. A sweep
/// refuses these.
SweepFile read_search(const std::string& path);

}  // namespace lacuna
