// SPDX-License-Identifier: Apache-2.0
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <functional>
#include <optional>
#include <streambuf>
#include <string>
#include <utility>
#include <vector>

#include "sim/api/hidden.hpp"
#include "sim/api/lacuna.hpp"
#include "sim/driver/run/option_table.hpp"
#include "sim/python/arrays.hpp"
#include "sim/report/tables/summary.hpp"

namespace py = pybind11;

namespace lacuna::python {

namespace {

/// What is said goes to Python's sys.stderr, line by line; the interpreter is taken for it.
class SaidBuffer : public std::streambuf {
 public:
  ~SaidBuffer() override { sync(); }

 protected:
  int overflow(int c) override {
    if (c != EOF) text_ += static_cast<char>(c);
    if (c == '\n' || c == '\r') sync();
    return c == EOF ? 0 : c;
  }

  int sync() override {
    if (text_.empty()) return 0;
    const py::gil_scoped_acquire taken;
    py::module_::import("sys").attr("stderr").attr("write")(std::exchange(text_, ""));
    return 0;
  }

 private:
  std::string text_;
};

api::Result simulated(const std::string& verb, const std::vector<const api::Machine*>& machines,
                      const api::Workload& workload, const api::Words& words, bool events) {
  const py::gil_scoped_release released;
  SaidBuffer buffer;
  std::ostream said(&buffer);
  return api::run_machines(verb, machines, workload, words, {events}, &said);
}

api::Result swept(const std::string& file, const api::Words& words) {
  const py::gil_scoped_release released;
  SaidBuffer buffer;
  std::ostream said(&buffer);
  return api::sweep(file, words, &said);
}

py::tuple searched(const std::string& file, const api::Words& words) {
  std::optional<api::Found> found;
  {
    const py::gil_scoped_release released;
    SaidBuffer buffer;
    std::ostream said(&buffer);
    found = api::search(file, words, &said);
  }
  return py::make_tuple(found->result, found->points);
}

py::tuple commanded(const std::vector<std::string>& arguments) {
  api::Printed printed;
  {
    const py::gil_scoped_release released;
    printed = api::command(arguments);
  }
  return py::make_tuple(printed.status, printed.out, printed.err);
}

/// The rows of summary.csv under their columns, cells as text; and those of varying parameters.
py::tuple summary(const api::Result& result) {
  std::vector<std::string> columns = summary_columns();
  std::vector<std::vector<std::string>> rows;
  for (const RunRecord& run : result.hidden().records) {
    if (columns.size() == summary_columns().size()) {
      columns.insert(columns.end(), run.varying.begin(), run.varying.end());
    }
    for (const OpRecord& op : run.ops) rows.push_back(summary_cells(op.row));
    rows.push_back(summary_cells(run.total));
  }
  return py::make_tuple(columns, rows);
}

const OpRecord& op_of(const api::Result& result, std::size_t run, std::size_t op) {
  const auto& records = result.hidden().records;
  if (run >= records.size() || op >= records[run].ops.size()) {
    throw py::index_error("there is no such operation");
  }
  return records[run].ops[op];
}

/// (path, name, unit, value) of each statistic of an operation.
py::list statistics(const api::Result& result, std::size_t run, std::size_t op) {
  py::list rows;
  for (const StatEntry& entry : op_of(result, run, op).result.statistics) {
    rows.append(py::make_tuple(entry.path, entry.name, entry.unit, entry.value));
  }
  return rows;
}

/// (layer, kind, unit-cycles) of an operation.
py::list stack(const api::Result& result, std::size_t run, std::size_t op) {
  py::list rows;
  for (const StackPart& part : op_of(result, run, op).result.stack) {
    rows.append(py::make_tuple(layer_name(part.layer), part.kind, part.cycles));
  }
  return rows;
}

/// (component, nominal, low, high) joules of an operation.
py::list energy(const api::Result& result, std::size_t run, std::size_t op) {
  py::list rows;
  for (const EnergyPart& part : op_of(result, run, op).energy) {
    rows.append(
        py::make_tuple(part.component, part.joules.nominal, part.joules.low, part.joules.high));
  }
  return rows;
}

/// (from, to, watts, low, high, GB/s of memories, fabric and edge) of each interval.
py::list intervals(const api::Result& result, std::size_t run, std::size_t op) {
  py::list rows;
  for (const PowerInterval& each : op_of(result, run, op).power) {
    rows.append(py::make_tuple(each.from, each.to, each.watts.nominal, each.watts.low,
                               each.watts.high, each.sram_gbps, each.fabric_gbps, each.io_gbps));
  }
  return rows;
}

/// The event log of an operation where it lies, the result kept for as long as the array is.
py::array events(const api::Result& result, std::size_t run, std::size_t op) {
  const std::vector<Event>& log = op_of(result, run, op).result.events;
  using Shared = std::shared_ptr<const api::Result::Hidden>;
  const py::capsule keep(new Shared(result.shared()),
                         [](void* shared) { delete static_cast<Shared*>(shared); });
  return read_only(py::array_t<Event>(static_cast<py::ssize_t>(log.size()), log.data(), keep));
}

void add_errors(py::module_& m) {
  static py::exception<api::Error> error(m, "Error", PyExc_Exception);
  static py::exception<api::RequestError> request(
      m, "RequestError",
      py::make_tuple(error, py::reinterpret_borrow<py::object>(PyExc_ValueError)));
  static py::exception<api::SimulationError> simulation(
      m, "SimulationError",
      py::make_tuple(error, py::reinterpret_borrow<py::object>(PyExc_RuntimeError)));
  static py::exception<api::CheckError> check(m, "CheckError", error);
  static py::exception<api::InternalError> internal(m, "InternalError", error);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const api::Interrupted&) {
      PyErr_SetNone(PyExc_KeyboardInterrupt);
    } catch (const api::RequestError& e) {
      request(e.what());
    } catch (const api::SimulationError& e) {
      simulation(e.what());
    } catch (const api::CheckError& e) {
      check(e.what());
    } catch (const api::InternalError& e) {
      internal(e.what());
    }
  });
}

void add_machine(py::module_& m) {
  py::class_<api::Parameter>(m, "Parameter")
      .def_readonly("path", &api::Parameter::path)
      .def_readonly("text", &api::Parameter::value)
      .def_readonly("initial_text", &api::Parameter::initial)
      .def_readonly("unit", &api::Parameter::unit)
      .def_readonly("limits", &api::Parameter::limits)
      .def_readonly("meaning", &api::Parameter::meaning)
      .def_readonly("is_number", &api::Parameter::number);
  py::class_<api::Machine>(m, "Machine")
      .def(py::init<const std::string&, const std::string&>())
      .def("copy", [](const api::Machine& machine) { return api::Machine(machine); })
      .def_property_readonly("name", &api::Machine::name)
      .def_property_readonly("kind", &api::Machine::kind)
      .def_property_readonly("extent", &api::Machine::extent)
      .def("parameters", &api::Machine::parameters)
      .def("parameter", &api::Machine::parameter)
      .def("settings", [](const api::Machine& machine) { return machine.hidden().settings; })
      .def("file", [](const api::Machine& machine) { return machine.hidden().file; })
      .def("set", [](api::Machine& machine, const std::string& path, const std::string& value) {
        machine.set(path, value);
      });
}

void add_result(py::module_& m) {
  py::class_<api::Result>(m, "Result")
      .def_property_readonly("runs", &api::Result::runs)
      .def("ops", [](const api::Result& r, std::size_t run) { return r.rows(run).size(); })
      .def("machine", [](const api::Result& r, std::size_t run) { return r.total(run).machine; })
      .def("parameters",
           [](const api::Result& r, std::size_t run) {
             py::list rows;
             r.total(run);  // refuses a run that there is not
             for (const ParameterValue& each : r.hidden().records[run].parameters) {
               rows.append(py::make_tuple(each.path, each.value, each.unit));
             }
             return rows;
           })
      .def("summary", &summary)
      .def("statistics", &statistics)
      .def("stack", &stack)
      .def("energy", &energy)
      .def("intervals", &intervals)
      .def("events", &events)
      .def("event_units", [](const api::Result& r, std::size_t run,
                             std::size_t op) { return op_of(r, run, op).result.event_units; })
      .def("event_kinds", [](const api::Result& r, std::size_t run,
                             std::size_t op) { return op_of(r, run, op).result.event_kinds; })
      .def_property_readonly("command", [](const api::Result& r) { return r.hidden().command; })
      .def("json", &api::Result::json);
}

/// Names of options as keywords.
py::list keywords(const std::function<bool(const OptionDeclaration&)>& wanted) {
  py::list names;
  for (const OptionDeclaration& each : option_table()) {
    if (wanted(each)) names.append(each.underscored());
  }
  return names;
}

void add_options(py::module_& m) {
  m.attr("switches") = keywords([](const OptionDeclaration& each) {
    return each.value[0] == '\0' || each.is(OptionDeclaration::perhaps_valued);
  });
  m.attr("sweep_options") = keywords([](const OptionDeclaration& each) {
    return (each.verbs & kOfSweep) != 0 && each.name != std::string("set");
  });
  m.attr("experiment_words") = experiment_words(kOfRows);
}

}  // namespace

PYBIND11_MODULE(_lacuna, m) {
  PYBIND11_NUMPY_DTYPE(Event, cycle, unit, kind, argument);
  m.attr("__version__") = api::version();
  add_errors(m);
  add_options(m);
  add_machine(m);
  add_mask(m);
  add_result(m);
  py::class_<api::Workload>(m, "Workload")
      .def_static("gemm", &api::Workload::gemm)
      .def_static("trace", &api::Workload::trace)
      .def_static("trace_text", &api::Workload::trace_text)
      .def_static("matrix", &api::Workload::matrix)
      .def_static("program", &api::Workload::program);
  m.def("simulate", &simulated);
  m.def("sweep", &swept);
  m.def("search", &searched);
  m.def("read", &api::read);
  m.def("command", &commanded);
}

}  // namespace lacuna::python
