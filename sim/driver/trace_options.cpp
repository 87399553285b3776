// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/trace_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "workloads/generate/generator_table.hpp"
#include "workloads/import/import_table.hpp"

namespace lacuna {
namespace {

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
      ->expected(1);
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

void add_show(CLI::App& trace, Options& o) {
  CLI::App& show = add_below(trace, "show", "Prints rows, costs and mask statistics.",
                             "lacuna trace show my_trace.csv");
  show.add_option("FILE", o.subjects, "the trace")->required()->expected(1);
  show.add_option("--seed", o.seed, "seed of the masks; default 1")->type_name("N");
}

}  // namespace

void add_trace_options(CLI::App& app, Options& options) {
  CLI::App& trace = add_below(app, "trace", "Makes, imports, shows or checks a workload trace.",
                              "lacuna trace show traces/bert_base_layer.csv");
  add_make(trace, options);
  add_import(trace, options);
  add_show(trace, options);
  CLI::App& check = add_below(trace, "check", "Reports every problem of a trace.",
                              "lacuna trace check my_trace.csv");
  check.add_option("FILE", options.subjects, "the trace")->required()->expected(1);
}

}  // namespace lacuna
