// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/driver/command/help.hpp"
#include "sim/driver/command/model/model_options.hpp"
#include "sim/driver/command/plot_options.hpp"
#include "sim/driver/command/trace_options.hpp"
#include "sim/driver/sweep/mpi_ranks.hpp"

namespace lacuna {

namespace {

constexpr const char* kMachineHelp =
    "preset (lacuna describe machines) or machine file; default bow";

void add_workload_options(CLI::App& verb, Options& o) {
  const char* const group = "Workload";
  verb.add_option("--trace", o.trace, "CSV trace of operations")->type_name("FILE")->group(group);
  verb.add_option("--gemm", o.gemm, "one product Y[MxN] = W[MxK] X[KxN]")
      ->type_name("MxKxN")
      ->group(group);
  verb.add_option("--matrix", o.matrix,
                  "the product with the matrix of a file: .smtx, .mtx, .npy, .npz, safetensors")
      ->type_name("FILE")
      ->group(group);
  verb.add_option("--n", o.n, "columns of X for --matrix")->type_name("N")->group(group);
}

void add_pattern_options(CLI::App& verb, Options& o, bool several) {
  const char* const group = "Pattern of the weights";
  CLI::Option* const pattern =
      verb.add_option("--pattern", o.patterns,
                      "NAME[BLOCK][:DENSITY][:key=value], such as block16:0.1; lacuna describe "
                      "patterns lists names. `own` is the workload's own")
          ->type_name("PATTERN")
          ->group(group)
          ->expected(1);
  if (several) pattern->take_all();
  verb.add_option("--density", o.density,
                  several ? "share of the weights that is kept, 0 to 1; several with commas: each "
                            "pattern that takes one, with each"
                          : "share of the weights that is kept, 0 to 1")
      ->type_name(several ? "D,D..." : "D")
      ->group(group);
  verb.add_option("--block", o.block, "side of the blocks")->type_name("B")->group(group);
  verb.add_option("--nm", o.nm, "N of every M weights are kept")->type_name("N:M")->group(group);
  verb.add_option("--mode", o.mode,
                  "kernel of sparse weights, or of dense ones if none are sparse: auto, static, "
                  "dynamic or streamed")
      ->type_name("MODE")
      ->group(group);
  verb.add_option("--residency", o.residency,
                  "where weights live: auto (what is faster, if all fit), streamed or resident")
      ->type_name("PLACE")
      ->group(group);
  verb.add_option("--x-pattern", o.x_pattern,
                  "zeros of activations: bernoulli:DENSITY, channel:DENSITY, file:PATH or dense")
      ->type_name("PATTERN")
      ->group(group);
  verb.add_option("--x-density", o.x_density,
                  "non-zeros of activations, bernoulli unless --x-pattern says otherwise")
      ->type_name("DENSITY")
      ->group(group);
  verb.add_option("--dtype", o.dtype, "fp16, fp32, bf16, fp8 or int8")
      ->type_name("TYPE")
      ->group(group);
  verb.add_option("--partials", o.partials, "type of partial sums: auto, fp16, fp32 or int32")
      ->type_name("TYPE")
      ->group(group);
}

void add_system_option(CLI::App& verb, Options& o) {
  verb.add_option("--system-config", o.system_config,
                  "a training step on a system such as pod16: a file, or the name of a shipped one")
      ->type_name("FILE")
      ->group("Workload");
}

void add_machine_options(CLI::App& verb, Options& o, bool several) {
  const char* const group = "Machine";
  CLI::Option* const machine =
      verb.add_option("--machine", o.machines,
                      several ? "preset or machine file; repeat for several"  // no default
                              : kMachineHelp)
          ->type_name("NAME|FILE")
          ->group(group)
          ->expected(1);
  if (several) machine->take_all();
  verb.add_option("--set", o.settings, "sets a parameter (lacuna describe parameters); repeatable")
      ->type_name("PATH=VALUE")
      ->group(group)
      ->expected(1)
      ->take_all();
}

void add_layout_option(CLI::App& verb, Options& o) {
  verb.add_option(
          "--layout", o.layout,
          "how operations are laid out: planned (default, by the machine's rule), first (all "
          "parameters as they are set), best (searched, see lacuna describe layouts; best:N "
          "simulates N of each at most), or a file of layouts that were found")
      ->type_name("LAYOUT")
      ->group("Simulation");
}

void add_run_options(CLI::App& verb, Options& o) {
  const char* const group = "Simulation";
  verb.add_option("--engine", o.engine, "event (default) or clocked; results are the same")
      ->type_name("ENGINE")
      ->group(group);
  verb.add_option("--values", o.values,
                  "carry numbers and check the product: integer (default) or normal:SIGMA, which "
                  "reports errors against FP64")
      ->type_name("KIND")
      ->expected(0, 1)
      ->group(group);
  verb.add_option("--seed", o.seed, "seed of the masks and values; default 1")
      ->type_name("N")
      ->group(group);
  verb.add_option("--seeds", o.seeds,
                  "repeat with N patterns, seeds from --seed on; means and 95 % intervals")
      ->type_name("N")
      ->group(group);
  verb.add_option("--fold", o.fold, "on (default) or off: use exact symmetry of a wafer")
      ->type_name("on|off")
      ->group(group);
  verb.add_option("--energy-table", o.energy_table,
                  "prices of your own; events it leaves out are priced as shipped")
      ->type_name("FILE")
      ->group(group);
  verb.add_flag("--with-dense", o.with_dense, "run the dense product too, for the speed-up")
      ->group(group);
}

// NOLINTNEXTLINE(readability-function-size): a table
void add_output_options(CLI::App& verb, Options& o) {
  const char* const group = "Output";
  verb.add_option("--out", o.out, "write a result folder")->type_name("DIR")->group(group);
  verb.add_flag("--resume", o.resume,
                "go on with what was interrupted; finished work is kept "
                "beside --out")
      ->group(group);
  verb.add_flag("--event-log", o.event_log, "write events.csv into it")->group(group);
  verb.add_flag("--scalesim", o.scalesim, "write scalesim/: reports in the form of SCALE-Sim")
      ->group(group);
  verb.add_flag("--timeline", o.timeline, "write timeline.json for Perfetto, and Gantt charts")
      ->group(group);
  verb.add_option("--units", o.units,
                  "units of --timeline: names such as tile3 or wafer.r0.c1, with *; repeatable; "
                  "default the first 16")
      ->type_name("PATH")
      ->group(group)
      ->expected(1)
      ->take_all();
  verb.add_option("--timeline-limit", o.timeline_limit,
                  "size of timeline.json in MB, 32 if not given; beyond it windows of equal "
                  "length are left out, and it says which")
      ->type_name("MB")
      ->group(group);
  verb.add_flag("--view", o.view, "write view.html: the die over time, down to a core or tile")
      ->group(group);
  verb.add_option("--view-steps", o.view_steps, "steps of --view on a wafer, 200 if not given")
      ->type_name("N")
      ->group(group);
  verb.add_option("--view-path", o.view_path,
                  "what each moment of at most 10000 cycles of a wafer waited for, on its page")
      ->type_name("FROM:TO")
      ->group(group);
  verb.add_option("--view-cores", o.view_cores,
                  "of these columns and rows, 0-63x0-63 if not given; at most 64 of each")
      ->type_name("COLUMNSxROWS")
      ->group(group);
  verb.add_option("--waves", o.waves, "write .vcd waves of these units; repeatable")
      ->type_name("PATH")
      ->group(group)
      ->expected(1)
      ->take_all();
  verb.add_option("--interval", o.interval, "power and bandwidth over time, per N cycles")
      ->type_name("N")
      ->group(group);
  verb.add_flag("--explain", o.explain,
                "print plan, phases, the busiest unit and why, estimate and simulation")
      ->group(group);
  verb.add_flag("--why", o.why,
                "say why it is not faster: run it again without its costs, and laid out otherwise")
      ->group(group);
  verb.add_flag("--json", o.json, "print the summary as JSON")->group(group);
  verb.add_flag("--wide", o.wide, "all rows and columns, however many lines")->group(group);
  verb.add_flag("--quiet", o.quiet, "print neither progress nor notes")->group(group);
  verb.add_flag("--no-cache", o.no_cache,
                "neither use nor keep simulated parts of systems and language models, and layouts")
      ->group(group);
}

/// Arguments may follow each other in any order; a verb's help ends in an example.
CLI::App& add_verb(CLI::App& parent, const char* name, const char* what, const char* example) {
  CLI::App& verb = *parent.add_subcommand(name, what);
  verb.footer(std::string("Example:\n  ") + example);
  return verb;
}

void add_run(CLI::App& app, Options& o) {
  CLI::App& run = add_verb(
      app, "run", "Simulates one workload on one machine.",
      "lacuna run --machine bow --gemm 4096x4096x1024 --pattern block16:0.0625 --out out/first\n"
      "  lacuna run --machine wse2 --gemm 4096x4096x8192 --pattern unstructured:0.1 --view --out "
      "out/view");
  add_machine_options(run, o, false);
  add_workload_options(run, o);
  add_system_option(run, o);
  add_model_options(run, o);
  add_pattern_options(run, o, false);
  add_layout_option(run, o);
  add_run_options(run, o);
  add_output_options(run, o);
}

void add_compare(CLI::App& app, Options& o) {
  CLI::App& compare = add_verb(
      app, "compare",
      "Simulates one workload on several machines and with several patterns, or says what differs "
      "between finished results.",
      "lacuna compare --machine bow --machine wse2 --set wafer.columns=64 --set wafer.rows=64 "
      "--gemm 1024x1024x2048 --pattern dense --pattern unstructured:0.1 --pattern block16:0.1 "
      "--out out/compare\n  lacuna compare out/before out/after");
  compare.add_option("FOLDER", o.subjects, "finished results, to say what differs between them");
  add_machine_options(compare, o, true);
  add_workload_options(compare, o);
  add_system_option(compare, o);
  add_model_options(compare, o);
  add_pattern_options(compare, o, true);
  add_layout_option(compare, o);
  add_run_options(compare, o);
  compare.add_option("--jobs", o.jobs, "points simulated at a time; default all processors")
      ->type_name("N")
      ->group("Simulation");
  add_output_options(compare, o);
}

/// What a sweep and a search take.
void add_experiment_options(CLI::App& verb, Options& o) {
  verb.add_option("FILE", o.subjects, "the experiment, YAML")->required()->expected(1);
  verb.add_option("--set", o.settings, "sets a parameter of all machines that have it; repeatable")
      ->type_name("PATH=VALUE")
      ->expected(1)
      ->take_all();
  add_run_options(verb, o);
  verb.add_option("--jobs", o.jobs, "points simulated at a time; default all processors")
      ->type_name("N")
      ->group("Simulation");
  verb.add_flag("--resume", o.resume, "go on with what was interrupted")->group("Simulation");
  verb.add_option("--cache", o.cache, "of a language model: a folder that keeps simulated parts")
      ->type_name("DIR")
      ->group("Simulation");
  verb.add_flag("--no-cache", o.no_cache,
                "neither use nor keep simulated parts of language models, and layouts")
      ->group("Simulation");
  verb.add_option("--out", o.out, "write a result folder; finished points are kept beside it")
      ->type_name("DIR")
      ->group("Output");
  verb.add_flag("--json", o.json, "print the summary as JSON")->group("Output");
  verb.add_flag("--wide", o.wide, "all rows and columns, however many lines")->group("Output");
  verb.add_flag("--quiet", o.quiet, "print neither progress nor notes")->group("Output");
}

void add_sweep(CLI::App& app, Options& o) {
  CLI::App& sweep = add_verb(app, "sweep", "Simulates all points of an experiment file.",
                             "lacuna sweep traces/experiments/density.yaml --out out/density\n"
                             "  lacuna sweep traces/experiments/density.yaml --out out/density "
                             "--resume");
  add_experiment_options(sweep, o);
  add_layout_option(sweep, o);
}

void add_search(CLI::App& app, Options& o) {
  CLI::App& search =
      add_verb(app, "search", "Finds the best points of an experiment file without simulating all.",
               "lacuna search traces/experiments/wafer_layout.yaml --out out/layout");
  add_experiment_options(search, o);
}

void add_describe(CLI::App& app, Options& o) {
  CLI::App& describe = add_verb(
      app, "describe",
      "Describes machines, parameters, statistics, patterns, formats, models, area or trust.",
      "lacuna describe parameters --machine bow\n  lacuna describe tile.memory.kib");
  describe
      .add_option(
          "SUBJECT", o.subjects,
          "machines, parameters, layouts, statistics, patterns, formats, models, index (all "
          "that has a name; if none is given), groups, words, "
          "a name, or fit: layouts of a model on a system; completion (for bash) or manual "
          "(a page for man)")
      ->expected(0, 1);
  describe.add_option("--machine", o.machines, "preset or machine file, to show its values")
      ->type_name("NAME|FILE")
      ->expected(1);
  describe.add_option("--system-config", o.system_config, "fit: the training step")
      ->type_name("FILE");
  describe.add_option("--set", o.settings, "fit: sets a parameter of system or training")
      ->type_name("PATH=VALUE")
      ->expected(1)
      ->take_all();
  describe.add_flag("--markdown", o.markdown, "as a page of the manual");
  describe.add_flag("--json", o.json, "as JSON (doc/describe.schema.json)");
  describe.add_flag("--wide", o.wide, "tables as wide as they are");
}

void add_validate(CLI::App& app, Options& o) {
  CLI::App& validate =
      add_verb(app, "validate", "Runs published measurements and reports the error of each.",
               "lacuna validate --family static --fail-above 25");
  validate.add_option("--points", o.points, "points of your own, CSV; default those shipped")
      ->type_name("FILE")
      ->expected(1)
      ->take_all();
  validate.add_option("--family", o.families, "only families with this in their name; repeatable")
      ->type_name("WORD")
      ->expected(1)
      ->take_all();
  validate.add_option("--by", o.by, "errors by a column of the points; repeatable")
      ->type_name("COLUMN")
      ->expected(1)
      ->take_all();
  validate
      .add_option("--mask-rule", o.mask_rule,
                  "draw the masks of all points by uniform or popsparse[:SEED]")
      ->type_name("RULE");
  validate
      .add_option("--energy-table", o.energy_table,
                  "prices of your own for the points that are powers, CSV")
      ->type_name("FILE");
  validate.add_option("--fail-above", o.fail_above, "status 3 if a family's median error is above")
      ->type_name("PERCENT");
  validate.add_option("--set", o.settings, "sets a parameter of every machine that has it")
      ->type_name("PATH=VALUE")
      ->expected(1)
      ->take_all();
  add_layout_option(validate, o);
  validate.add_option("--engine", o.engine, "event (default) or clocked")->type_name("ENGINE");
  validate.add_option("--seed", o.seed, "seed of the masks; default 1")->type_name("N");
  validate.add_option("--jobs", o.jobs, "simulations at a time; default all processors")
      ->type_name("N");
  validate.add_option("--out", o.out, "write errors, families and figures into a folder")
      ->type_name("DIR");
  validate.add_flag("--resume", o.resume, "go on with a validation that was interrupted");
  validate.add_flag("--wide", o.wide, "tables as wide as they are");
  validate.add_flag("--quiet", o.quiet, "print neither progress nor notes");
}

/// An option of one value takes one: CLI11 would give it the files behind as well, as it keeps a
/// list of what is given again.
void take_one_value(CLI::App& app) {
  for (CLI::Option* const option : app.get_options()) {
    if (!option->get_positional() && option->get_expected_max() == 1)
      option->allow_extra_args(false);
  }
  for (CLI::App* const verb : app.get_subcommands({})) take_one_value(*verb);
}

}  // namespace

void add_verbs(CLI::App& app, Options& o) {
  add_run(app, o);
  add_compare(app, o);
  add_sweep(app, o);
  add_search(app, o);
  add_trace_options(app, o);
  add_describe(app, o);
  add_validate(app, o);
  add_plot_options(app, o);
  take_one_value(app);
}

namespace {

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* const verb : app.get_subcommands({})) names.push_back(verb->get_name());
  return names;
}

/// The verb of the request, as deep as it goes.
const CLI::App& chosen(const CLI::App& app) {
  const std::vector<CLI::App*> verbs = app.get_subcommands();
  return verbs.empty() ? app : chosen(*verbs.front());
}

/// As the user types it, with all above: `lacuna trace make`.
std::string typed_name(const CLI::App& verb) {
  const CLI::App* const above = verb.get_parent();
  if (above == nullptr) return verb.get_name();
  return typed_name(*above) + " " + verb.get_name();
}

/// What CLI11 calls an extra argument is a misspelt verb or option, or a word too many.
[[noreturn]] void refuse_extra(const CLI::App& verb, const std::string& word) {
  const bool is_option = word.rfind('-', 0) == 0;
  const std::string name = word.substr(0, word.find('='));
  const std::vector<std::string> known = is_option ? option_names(verb) : verb_names(verb);
  const std::string hint = hint_of(name, known);
  if (is_option) {
    throw RequestError(fmt::format("{} has no option '{}'{}", typed_name(verb), name, hint));
  }
  if (known.empty()) {
    throw RequestError(fmt::format("{} does not take the word '{}'", typed_name(verb), word));
  }
  throw RequestError(
      fmt::format("there is no verb '{}'; there are {}{}", word, fmt::join(known, ", "), hint));
}

/// The options of `verb` that a value must follow.
void add_taking(const CLI::App& verb, std::vector<std::string>& taking) {
  for (const CLI::Option* const option : verb.get_options()) {
    if (option->get_items_expected_min() == 0) continue;  // a flag
    for (const std::string& name : option->get_lnames()) taking.push_back("--" + name);
  }
}

/// CLI11 would take the next option for the value that is missing.
void refuse_missing_values(const CLI::App& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> taking;
  for (const CLI::App* const verb : app.get_subcommands({})) {
    add_taking(*verb, taking);
    for (const CLI::App* const below : verb->get_subcommands({})) add_taking(*below, taking);
  }
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
    const bool takes = std::find(taking.begin(), taking.end(), arguments[i]) != taking.end();
    if (takes && arguments[i + 1].rfind("--", 0) == 0) {
      throw RequestError(
          fmt::format("{}: a value is missing before '{}'", arguments[i], arguments[i + 1]));
    }
  }
}

/// The verb that `arguments` name, as deep as they go.
const CLI::App& named(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App* verb = &app;
  for (const std::string& argument : arguments) {
    for (const CLI::App* const below : verb->get_subcommands({})) {
      if (below->get_name() != argument) continue;
      verb = below;
      break;
    }
  }
  return *verb;
}

/// Help is for a verb that there is: a word that should be one and is not is said, not passed over.
void refuse_misspelt_verb(const CLI::App& verb, const std::vector<std::string>& arguments) {
  const std::vector<std::string> names = verb_names(verb);
  bool is_below = verb.get_parent() == nullptr;
  for (const std::string& argument : arguments) {
    const bool is_name = std::find(names.begin(), names.end(), argument) != names.end();
    if (names.empty() || (is_below && is_name)) return;
    if (is_below && argument.rfind('-', 0) != 0) refuse_extra(verb, argument);
    if (argument == verb.get_name()) is_below = true;
  }
}

/// CLI11 would first complain about the word that the option took for its value, or one missing.
void refuse_unknown_options(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App& verb = named(app, arguments);
  if (!verb_names(verb).empty()) return;  // a verb that is missing or misspelt is said first
  const std::vector<std::string> known = option_names(verb);
  for (const std::string& argument : arguments) {
    if (argument == "--") return;  // only words follow
    if (argument.rfind("--", 0) != 0) continue;
    const std::string name = argument.substr(0, argument.find('='));
    if (std::find(known.begin(), known.end(), name) == known.end()) refuse_extra(verb, argument);
  }
}

/// CLI11 says of an option given twice that it got more than it wants; this says it plainly.
std::string plain_mismatch(const std::string& text, const std::vector<std::string>& arguments) {
  const std::string name = text.substr(0, text.find(':'));
  if (text.find(" missing") != std::string::npos) return name + ": a value is missing";
  if (name.rfind('-', 0) != 0) return fmt::format("more than one {} is given; allowed: one", name);
  const auto times = std::count_if(
      arguments.begin(), arguments.end(),
      [&](const std::string& argument) { return argument.substr(0, argument.find('=')) == name; });
  return times < 2 ? text : fmt::format("{} is given {} times; allowed: once", name, times);
}

void parse(CLI::App& app, std::vector<std::string> arguments, Options& options) {
  refuse_missing_values(app, arguments);
  refuse_unknown_options(app, arguments);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  app.parse(std::move(arguments));
  std::vector<std::string> extra = app.remaining(true);
  extra.erase(std::remove(extra.begin(), extra.end(), "--"), extra.end());
  if (!extra.empty()) refuse_extra(chosen(app), extra.front());
  for (const std::string& subject : options.subjects) {
    if (subject.empty()) throw RequestError(typed_name(chosen(app)) + ": a word is empty");
  }
  const std::vector<CLI::App*> verbs = app.get_subcommands();
  if (verbs.empty()) {
    throw RequestError(
        fmt::format("a verb is missing: {}; see lacuna --help", fmt::join(verb_names(app), ", ")));
  }
  options.verb = verbs.front()->get_name();
  if (verb_names(*verbs.front()).empty()) return;
  const std::vector<CLI::App*> below = verbs.front()->get_subcommands();
  if (below.empty()) {
    throw RequestError(fmt::format("lacuna {}: a word is missing: {}", options.verb,
                                   fmt::join(verb_names(*verbs.front()), ", ")));
  }
  options.subverb = below.front()->get_name();
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
  CommandLine line;
  line.options.arguments = arguments;
  CLI::App app("Lacuna, a cycle-accurate simulator of hardware that profits from zeros.", "lacuna");
  app.allow_extras();  // we refuse them better; verbs inherit it
  app.set_version_flag("--version", std::string("lacuna ") + version());
  app.footer("Each verb has its own help: lacuna run --help");
  app.get_formatter()->column_width(32);
  add_verbs(app, line.options);
  try {
    parse(app, arguments, line.options);
  } catch (const CLI::CallForHelp&) {
    const CLI::App& verb = chosen(app);
    refuse_misspelt_verb(verb, arguments);
    const CLI::App* const above = verb.get_parent();
    std::string before = above == nullptr ? "" : "lacuna";
    if (above != nullptr && above != &app) before += " " + above->get_name();
    line.text =
        verb_names(verb).empty() ? help_text(verb, typed_name(verb), arguments) : verb.help(before);
  } catch (const CLI::CallForAllHelp&) {
    line.text = app.help("", CLI::AppFormatMode::All);
  } catch (const CLI::CallForVersion&) {
    line.text = fmt::format("lacuna {}, {}\n", build_version(), mpi_description());
  } catch (const CLI::ArgumentMismatch& error) {
    throw RequestError(plain_mismatch(error.what(), arguments));
  } catch (const CLI::ParseError& error) {
    throw RequestError(error.what());
  }
  return line;
}

}  // namespace lacuna
