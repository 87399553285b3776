// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/program.hpp"

#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <new>

#include "sim/base/error.hpp"
#include "sim/driver/command/command_line.hpp"
#include "sim/driver/result/result_folder.hpp"
#include "sim/driver/result/sqlite_results.hpp"
#include "sim/driver/run/option_table.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

namespace {

int dispatch(const Options& options, const MachineTable& machines, const Streams& streams) {
  if (options.verb == "run" || options.verb == "compare") {
    return simulate_verb(options, machines, streams);
  }
  // of experiments it is said first what does not go with them
  if (options.verb != "sweep" && options.verb != "search") check_needs(options);
  if (options.verb == "sweep") return sweep_verb(options, machines, streams);
  if (options.verb == "search") return search_verb(options, machines, streams);
  if (options.verb == "trace" && options.subverb == "schedule") {
    return schedule_verb(options, machines, streams);
  }
  if (options.verb == "trace") return trace_verb(options, streams);
  if (options.verb == "describe") return describe_verb(options, machines, streams);
  if (options.verb == "validate") return validate_verb(options, machines, streams);
  if (options.verb == "plot") return plot_verb(options, streams);
  throw InternalError("no code for the verb " + options.verb);
}

/// Runs the verb, and adds its result to the database that is asked for.
int dispatch_with_database(const Options& options, const MachineTable& machines,
                           const Streams& streams) {
  if (options.sqlite) check_database(*options.sqlite);
  const int status = dispatch(options, machines, streams);
  if (options.sqlite && is_result(*options.out)) add_to_database(*options.out, *options.sqlite);
  return status;
}

/// A word of the user may hold anything; a terminal shall not be sent what is no text.
std::string without_control(const std::string& text) {
  constexpr unsigned char kFirstPrintable = 0x20;
  constexpr unsigned char kDelete = 0x7F;
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_control = (byte < kFirstPrintable && c != '\n') || byte == kDelete;
    result += is_control ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return result;
}

int report(const Streams& streams, const std::string& text, int status) {
  streams.err << "lacuna: " << without_control(text) << '\n';
  return status;
}

/// What was asked for must have reached its reader, or the status says so.
int delivered(const Streams& streams, int status) {
  streams.out.flush();
  if (streams.out) return status;
  return report(streams, "standard output cannot be written", kNotCompleted);
}

int report_defect(const std::vector<std::string>& arguments, const Streams& streams,
                  const char* what) {
  return report(streams,
                fmt::format("internal inconsistency: {}\nThis is a defect of Lacuna. It is "
                            "reproduced by\n  lacuna {}",
                            what, shell_line(arguments)),
                kDefect);
}

}  // namespace

int run_lacuna(const std::vector<std::string>& arguments, const MachineTable& machines,
               const Streams& streams) {
  set_known_machines(machines);
  try {
    TextTable::fit(streams.columns);
    const CommandLine line = parse_command_line(arguments);
    TextTable::fit(line.options.wide ? 0 : streams.columns);
    if (!line.text)
      return delivered(streams, dispatch_with_database(line.options, machines, streams));
    streams.out << *line.text;
    return delivered(streams, kDone);
  } catch (const RequestError& error) {
    return report(streams, error.what(), kWrongRequest);
  } catch (const SimulationError& error) {
    return report(streams, error.what(), kNotCompleted);
  } catch (const std::bad_alloc&) {
    return report(streams, "there is not enough memory on this computer", kNotCompleted);
  } catch (const std::filesystem::filesystem_error& error) {
    return report(streams, error.what(), kNotCompleted);
  } catch (const std::exception& error) {
    return report_defect(arguments, streams, error.what());
  }
}

}  // namespace lacuna
