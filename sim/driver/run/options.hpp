// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/sparsity/pattern_spec.hpp"

namespace lacuna {

/// What `plot` was asked for, as it was written.
struct PlotOptions {
  using Text = std::optional<std::string>;
  using Texts = std::vector<std::string>;  // of options that may be given several times

  Text style;
  Text width;
  Text height;
  Text font;
  Text palette;
  Text title;
  Text legend;
  Text format;
  Text normalise;
  Texts labels;
  Texts only;
  Texts runs;
  bool matplotlib = false;
};

/// What the command line said, as it was written: values are read and checked where they are
/// used, so that every message is one of ours.
struct Options : PlotOptions {
  std::string verb;     // "run", "compare", "trace", "describe", "plot", "validate", "sweep"
  std::string subverb;  // "make", "import", "show" or "check" after "trace"

  Texts machines;
  Texts settings;
  Texts patterns;
  Text trace;
  Text gemm;
  Text matrix;
  Text n;
  Text program;
  Text system_config;
  Text model;
  bool decode = false;
  Text prefill;
  Text kv_in;
  Text kv_out;
  Text streams;
  Text chunk;
  Text batch;
  Text context;
  Text requests;
  Text blocks;
  Text block_cores;
  Texts activations;
  Texts weights;
  Text window;
  Text kept;
  Text experts;
  Text layers;
  Text cache;
  Text density;
  Text block;
  Text nm;
  Text mode;
  Text residency;
  Text layout;
  Text x_pattern;
  Text x_density;
  Text dtype;
  Text partials;
  Text seed;
  Text engine;
  Text fold;
  Text values;  // the kind of numbers; empty: not said
  Text jobs;
  Text shard;
  Text energy_table;
  Text seeds;
  Text interval;
  Text view_steps;
  Text view_path;
  Text view_cores;
  Text timeline_limit;
  Text overlay;
  Texts units;  // of --timeline
  Texts waves;
  Text out;
  Text sqlite;
  Texts subjects;  // words after the options: files or names
  bool with_dense = false;
  bool event_log = false;
  bool timeline = false;
  bool view = false;
  bool scalesim = false;
  bool explain = false;
  bool why = false;
  bool quiet = false;
  bool wide = false;
  bool json = false;
  bool markdown = false;
  bool resume = false;
  bool no_cache = false;

  Text picture;          // of trace show: the row whose mask is drawn
  Text flop_convention;  // of trace show: a count of FLOP of another kind

  // of trace make and import: what their tables call keys, in the order given
  Pairs generator;

  // of validate
  Texts points;
  Texts families;
  Texts by;
  Text fail_above;
  Text mask_rule;

  /// The arguments as given, without the name of the program.
  Texts arguments;
};

/// A word of a list, such as "event" for --engine. RequestError names the option, what was found,
/// the list and the nearest word.
std::string check_word(const std::string& option, const std::string& found,
                       const std::vector<std::string>& allowed);

/// A whole number in [least, most], digits only.
std::uint64_t check_count(const std::string& option, const std::string& found, std::uint64_t least,
                          std::uint64_t most);

/// Arguments as one line for a shell.
std::string shell_line(const std::vector<std::string>& arguments);

}  // namespace lacuna
