// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/trace_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>

#include "workloads/generate/generator_table.hpp"
#include "workloads/generate/schedule.hpp"
#include "workloads/import/import_table.hpp"

namespace lacuna {
namespace {

constexpr int kSeveral = 1 << 10;

CLI::App& add_below(CLI::App& parent, const char* name, const char* what, const char* example) {
  CLI::App& verb = *parent.add_subcommand(name, what);
  verb.footer(std::string("Example:\n  ") + example);
  return verb;
}

// One option for each key of the table of generators; a flag may be given a value with '='.
void add_generator_keys(CLI::App& verb, Options& o, bool models_only) {
  for (const GeneratorKey& key : generator_keys()) {
    if (models_only && (!key.of_models || key.name == "size")) continue;
    const std::string name = "--" + key.name;
    const std::string meaning = fmt::format("{} ({})", key.meaning, key.allowed);
    CLI::Option* option = nullptr;
    if (key.is_flag) {
      option = verb.add_flag_function(
          name,
          [&o, key](std::int64_t count) {
            if (count > 0) o.generator.emplace_back(key.name, "1");
          },
          key.meaning);
    } else {
      option = verb.add_option_function<std::vector<std::string>>(
          name,
          [&o, key](const std::vector<std::string>& values) {
            for (const std::string& value : values) o.generator.emplace_back(key.name, value);
          },
          meaning);
      option->expected(1)->type_name("");
      if (key.name == "sparse") option->take_all();
    }
    option->group(key.of_models ? "Models" : "Other workloads");
  }
}

void add_make(CLI::App& trace, Options& o) {
  CLI::App& make = add_below(
      trace, "make", "Makes the trace of a model, of a product or of a suite.",
      "lacuna trace make bert-base --part training --sparse '*.ffn*=block16:0.1' --out t.csv\n"
      "  lacuna trace make llama --size 2-7b --part decode --context 2048\n"
      "  lacuna trace make config.json --tokens 1024");
  make.add_option("NAME", o.subjects,
                  "bert, gpt, opt, llama, groupbert with --size; bert-base, gpt3-xl, ...; gemm, "
                  "popsparse, blas, kge; or a config.json")
      ->required()
      ->type_name("TEXT")
      ->expected(1, kSeveral);  // so that make() can say what the second one is
  add_generator_keys(make, o, false);
  make.add_option("--out", o.out, "write it into this file; default standard output")
      ->type_name("FILE");
  make.add_flag("--quiet", o.quiet, "print no remarks");
}

// One option for each key of the table of importers.
void add_import(CLI::App& trace, Options& o) {
  CLI::App& verb = add_below(trace, "import", "Turns the files of other tools into a trace.",
                             "lacuna trace import layer0/*.smtx --n 2048 --out layer0.csv\n"
                             "  lacuna trace import config.json --tokens 1024 --part training\n"
                             "  lacuna trace import resnet18.csv --out resnet18.trace.csv");
  std::string formats;
  for (const ImportFormat& format : import_formats()) {
    formats += (formats.empty() ? "" : ", ") + format.name;
  }
  verb.add_option("FILE", o.subjects, "one or more files of a format: " + formats)->required();
  for (const ImportKey& key : import_keys()) {
    const std::string name = "--" + key.name;
    if (key.allowed == "0, 1") {
      verb.add_flag_function(
          name,
          [&o, key](std::int64_t count) {
            if (count > 0) o.generator.emplace_back(key.name, "1");
          },
          key.meaning);
      continue;
    }
    CLI::Option* const option = verb.add_option_function<std::vector<std::string>>(
        name,
        [&o, key](const std::vector<std::string>& values) {
          for (const std::string& value : values) o.generator.emplace_back(key.name, value);
        },
        fmt::format("{} ({})", key.meaning, key.allowed));
    option->expected(1)->type_name("");
    if (key.name == "dim") option->take_all();
  }
  add_generator_keys(verb, o, true);
  verb.add_option("--out", o.out, "write it into this file; default standard output")
      ->type_name("FILE");
  verb.add_flag("--quiet", o.quiet, "print no remarks");
}

struct ScheduleKey {
  const char* name;
  const char* meaning;
};

constexpr std::array<ScheduleKey, 14> kScheduleKeys = {{
    {"model", "whose layers; default bert-base"},
    {"layers", "so many of them; default 1"},
    {"density", "of the weights, at the end if it changes; default 0.1"},
    {"first-density", "gmp: at the beginning; default 0.3"},
    {"ratio", "dynamic: of the kept blocks, moved at first; default 0.5"},
    {"block", "side of the blocks, or several: 1,4,8,16; default 1"},
    {"global",
     "gmp, imp: 1 for one threshold over all matrices, whose densities emerge; default 0"},
    {"fine-tuning", "spdf: share of the steps, all dense; default 0.05"},
    {"updates", "of the pattern; default as published"},
    {"steps", "of training in all; default as published"},
    {"samples", "phases that are written and simulated, evenly spread; default 10"},
    {"sequences", "at once; default 1"},
    {"tokens", "of each; default 128"},
    {"part", "weights (forward products, the default) or training (backward products too)"},
}};

void add_schedule(CLI::App& trace, Options& o) {
  CLI::App& verb = add_below(
      trace, "schedule", "Changes a pattern as sparse training does, and simulates its phases.",
      "lacuna trace schedule dynamic --block 16 --machine bow --machine wse2 --out out/dynamic");
  std::string kinds;
  for (const ScheduleKindRow& row : schedule_kinds()) {
    kinds += fmt::format("{}{} ({})", kinds.empty() ? "" : "; ", row.name, row.meaning);
  }
  verb.add_option("KIND", o.subjects, kinds)->required()->expected(1);
  for (const ScheduleKey& key : kScheduleKeys) {
    verb.add_option_function<std::string>(
            std::string("--") + key.name,
            [&o, key](const std::string& value) { o.generator.emplace_back(key.name, value); },
            key.meaning)
        ->type_name("");
  }
  verb.add_option("--machine", o.machines, "simulate the samples on it; repeatable")
      ->type_name("NAME|FILE")
      ->expected(1)
      ->take_all();
  verb.add_option("--set", o.settings, "sets a parameter of the machines; repeatable")
      ->type_name("PATH=VALUE")
      ->expected(1)
      ->take_all();
  verb.add_option("--seed", o.seed, "seed of masks, weights and gradients; default 1")
      ->type_name("N");
  verb.add_option("--engine", o.engine, "event (default) or clocked")->type_name("ENGINE");
  verb.add_option("--jobs", o.jobs, "phases simulated at a time; default all processors")
      ->type_name("N");
  verb.add_option("--out", o.out, "folder for traces, masks, schedule.csv and figures")
      ->type_name("DIR");
  verb.add_flag("--resume", o.resume, "go on with a schedule that was interrupted");
  verb.add_flag("--quiet", o.quiet, "print no progress");
}

void add_show(CLI::App& trace, Options& o) {
  CLI::App& show = add_below(trace, "show", "Prints rows, costs and mask statistics.",
                             "lacuna trace show my_trace.csv");
  show.add_option("FILE", o.subjects, "the trace")->required()->expected(1);
  show.add_option("--seed", o.seed, "seed of the masks; default 1")->type_name("N");
  show.add_flag("--wide", o.wide, "tables as wide as they are");
  show.add_option("--picture", o.picture, "draw the mask of this row in letters")->type_name("ID");
  show.add_option("--flop", o.flop_convention,
                  "electra: the FLOP of a BERT as the script published with ELECTRA counts them")
      ->type_name("CONVENTION");
}

}  // namespace

void add_trace_options(CLI::App& app, Options& options) {
  CLI::App& trace = add_below(app, "trace", "Makes, imports, shows or checks a workload trace.",
                              "lacuna trace show traces/bert_base_layer.csv");
  add_make(trace, options);
  add_import(trace, options);
  add_schedule(trace, options);
  add_show(trace, options);
  CLI::App& check = add_below(trace, "check", "Reports every problem of a trace.",
                              "lacuna trace check my_trace.csv");
  check.add_option("FILE", options.subjects, "the trace")->required()->expected(1);
}

}  // namespace lacuna
