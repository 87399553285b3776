// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/run/option_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/base/split.hpp"

namespace lacuna {

namespace {

using O = Options;
using D = OptionDeclaration;

constexpr unsigned kSimulate = kOfRun | kOfCompare;
constexpr unsigned kExperiment = kOfSweep | kOfSearch;
constexpr unsigned kAll = kOfRows | kOfModel | kOfSystem;

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table
const std::vector<OptionDeclaration>& option_table() {
  static const char* const machine = "Machine";
  static const char* const workload = "Workload";
  static const char* const model = "Language model";
  static const char* const pattern = "Pattern of the weights";
  static const char* const simulation = "Simulation";
  static const char* const output = "Output";
  static const char* const drawn = "What is drawn";
  static const char* const look = "Look";
  static const char* const points = "Points";
  static const std::vector<OptionDeclaration> all = {
      {"machine", "NAME|FILE", machine, kSimulate | kOfDescribe | kOfSchedule, kAll, &O::machines,
       "preset (lacuna describe machines) or machine file; lacuna run has bow if none is given, "
       "compare and trace schedule take several",
       D::first | D::word, "", "", kOfCompare | kOfSchedule},
      {"set", "PATH=VALUE", machine,
       kSimulate | kExperiment | kOfDescribe | kOfValidate | kOfSchedule, kAll, &O::settings,
       "sets a parameter (lacuna describe parameters) of all machines that have it; repeatable",
       D::first, "", "", ~0U},
      {"trace", "FILE", workload, kSimulate, kOfRows | kOfSystem, &O::trace,
       "CSV trace of operations", D::first | D::word},
      {"gemm", "MxKxN", workload, kSimulate, kOfRows, &O::gemm,
       "one product Y[MxN] = W[MxK] X[KxN]", D::first | D::word},
      {"matrix", "FILE", workload, kSimulate, kOfRows, &O::matrix,
       "the product with the matrix of a file: .smtx, .mtx, .npy, .npz, safetensors",
       D::first | D::word},
      {"n", "N", workload, kSimulate, kOfRows, &O::n, "columns of X for --matrix",
       D::first | D::word},
      {"program", "FILE[:NAME=VALUE]", workload, kSimulate, kOfRows, &O::program,
       "a program of one's own for the cores of a wafer (doc/guide/programs.md); NAME=VALUE sets a "
       "constant of it",
       D::first | D::word},
      {"system-config", "FILE", workload, kSimulate | kOfDescribe, kOfSystem, &O::system_config,
       "a training step on a system such as pod16: a file, or the name of a shipped one"},
      {"model", "NAME|FILE", model, kSimulate, kOfModel, &O::model,
       "a model by its name or its config.json, on a wafer, an IPU or a system of IPUs; with "
       "--decode, --prefill, --requests, --kv-in or --kv-out",
       D::first | D::word},
      {"requests", "FILE", model, kSimulate, kOfModel, &O::requests,
       "serves the requests of a CSV, arrival,prompt,output, with --batch slots", D::word},
      {"decode", "", model, kSimulate, kOfModel, &O::decode, "one token after another",
       D::first | D::word},
      {"context", "N", model, kSimulate, kOfModel, &O::context,
       "positions, the new one included; default 2048", D::word},
      {"batch", "N", model, kSimulate, kOfModel, &O::batch,
       "sequences that are decoded at once; default 1", D::word},
      {"prefill", "N", model, kSimulate, kOfModel, &O::prefill,
       "a prompt of so many tokens, in chunks", D::word},
      {"chunk", "N", model, kSimulate, kOfModel, &O::chunk,
       "tokens of a chunk of it; default 256, or all of fewer", D::word, "prefill"},
      {"kv-in", "N", model, kSimulate, kOfModel, &O::kv_in,
       "keys and values of so many positions from the host into the blocks of a wafer", D::word,
       ""},
      {"kv-out", "N", model, kSimulate, kOfModel, &O::kv_out, "the same the other way", D::word,
       ""},
      {"streams", "N", model, kSimulate, kOfModel, &O::streams,
       "streams of the host that bring or take them; one for each row of blocks", D::word,
       "kv-in|kv-out"},
      {"blocks", "XxY", model, kSimulate, kOfModel, &O::blocks,
       "blocks of cores side by side and above each other; 2x4, or fewer that fit", D::word},
      {"block-cores", "WxH", model, kSimulate, kOfModel, &O::block_cores,
       "cores of a block; 256x256", D::word},
      {"activations", "PRODUCT=ZEROS", model, kSimulate, kOfModel, &O::activations,
       "zeros of the inputs of a product, qkv, o, up, down, or of the vector between blocks, "
       "hidden: bernoulli:DENSITY, channel:DENSITY, file:PATH; repeatable; see llm.skip; of single "
       "layers with 0-3,7: before it",
       D::word, "", "", ~0U},
      {"weights", "PRODUCT=PATTERN", model, kSimulate, kOfModel, &O::weights,
       "zeros of the weights of a product, or all: a pattern, tile:PATTERN if the outputs of a "
       "core "
       "share it, @RxC behind it for blocks, file:PATH of a mask; repeatable; of single layers "
       "with "
       "0-3,7: before it",
       D::word, "", "", ~0U},
      {"window", "N", model, kSimulate, kOfModel, &O::window,
       "a token sees the last N positions, itself one", D::word},
      {"kept", "N", model, kSimulate, kOfModel, &O::kept,
       "positions left in the cache, drawn, the newest one of them", D::word},
      {"experts", "WORD", model, kSimulate, kOfModel, &O::experts,
       "each over all columns of a block or in columns of its own: spread or apart", D::word, "",
       "spread apart"},
      {"layers", "N", model, kSimulate, kOfModel, &O::layers,
       "only so many layers of the model; default all", D::word},
      {"cache", "DIR", model, kSimulate | kExperiment, kOfModel, &O::cache,
       "a folder that keeps cycles of programs; those of another build or of other parameters are "
       "not taken"},
      {"pattern", "PATTERN", pattern, kSimulate, kOfRows | kOfModel, &O::patterns,
       "NAME[BLOCK][:DENSITY][:key=value], such as block16:0.1; lacuna describe patterns lists "
       "names. `own` is the workload's own; compare takes several",
       D::first | D::word, "", "", kOfCompare},
      {"density", "D", pattern, kSimulate, kOfRows | kOfModel, &O::density,
       "share of the weights that is kept, 0 to 1; in compare several with commas: each pattern "
       "that takes one, with each",
       D::word},
      {"block", "B", pattern, kSimulate, kOfRows | kOfModel, &O::block, "side of the blocks",
       D::word},
      {"nm", "N:M", pattern, kSimulate, kOfRows, &O::nm, "N of every M weights are kept", D::word},
      {"mode", "MODE", pattern, kSimulate, kOfRows, &O::mode,
       "kernel of sparse weights, or of dense ones if none are sparse: auto, static, dynamic or "
       "streamed",
       D::word, "", "auto static dynamic streamed"},
      {"residency", "PLACE", pattern, kSimulate, kOfRows, &O::residency,
       "where weights live: auto (what is faster, if all fit), streamed or resident", D::word, "",
       "auto streamed resident"},
      {"x-pattern", "PATTERN", pattern, kSimulate, kOfRows, &O::x_pattern,
       "zeros of activations: bernoulli:DENSITY, channel:DENSITY, file:PATH or dense", D::word},
      {"x-density", "DENSITY", pattern, kSimulate, kOfRows, &O::x_density,
       "non-zeros of activations, bernoulli unless --x-pattern says otherwise", D::word},
      {"dtype", "TYPE", pattern, kSimulate, kOfRows, &O::dtype, "fp16, fp32, bf16, fp8 or int8",
       D::word, "", "fp32 fp16 bf16 fp8 int8"},
      {"partials", "TYPE", pattern, kSimulate, kOfRows, &O::partials,
       "type of partial sums: auto, fp16, fp32 or int32", D::word, "", "auto fp16 fp32 int32"},
      {"layout", "LAYOUT", simulation, kSimulate | kOfSweep | kOfValidate | kOfSchedule, kOfRows,
       &O::layout,
       "how operations are laid out: planned (by the machine's rule; default but of validate), "
       "first "
       "(all parameters as they are set; default of validate), best (searched, see lacuna describe "
       "layouts; best:N simulates "
       "N of each at most beside the planned ones), or a file of layouts that were found",
       D::first | D::word, "", "planned first best"},
      {"engine", "ENGINE", simulation, kSimulate | kExperiment | kOfValidate | kOfSchedule, kAll,
       &O::engine, "event (default) or clocked; results are the same", D::how | D::word, "",
       "event clocked"},
      {"values", "KIND", simulation, kSimulate | kExperiment, kOfRows, &O::values,
       "carry numbers and check the product: integer (default) or normal:SIGMA, which reports "
       "errors against FP64",
       D::perhaps_valued},
      {"seed", "N", simulation, kSimulate | kExperiment | kOfValidate | kOfSchedule | kOfShow, kAll,
       &O::seed, "seed of the masks and values; default 1", D::word},
      {"seeds", "N", simulation, kSimulate | kExperiment, kOfRows, &O::seeds,
       "repeat with N patterns, seeds from --seed on; means and 95 % intervals", D::first},
      {"fold", "on|off", simulation, kSimulate | kExperiment, kOfRows, &O::fold,
       "on (default) or off: use exact symmetry of a wafer", D::word, "", "on off"},
      {"energy-table", "FILE", simulation, kSimulate | kExperiment | kOfValidate | kOfPlot, kAll,
       &O::energy_table,
       "prices of your own; events it leaves out are priced as shipped; lacuna plot writes the "
       "result again with these, without simulating"},
      {"with-dense", "", simulation, kSimulate | kExperiment, kOfRows, &O::with_dense,
       "run the dense product too, for the speed-up", D::first | D::word},
      {"jobs", "N", simulation, kOfCompare | kExperiment | kOfValidate | kOfSchedule, kAll,
       &O::jobs, "points simulated at a time; default all processors", D::how},
      {"shard", "I/N", simulation, kOfCompare | kExperiment, kOfRows | kOfModel, &O::shard,
       "simulate the I-th of N shares of the points and keep them beside --out; when all are kept, "
       "--resume makes the result",
       D::how, "out"},
      {"resume", "", simulation, kSimulate | kExperiment | kOfValidate | kOfSchedule, kAll,
       &O::resume, "go on with what was interrupted; finished work is kept beside --out", D::how,
       "out"},
      {"no-cache", "", simulation, kSimulate | kExperiment, kAll, &O::no_cache,
       "neither use nor keep simulated parts of systems and language models, and layouts", D::how},
      {"points", "FILE", points, kOfValidate, kOfRows, &O::points,
       "points of your own, CSV; default those shipped; repeatable", 0, "", "", ~0U},
      {"family", "WORD", points, kOfValidate, kOfRows, &O::families,
       "only families with this in their name; repeatable", 0, "", "", ~0U},
      {"by", "COLUMN", points, kOfValidate, kOfRows, &O::by,
       "errors by a column of the points; repeatable", 0, "", "", ~0U},
      {"mask-rule", "RULE", points, kOfValidate, kOfRows, &O::mask_rule,
       "draw the masks of all points by uniform or popsparse[:SEED]"},
      {"fail-above", "PERCENT", points, kOfValidate, kOfRows, &O::fail_above,
       "status 3 if a family's median error is above"},
      {"out", "DIR", output,
       kSimulate | kExperiment | kOfValidate | kOfSchedule | kOfPlot | kOfMake | kOfImport, kAll,
       &O::out,
       "write a result folder; finished work is kept beside it; of lacuna plot the figures, of "
       "trace make and import the trace, a file",
       D::first | D::how},
      {"sqlite", "FILE", output, kSimulate | kExperiment | kOfValidate, kAll, &O::sqlite,
       "add the tables of --out to a database of many results", D::how, "out"},
      {"event-log", "", output, kSimulate, kOfRows, &O::event_log, "write events.csv into it", 0,
       "out"},
      {"scalesim", "", output, kSimulate, kOfRows, &O::scalesim,
       "write scalesim/: reports in the form of SCALE-Sim", 0, "out"},
      {"timeline", "", output, kSimulate, kOfRows | kOfSystem, &O::timeline,
       "write timeline.json for Perfetto, and Gantt charts", 0, "out"},
      {"units", "PATH", output, kSimulate, kOfRows, &O::units,
       "units of --timeline: names such as tile3 or wafer.r0.c1, with *; repeatable; default the "
       "first 16",
       0, "timeline", "", ~0U},
      {"timeline-limit", "MB", output, kSimulate, kOfRows, &O::timeline_limit,
       "size of timeline.json in MB, 32 if not given; beyond it windows of equal length are left "
       "out, and it says which",
       0, "timeline"},
      {"view", "", output, kSimulate | kOfPlot, kAll, &O::view,
       "write view.html: the die over time, down to a core or tile; lacuna plot writes the pages "
       "of several folders beside each other",
       0, "out"},
      {"view-steps", "N", output, kSimulate, kOfRows | kOfModel, &O::view_steps,
       "steps of --view on a wafer, 200 if not given", 0, "view"},
      {"view-path", "FROM:TO", output, kSimulate, kOfRows | kOfModel, &O::view_path,
       "what each moment of at most 10000 cycles of a wafer waited for, on its page", 0, "view"},
      {"view-cores", "COLUMNSxROWS", output, kSimulate, kOfRows | kOfModel, &O::view_cores,
       "of these columns and rows, 0-63x0-63 if not given; at most 64 of each", 0, "view-path"},
      {"waves", "PATH", output, kSimulate, kOfRows, &O::waves,
       "write .vcd waves of these units; repeatable", 0, "out", "", ~0U},
      {"interval", "N", output, kSimulate, kOfRows, &O::interval,
       "power and bandwidth over time, per N cycles"},
      {"explain", "", output, kSimulate | kExperiment, kOfRows, &O::explain,
       "print plan, phases, the busiest unit and why, estimate and simulation", D::first | D::how},
      {"why", "", output, kSimulate, kAll, &O::why,
       "say why it is not faster: run it again without its costs, and laid out otherwise"},
      {"json", "", output, kSimulate | kExperiment | kOfDescribe, kAll, &O::json,
       "print the summary as JSON", D::how},
      {"markdown", "", output, kOfDescribe, kOfSystem, &O::markdown, "as a page of the manual"},
      {"wide", "", output, kSimulate | kExperiment | kOfDescribe | kOfValidate | kOfShow,
       kAll | kOfResults, &O::wide, "all rows and columns, however many lines", D::first | D::how},
      {"quiet", "", output,
       kSimulate | kExperiment | kOfValidate | kOfSchedule | kOfMake | kOfImport | kOfPlot,
       kAll | kOfResults, &O::quiet, "print neither progress nor notes", D::first | D::how},
      {"picture", "ID", output, kOfShow, kOfRows, &O::picture,
       "draw the mask of this row in letters"},
      {"flop", "CONVENTION", output, kOfShow, kOfRows, &O::flop_convention,
       "electra: the FLOP of a BERT as the script published with ELECTRA counts them"},
      {"overlay", "FILE", drawn, kOfPlot, kOfResults, &O::overlay,
       "measured points of other hardware over the throughput, a file of validation points"},
      {"only", "NAME", drawn, kOfPlot, kOfResults, &O::only,
       "figures by their names, such as speedup or cycle_*; repeatable", 0, "", "", ~0U},
      {"run", "N", drawn, kOfPlot, kOfResults, &O::runs,
       "runs by their numbers, counted over all folders; repeatable", 0, "", "", ~0U},
      {"normalise", "HOW", drawn, kOfPlot, kOfResults, &O::normalise,
       "stacked bars: share (of each bar), sum, and of cycles time (microseconds) or dense (times "
       "of the dense run)",
       0, "", "share sum time dense"},
      {"style", "NAME|FILE", look, kOfPlot, kOfResults, &O::style,
       "ieee, ieee_wide, slide, or a file of these words", 0, "", "ieee ieee_wide slide"},
      {"width", "INCHES", look, kOfPlot, kOfResults, &O::width, "of a figure; default 3.35"},
      {"height", "INCHES", look, kOfPlot, kOfResults, &O::height,
       "of a figure; default as high as what it shows"},
      {"font", "NAME[,POINTS]", look, kOfPlot, kOfResults, &O::font,
       "a font, and its points if a comma and they follow"},
      {"palette", "NAME", look, kOfPlot, kOfResults, &O::palette, "colour (default) or grey", 0, "",
       "colour grey"},
      {"title", "TEXT", look, kOfPlot, kOfResults, &O::title, "a line above the data, or none"},
      {"legend", "WHERE", look, kOfPlot, kOfResults, &O::legend, "below (default) or none", 0, "",
       "below none"},
      {"labels", "OLD=NEW", look, kOfPlot, kOfResults, &O::labels,
       "what to call a machine, pattern, series or axis; repeatable", 0, "", "", ~0U},
      {"format", "FORMAT", look, kOfPlot, kOfResults, &O::format,
       "svg, pdf, png, eps; several with commas"},
      {"matplotlib", "", look, kOfPlot, kOfResults, &O::matplotlib,
       "write redraw.py too, which draws the figures with Matplotlib, in any style"}};
  return all;
}

// NOLINTNEXTLINE(readability-function-size): a table
const std::vector<VerbDeclaration>& verb_table() {
  static const std::vector<VerbDeclaration> all = {
      {kOfRun, "run", "Simulates one workload on one machine.",
       "lacuna run --machine bow --gemm 4096x4096x1024 --pattern block16:0.0625 --out out/first\n"
       "  lacuna run --machine wse2 --gemm 4096x4096x8192 --pattern unstructured:0.1 --view --out "
       "out/view",
       "", "", 0, 0},
      {kOfCompare, "compare",
       "Simulates one workload on several machines and with several patterns, or says what differs "
       "between finished results.",
       "lacuna compare --machine bow --machine wse2 --set wafer.columns=64 --set wafer.rows=64 "
       "--gemm 1024x1024x2048 --pattern dense --pattern unstructured:0.1 --pattern block16:0.1 "
       "--out out/compare\n  lacuna compare out/before out/after",
       "FOLDER", "finished results, to say what differs between them", 0, kAnyNumber},
      {kOfSweep, "sweep", "Simulates all points of an experiment file.",
       "lacuna sweep traces/experiments/density.yaml --out out/density\n"
       "  lacuna sweep traces/experiments/density.yaml --out out/density --resume",
       "FILE", "the experiment, YAML", 1, 1},
      {kOfSearch, "search", "Finds the best points of an experiment file without simulating all.",
       "lacuna search traces/experiments/wafer_layout.yaml --out out/layout", "FILE",
       "the experiment, YAML", 1, 1},
      {kOfMake, "trace make", "Makes the trace of a model, of a product or of a suite.",
       "lacuna trace make bert-base --part training --sparse '*.ffn*=block16:0.1' --out t.csv\n"
       "  lacuna trace make llama --size 2-7b --part decode --context 2048\n"
       "  lacuna trace make config.json --tokens 1024",
       "NAME",
       "bert, gpt, opt, llama, groupbert with --size; bert-base, gpt3-xl, ...; gemm, popsparse, "
       "blas, kge; or a config.json",
       1, kAnyNumber},
      {kOfImport, "trace import", "Turns the files of other tools into a trace.",
       "lacuna trace import layer0/*.smtx --n 2048 --out layer0.csv\n"
       "  lacuna trace import config.json --tokens 1024 --part training\n"
       "  lacuna trace import resnet18.csv --out resnet18.trace.csv",
       "FILE", "one or more files of a format: ", 1, kAnyNumber},
      {kOfSchedule, "trace schedule",
       "Changes a pattern as sparse training does, and simulates its phases.",
       "lacuna trace schedule dynamic --block 16 --machine bow --machine wse2 --out out/dynamic",
       "KIND", "", 1, 1},
      {kOfShow, "trace show", "Prints rows, costs and mask statistics.",
       "lacuna trace show my_trace.csv", "FILE", "the trace", 1, 1},
      {kOfCheck, "trace check", "Reports every problem of a trace.",
       "lacuna trace check my_trace.csv", "FILE", "the trace", 1, 1},
      {kOfDescribe, "describe",
       "Describes machines, parameters, statistics, patterns, formats, models, area or trust.",
       "lacuna describe parameters --machine bow\n  lacuna describe tile.memory.kib", "SUBJECT",
       "machines, parameters, layouts, statistics, patterns, formats, models, index (all that has "
       "a name; if none is given), groups, words, a name, or fit: layouts of a model on a system; "
       "completion (for bash), completion-zsh, completion-fish, manual (a page for man), schema "
       "and machine-schema (JSON Schema of experiment and machine files)",
       0, 1},
      {kOfValidate, "validate", "Runs published measurements and reports the error of each.",
       "lacuna validate --family static --fail-above 25", "", "", 0, 0},
      {kOfPlot, "plot", "Draws the figures of result folders again.",
       "lacuna plot out/compare --out out/figures\n"
       "  lacuna plot out/compare --style ieee --only speedup --out paper\n"
       "  lacuna plot --view out/before out/after --out out/beside",
       "FOLDER", "result folders, whose runs are drawn together", 1, kAnyNumber}};
  return all;
}

std::string OptionDeclaration::underscored() const {
  std::string text = name;
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

bool OptionDeclaration::is_given(const Options& options) const {
  if (const auto* const flag = std::get_if<Flag>(&place)) return options.*(*flag);
  if (const auto* const text = std::get_if<Text>(&place)) return (options.*(*text)).has_value();
  return !(options.*std::get<Texts>(place)).empty();
}

void OptionDeclaration::set(Options& options, const std::string& said) const {
  if (const auto* const flag = std::get_if<Flag>(&place)) {
    options.*(*flag) = check_word(underscored(), said, {"true", "false"}) == "true";
  } else if (const auto* const text = std::get_if<Text>(&place)) {
    options.*(*text) = said;
  } else {
    (options.*std::get<Texts>(place)).push_back(said);
  }
}

const OptionDeclaration* find_option(const std::string& name) {
  return find_where(option_table(), [&](const OptionDeclaration& each) {
    return name == each.dashed() || name == each.underscored();
  });
}

std::vector<std::string> experiment_words(Request request) {
  std::vector<std::string> words;
  for (const OptionDeclaration& each : option_table()) {
    const bool of_model_alone = each.requests == kOfModel;
    const bool wanted = request == kOfModel ? of_model_alone : (each.requests & request) != 0;
    if (each.is(OptionDeclaration::word) && wanted) words.push_back(each.underscored());
  }
  return words;
}

bool say_word(Options& options, const std::string& word, const std::string& value) {
  const OptionDeclaration* const option = find_option(word);
  if (option == nullptr || !option->is(OptionDeclaration::word)) return false;
  const bool list = std::holds_alternative<OptionDeclaration::Texts>(option->place);
  for (const std::string& each : list ? split(value, ' ') : std::vector<std::string>{value}) {
    if (!list || !each.empty()) option->set(options, each);
  }
  return true;
}

void check_needs(const Options& options) {
  for (const OptionDeclaration& each : option_table()) {
    if (each.needs[0] == '\0' || !each.is_given(options)) continue;
    const std::vector<std::string> others = split(each.needs, '|');
    const bool met = any_of(others, [&](const std::string& other) {
      return find_option("--" + other)->is_given(options);
    });
    if (met) continue;
    throw refused("{}: needs --{}", each.dashed(), fmt::join(others, " or --"));
  }
}

void refuse_others(const Options& options, Request request, const std::string& why) {
  for (const OptionDeclaration& each : option_table()) {
    if ((each.requests & request) != 0 || !each.is_given(options)) continue;
    throw refused(why, each.dashed());
  }
}

std::vector<std::string> reproducing_arguments(const Options& options) {
  std::vector<std::string> kept;
  const std::vector<std::string>& given = options.arguments;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const OptionDeclaration* const option = find_option(given[i].substr(0, given[i].find('=')));
    if (option == nullptr || !option->is(OptionDeclaration::how) || given[i][0] != '-') {
      kept.push_back(given[i]);
    } else if (option->value[0] != '\0' && given[i] == option->dashed()) {
      ++i;  // its value
    }
  }
  kept.emplace_back("--engine");
  kept.push_back(options.engine.value_or("event"));
  return kept;
}

const OptionDeclaration* first_of(const Options& options, Request request) {
  return find_where(option_table(), [&](const OptionDeclaration& each) {
    return each.requests == static_cast<unsigned>(request) && each.is_given(options);
  });
}

}  // namespace lacuna
