// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lacuna {

/// What `plot` was asked for, as it was written.
struct PlotOptions {
  std::optional<std::string> style;
  std::optional<std::string> width;
  std::optional<std::string> height;
  std::optional<std::string> font;
  std::optional<std::string> palette;
  std::optional<std::string> title;
  std::optional<std::string> legend;
  std::optional<std::string> format;
  std::optional<std::string> normalise;
  std::vector<std::string> labels;
  std::vector<std::string> only;
  std::vector<std::string> runs;
  bool matplotlib = false;
};

/// What the command line said, as it was written: values are read and checked where they are
/// used, so that every message is one of ours.
struct Options : PlotOptions {
  std::string verb;     // "run", "compare", "trace", "describe", "plot", "validate", "sweep"
  std::string subverb;  // "make", "import", "show" or "check" after "trace"

  std::vector<std::string> machines;
  std::vector<std::string> settings;
  std::vector<std::string> patterns;
  std::optional<std::string> trace;
  std::optional<std::string> gemm;
  std::optional<std::string> matrix;
  std::optional<std::string> n;
  std::optional<std::string> system_config;
  std::optional<std::string> model;
  bool decode = false;
  std::optional<std::string> prefill;
  std::optional<std::string> kv_in;
  std::optional<std::string> kv_out;
  std::optional<std::string> streams;
  std::optional<std::string> chunk;
  std::optional<std::string> batch;
  std::optional<std::string> context;
  std::optional<std::string> requests;
  std::optional<std::string> blocks;
  std::optional<std::string> block_cores;
  std::vector<std::string> activations;
  std::vector<std::string> weights;
  std::optional<std::string> window;
  std::optional<std::string> kept;
  std::optional<std::string> experts;
  std::optional<std::string> layers;
  std::optional<std::string> cache;
  std::optional<std::string> density;
  std::optional<std::string> block;
  std::optional<std::string> nm;
  std::optional<std::string> mode;
  std::optional<std::string> residency;
  std::optional<std::string> layout;
  std::optional<std::string> x_pattern;
  std::optional<std::string> x_density;
  std::optional<std::string> dtype;
  std::optional<std::string> partials;
  std::optional<std::string> seed;
  std::optional<std::string> engine;
  std::optional<std::string> fold;
  std::optional<std::string> values;  // the kind of numbers; empty: not said
  std::optional<std::string> jobs;
  std::optional<std::string> shard;
  std::optional<std::string> energy_table;
  std::optional<std::string> seeds;
  std::optional<std::string> interval;
  std::optional<std::string> view_steps;
  std::optional<std::string> view_path;
  std::optional<std::string> view_cores;
  std::optional<std::string> timeline_limit;
  std::optional<std::string> overlay;
  std::vector<std::string> units;  // of --timeline
  std::vector<std::string> waves;
  std::optional<std::string> out;
  std::optional<std::string> sqlite;
  std::vector<std::string> subjects;  // words after the options: files or names
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

  std::optional<std::string> picture;          // of trace show: the row whose mask is drawn
  std::optional<std::string> flop_convention;  // of trace show: a count of FLOP of another kind

  // of trace make and import: what their tables call keys, in the order given
  std::vector<std::pair<std::string, std::string>> generator;

  // of validate
  std::vector<std::string> points;
  std::vector<std::string> families;
  std::vector<std::string> by;
  std::optional<std::string> fail_above;
  std::optional<std::string> mask_rule;

  /// The arguments as given, without the name of the program.
  std::vector<std::string> arguments;
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
