// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/files/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "sim/driver/files/sha256.hpp"

namespace lacuna {

namespace {

constexpr const char* kFormat = "lacuna-journal 1\n";

std::string last_error() { return std::error_code(errno, std::generic_category()).message(); }

/// A text with its length before and its hash after it: what is whole is known to be.
std::string framed(std::size_t index, const std::string& text) {
  return fmt::format("{} {} {}\n{}\n", index, text.size(), sha256(text), text);
}

struct Frame {
  std::size_t index = 0;
  std::string text;
};

/// Takes the next frame off the front of `rest`; nothing if there is no whole one.
std::optional<Frame> take_frame(std::string_view& rest) {
  const std::size_t line = rest.find('\n');
  if (line == std::string_view::npos) return std::nullopt;
  const std::string_view head = rest.substr(0, line);
  Frame frame;
  std::size_t size = 0;
  const auto [space, error] = std::from_chars(head.data(), head.data() + head.size(), frame.index);
  if (error != std::errc() || space == head.data() + head.size()) return std::nullopt;
  const auto [end, other] = std::from_chars(space + 1, head.data() + head.size(), size);
  if (other != std::errc() || end == head.data() + head.size()) return std::nullopt;
  const std::string_view hash = head.substr(static_cast<std::size_t>(end + 1 - head.data()));
  if (rest.size() < line + 1 + size + 1) return std::nullopt;
  frame.text = rest.substr(line + 1, size);
  if (rest[line + 1 + size] != '\n' || sha256(frame.text) != hash) return std::nullopt;
  rest.remove_prefix(line + 1 + size + 1);
  return frame;
}

std::string facts_text(const Journal::Facts& facts) {
  std::string text;
  for (const auto& [name, value] : facts) {
    std::string line = name;
    line.append(1, '\t').append(value);
    std::replace(line.begin(), line.end(), '\n', ' ');
    text.append(line).append(1, '\n');
  }
  return text;
}

Journal::Facts facts_of(const std::string& text) {
  Journal::Facts facts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    const std::size_t tab = line.find('\t');
    facts.emplace_back(line.substr(0, tab), line.substr(tab + 1));
    begin = end + 1;
  }
  return facts;
}

/// What differs, a line each.
std::string difference(const Journal::Facts& was, const Journal::Facts& is) {
  std::string text;
  const auto value = [](const Journal::Facts& facts, const std::string& name) {
    const auto* const found =
        find_where(facts, [&](const auto& fact) { return fact.first == name; });
    return found == nullptr ? std::optional<std::string>() : found->second;
  };
  for (const auto& [name, before] : was) {
    const std::optional<std::string> now = value(is, name);
    if (!now) text += fmt::format("\n  {}: was '{}', is not there", name, before);
    if (now && *now != before) text += fmt::format("\n  {}: was '{}', is '{}'", name, before, *now);
  }
  for (const auto& [name, now] : is) {
    if (!value(was, name)) text += fmt::format("\n  {}: was not there, is '{}'", name, now);
  }
  return text.empty() ? "\n  the order of its lines" : text;
}

}  // namespace

Journal::Journal(std::filesystem::path path, const Facts& facts, bool resume)
    : path_(std::move(path)) {
  std::error_code error;
  std::filesystem::create_directories(path_.parent_path(), error);
  try {
    while (!hold()) close(file_);  // who had it has removed it: that is no file of this name now
    read(facts, resume);
  } catch (...) {
    if (file_ >= 0) close(file_);  // what is in it stays
    throw;
  }
}

Journal::~Journal() {
  if (is_empty_) remove();
  close(file_);
}

/// Opens the file and locks it; false if it was removed in between. Children do not inherit the
/// lock: it is free as soon as this process is gone, or has closed any descriptor of the file.
bool Journal::hold() {
  // NOLINTNEXTLINE(*-vararg): POSIX
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) {
    throw SimulationError(fmt::format("'{}' cannot be opened: {}", path_.string(), last_error()));
  }
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (fcntl(file_, F_SETLK, &lock) != 0) {  // NOLINT(*-vararg): POSIX
    throw RequestError(fmt::format("another process is at work on '{}'", path_.string()));
  }
  struct stat held = {};
  struct stat named = {};
  return fstat(file_, &held) == 0 && stat(path_.c_str(), &named) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

/// Through the descriptor that holds the lock: to open the file anew and close it would give it up.
std::string Journal::content() const {
  std::string text;
  std::array<char, std::size_t{1} << 16U> part{};
  for (;;) {
    const ssize_t n = pread(file_, part.data(), part.size(), static_cast<off_t>(text.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      throw SimulationError(fmt::format("'{}' cannot be read: {}", path_.string(), last_error()));
    }
    if (n == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(n));
  }
}

void Journal::begin(const std::string& facts) {
  if (ftruncate(file_, 0) != 0) throw SimulationError(last_error());
  append(kFormat + framed(0, facts));
}

void Journal::read(const Facts& facts, bool resume) {
  const std::string text = content();
  const std::string wanted = facts_text(facts);
  std::string_view rest = text;
  const std::string_view format = kFormat;
  const bool ours = rest.substr(0, format.size()) == format;
  if (!ours && format.substr(0, rest.size()) != rest) {
    throw RequestError(fmt::format("'{}' is no journal of unfinished work", path_.string()));
  }
  rest.remove_prefix(std::min(format.size(), rest.size()));
  const std::optional<Frame> head = take_frame(rest);
  if (!ours || !head) return begin(wanted);  // new, or cut off before its first part
  while (const std::optional<Frame> frame = take_frame(rest)) {
    finished_[frame->index] = frame->text;
  }
  if (finished_.empty()) return begin(wanted);
  if (!resume) {
    throw RequestError(
        fmt::format("unfinished work, {} parts of it done, is in '{}'; --resume "
                    "goes on with it, or remove it",
                    finished_.size(), path_.string()));
  }
  if (head->text != wanted) {
    throw RequestError(fmt::format(
        "--resume: this request is not that of the finished parts in '{}':{}\nUndo the change, "
        "or remove that file to begin again",
        path_.string(), difference(facts_of(head->text), facts)));
  }
  is_empty_ = false;
  const auto whole = static_cast<off_t>(text.size() - rest.size());
  if (ftruncate(file_, whole) != 0) throw SimulationError(last_error());
}

void Journal::append(const std::string& text) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = ::write(file_, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      throw SimulationError(
          fmt::format("'{}' cannot be written: {}", path_.string(), last_error()));
    }
    written += static_cast<std::size_t>(n);
  }
  // what is written outlives this process; only a disk without power needs more, which takes time
  const auto now = std::chrono::steady_clock::now();
  if (now - synced_ < std::chrono::seconds(1)) return;
  synced_ = now;
  fdatasync(file_);
}

void Journal::add(std::size_t index, const std::string& bytes) {
  append(framed(index, bytes));
  is_empty_ = false;
}

void Journal::adopt(const Journal& other) {
  for (const auto& [index, bytes] : other.finished_) {
    add(index, bytes);
    finished_[index] = bytes;
  }
}

void Journal::remove() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace lacuna
