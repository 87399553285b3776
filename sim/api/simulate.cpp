// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <optional>
#include <sstream>
#include <streambuf>
#include <systemc>  // declares sc_main with C linkage
#include <utility>

#include "sim/api/hidden.hpp"
#include "sim/base/error.hpp"
#include "sim/driver/command/command_line.hpp"
#include "sim/driver/command/resume.hpp"
#include "sim/driver/command/simulation.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/layout/laid_out_machine.hpp"
#include "sim/driver/result/result_folder.hpp"
#include "sim/driver/run/idle_settings.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/run/option_table.hpp"
#include "sim/driver/run/workload.hpp"
#include "workloads/trace/trace_reader.hpp"

/// SystemC's library has a main that calls this. Whoever links Lacuna has a main of their own, and
/// may have an sc_main too, which then is taken.
extern "C" __attribute__((weak, visibility("default"))) int sc_main(int /*argc*/, char** /*argv*/) {
  return 0;
}

namespace lacuna::api {

void throw_translated() {
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const lacuna::RequestError& error) {
    throw RequestError(error.what());
  } catch (const lacuna::SimulationError& error) {
    throw SimulationError(error.what());
  } catch (const std::bad_alloc&) {
    throw SimulationError("there is not enough memory on this computer");
  } catch (const std::filesystem::filesystem_error& error) {
    throw SimulationError(error.what());
  } catch (const std::exception& error) {
    throw InternalError(std::string("internal inconsistency: ") + error.what());
  }
}

const char* version() { return lacuna::version(); }

namespace {

/// Signals and child processes are of the whole process: one request after the other.
std::mutex& one_at_a_time() {
  static std::mutex mutex;
  return mutex;
}

/// What nobody listens to.
class Nowhere : public std::streambuf {
 protected:
  int overflow(int c) override { return c == EOF ? 0 : c; }
};

constexpr std::size_t kLargestTable = std::size_t{1} << 30U;  // bytes of search.csv

/// "with_dense" is --with-dense.
std::string dashed(std::string word) {
  std::replace(word.begin(), word.end(), '_', '-');
  return "--" + word;
}

void add_words(const Words& words, std::vector<std::string>& arguments) {
  for (const auto& [word, value] : words) {
    // a value that begins with dashes is not the next option
    const bool flag = value.empty();
    arguments.push_back(flag ? dashed(word) : dashed(word) + "=" + value);
  }
}

Options parsed(const std::vector<std::string>& arguments) {
  CommandLine line = parse_command_line(arguments);
  if (line.text) throw RequestError("help and version are not for programs");
  check_needs(line.options);
  return std::move(line.options);
}

/// The options that name machines and workload are those of the objects.
void refuse_twice(const Words& words) {
  for (const auto& [word, value] : words) {
    for (const char* const own : {"machine", "set", "trace", "gemm", "matrix", "n", "program"}) {
      if (word != own) continue;
      throw RequestError(
          fmt::format("--{}: the machine and the workload of the call say this", word));
    }
    for (const char* const other :
         {"system-config", "system_config", "model", "decode", "event-log", "event_log"}) {
      if (word != other) continue;
      throw RequestError(
          fmt::format("--{}: not for a call; the program does it, which command() calls", word));
    }
  }
}

void check_distinct(const std::vector<const Machine*>& machines) {
  for (std::size_t i = 0; i < machines.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (machines[i]->name() != machines[j]->name()) continue;
      throw RequestError(
          fmt::format("two machines are called '{}', and results could not tell them apart: give "
                      "one a label",
                      machines[i]->name()));
    }
  }
}

std::vector<std::string> arguments_of(const std::string& verb,
                                      const std::vector<const Machine*>& machines,
                                      const Workload& workload, const Words& words) {
  std::vector<std::string> arguments{verb};
  for (const Machine* const machine : machines) {
    arguments.insert(arguments.end(), {"--machine", machine->hidden().file});
  }
  for (const Machine* const machine : machines) {
    for (const auto& [path, value] : machine->hidden().settings) {
      const std::string scope = machines.size() > 1 ? machine->name() + ":" : "";
      arguments.insert(arguments.end(), {"--set", fmt::format("{}{}={}", scope, path, value)});
    }
  }
  const auto& named = workload.hidden().arguments;
  arguments.insert(arguments.end(), named.begin(), named.end());
  add_words(words, arguments);
  return arguments;
}

/// Copies of machines that lay operations out as --layout says; null where one lays out nothing.
std::vector<std::unique_ptr<lacuna::Machine>> laid_out(
    const std::vector<const lacuna::Machine*>& machines, const Options& options) {
  std::vector<std::unique_ptr<lacuna::Machine>> copies;
  for (const lacuna::Machine* const machine : machines) {
    copies.push_back(machine->clone());
    if (copies.back() != nullptr || !options.layout) continue;
    throw RequestError(fmt::format("--layout: found '{}' with machine '{}', which has no layouts",
                                   *options.layout, machine->name()));
  }
  lay_out(copies, layout_request(options.layout, options.no_cache));
  return copies;
}

/// `run` and `compare` have the same points; that of `run` has one pattern, and no jobs.
Result simulated(const Options& options, const std::vector<const lacuna::Machine*>& machines,
                 const Workload& workload, const Wants& wants, std::ostream& said) {
  const Streams streams{said, said};
  RunSettings settings = run_settings(options);
  settings.execution.event_log = settings.execution.event_log || wants.events;
  const WorkloadTrace trace =
      workload.hidden().workload ? *workload.hidden().workload : load_workload(options);
  std::optional<ComparedRuns> done =
      compare_machines(options, machines, trace, settings, streams, true);
  auto result = std::make_shared<Result::Hidden>();
  result->command = reproducing_arguments(options);
  result->workload = trace.name;
  if (!done) {
    result->records = read_result(*options.out);
    return Result(std::move(result));
  }
  if (done->interrupted) throw Interrupted("interrupted");
  result->records = std::move(done->records);
  std::ostringstream wrong;
  if (check_values(result->records, options, {wrong, wrong}) == kCheckFailed) {
    throw CheckError(wrong.str());
  }
  return Result(std::move(result));
}

}  // namespace

Result run_machines(const std::string& verb, const std::vector<const Machine*>& machines,
                    const Workload& workload, const Words& words, const Wants& wants,
                    std::ostream* said) {
  const std::lock_guard<std::mutex> lock(one_at_a_time());
  return translated([&] {
    refuse_twice(words);
    check_distinct(machines);
    const Options options = parsed(arguments_of(verb, machines, workload, words));
    if (const OptionDeclaration* const option = first_of(options, kOfModel)) {
      throw RequestError(option->dashed() + ": needs --model");
    }
    std::vector<const lacuna::Machine*> all;
    for (const Machine* const machine : machines) {
      machine->hidden().machine->check();
      all.push_back(machine->hidden().machine.get());
    }
    const auto copies = laid_out(all, options);
    for (std::size_t i = 0; i < copies.size(); ++i) {
      if (copies[i] != nullptr) all[i] = copies[i].get();
    }
    Nowhere nowhere;
    std::ostream silence(&nowhere);
    return simulated(options, all, workload, wants, said == nullptr ? silence : *said);
  });
}

Result run(const Machine& machine, const Workload& workload, const Words& words,
           std::ostream* said) {
  return run_machines("run", {&machine}, workload, words, {}, said);
}

Result compare(const std::vector<Machine>& machines, const Workload& workload, const Words& words,
               std::ostream* said) {
  std::vector<const Machine*> all;
  all.reserve(machines.size());
  for (const Machine& machine : machines) all.push_back(&machine);
  if (all.empty()) throw RequestError("--machine: give one or more to compare");
  return run_machines("compare", all, workload, words, {}, said);
}

namespace {

/// Has `run` run the experiment of a file. `finish` makes what is returned of the options, what was
/// done (nothing if it was finished before) and the result that has its records.
template <class Run, class Finish>
auto of_file(const char* verb, const std::string& file, const Words& words, std::ostream* said,
             const Run& run, const Finish& finish) {
  const std::lock_guard<std::mutex> lock(one_at_a_time());
  return translated([&] {
    std::vector<std::string> arguments{verb, file};
    add_words(words, arguments);
    const Options options = parsed(arguments);
    auto result = std::make_shared<Result::Hidden>();
    result->command = reproducing_arguments(options);
    result->workload = std::filesystem::path(file).stem().string();
    Nowhere nowhere;
    std::ostream silence(&nowhere);
    std::ostream& out = said == nullptr ? silence : *said;
    auto done = run(options, standard_machines(), Streams{out, out});
    if (done && done->interrupted) throw Interrupted("interrupted");
    result->records = done ? std::move(done->records) : read_result(*options.out);
    return finish(options, done, Result(std::move(result)));
  });
}

}  // namespace

Result sweep(const std::string& file, const Words& words, std::ostream* said) {
  const auto run = [](const Options& options, const MachineTable& kinds, const Streams& streams) {
    return run_sweep(options, kinds, streams, false);
  };
  return of_file("sweep", file, words, said, run,
                 [](const Options&, const auto&, Result result) { return result; });
}

Found search(const std::string& file, const Words& words, std::ostream* said) {
  return of_file(
      "search", file, words, said, run_search,
      [](const Options& options, const auto& done, Result result) {
        return Found{std::move(result),
                     done ? done->points : read_text(*options.out + "/search.csv", kLargestTable)};
      });
}

namespace {

WorkloadTrace parsed_trace(const std::string& text, const std::string& name) {
  WorkloadTrace trace = parse_trace(text, name);
  trace.path.clear();  // no file, of which a result could keep the hash
  return trace;
}

}  // namespace

Workload Workload::gemm(std::uint32_t m, std::uint32_t k, std::uint32_t n) {
  return Workload(std::make_shared<const Hidden>(
      Hidden{{"--gemm", fmt::format("{}x{}x{}", m, k, n)}, std::nullopt}));
}

Workload Workload::trace(const std::string& file) {
  return Workload(std::make_shared<const Hidden>(Hidden{{"--trace", file}, std::nullopt}));
}

Workload Workload::trace_text(const std::string& text, const std::string& name) {
  return translated([&] {
    return Workload(std::make_shared<const Hidden>(Hidden{{}, parsed_trace(text, name)}));
  });
}

Workload Workload::matrix(const std::string& file, std::uint32_t n) {
  return Workload(std::make_shared<const Hidden>(
      Hidden{{"--matrix", file, "--n", fmt::format("{}", n)}, std::nullopt}));
}

Workload Workload::program(const std::string& file) {
  return Workload(std::make_shared<const Hidden>(Hidden{{"--program", file}, std::nullopt}));
}

}  // namespace lacuna::api
