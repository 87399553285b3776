// SPDX-License-Identifier: Apache-2.0
#include "sim/report/figures/figure.hpp"

#include <fmt/format.h>
#include <gnuplot-iostream.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "sim/base/error.hpp"
#include "sim/base/replaced.hpp"
#include "sim/report/figures/figure_check.hpp"
#include "sim/report/figures/figure_style.hpp"
#include "sim/report/view_assets.hpp"

namespace lacuna {

namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw SimulationError(fmt::format("cannot write '{}'", path.string()));
}

bool on_path(const std::string& program) {
  const char* const list = std::getenv("PATH");
  std::istringstream folders(list == nullptr ? "" : list);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access((fs::path(folder) / program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

/// The library notes the hour; a figure is a function of its data, so the hour is put out.
void fix_creation_date(const fs::path& file, const std::string& key, const char* end_mark,
                       const std::string& date) {
  std::string bytes = content(file);
  const std::size_t found = bytes.find(key);
  if (found == std::string::npos) return;
  const std::size_t end = bytes.find(end_mark, found + key.size());
  const std::size_t length = end - found - key.size();
  std::string replacement = date.substr(0, std::min(length, date.size()));
  replacement.resize(length, '0');  // the length stays, because a PDF has offsets of its objects
  bytes.replace(found + key.size(), length, replacement);
  write(file, bytes);
}

/// Keeps a gnuplot that dies early from ending us as well.
class IgnoreBrokenPipe {
 public:
  IgnoreBrokenPipe() : before_(std::signal(SIGPIPE, SIG_IGN)) {}
  ~IgnoreBrokenPipe() { std::signal(SIGPIPE, before_); }
  IgnoreBrokenPipe(const IgnoreBrokenPipe&) = delete;
  IgnoreBrokenPipe& operator=(const IgnoreBrokenPipe&) = delete;

 private:
  void (*before_)(int);
};

/// Lets one gnuplot draw all figures and returns what it complained of.
std::string run_gnuplot(const Figures& figures, const fs::path& folder) {
  const fs::path complaints = folder / "gnuplot.err";
  {
    const IgnoreBrokenPipe guard;
    // In a session of its own: a Ctrl-C at the terminal would end it before its figures are drawn,
    // while we, who write a folder that is to be whole, wait with ours.
    const std::string apart = on_path("setsid") ? "exec setsid -w " : "";
    Gnuplot gnuplot(apart + "gnuplot 2>'" + replaced(complaints.string(), "'", "'\\''") + "'");
    gnuplot << "cd " << quoted(folder.string()) << "\n";
    for (const Figure& figure : figures) {
      gnuplot << "reset\nload " << quoted(figure.name + ".gp") << "\n";
    }
  }
  std::string text = content(complaints);
  fs::remove(complaints);
  return text;
}

}  // namespace

void write_redraw(const std::string& folder) {
  fs::create_directories(folder);
  write(fs::path(folder) / "redraw.py", kRedrawScript);
}

std::vector<std::string> draw_figures(const Figures& figures, const std::string& folder,
                                      const std::string& older) {
  std::vector<std::string> kept;
  if (figures.empty()) return kept;
  const fs::path path = fs::absolute(folder);
  fs::create_directories(path);
  for (const Figure& figure : figures) {
    const std::string file = figure.name + ".gp";
    const std::string old = content((older.empty() ? path : fs::absolute(older)) / file);
    const bool own = is_edited(old);
    write(path / (figure.name + ".csv"), figure.csv);
    if (!figure.description.empty()) {
      write(path / (figure.name + ".json"), figure.description);
    }
    write(path / file, own ? old : figure.script);
    if (own) kept.push_back(file);
  }
  if (!on_path("gnuplot")) {
    throw SimulationError(
        "no figure was drawn, because there is no gnuplot on the PATH (Debian: apt install "
        "gnuplot-nox); their data and scripts were written");
  }
  const std::string complaints = run_gnuplot(figures, path);
  for (const Figure& figure : figures) {
    for (const std::string& format : formats_of(content(path / (figure.name + ".gp")))) {
      const fs::path file = path / (figure.name + "." + format);
      std::error_code ignored;
      const auto size = fs::file_size(file, ignored);
      if (ignored || size == 0) {
        throw SimulationError(
            fmt::format("gnuplot did not draw '{}': {}", file.string(), complaints));
      }
      if (format == "pdf") fix_creation_date(file, "/CreationDate (D:", ")", "20000101000000Z");
      if (format == "eps")
        fix_creation_date(file, "%%CreationDate: ", "\n", "Sat Jan  1 00:00:00 2000");
    }
  }
  return kept;
}

}  // namespace lacuna
