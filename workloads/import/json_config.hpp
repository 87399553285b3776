// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "workloads/trace/text.hpp"

namespace lacuna {

/// The keys of a config.json. Reading a key marks it; finish() refuses those that nobody read and
/// that are not known to change no shape, count or arithmetic. null counts as absent.
class ModelConfig {
 public:
  /// What has more layers, or experts, is no model.
  static constexpr std::uint64_t kMostLayers = 65536;
  static constexpr std::uint64_t kMostExperts = 4096;

  using Keys = std::initializer_list<const char*>;

  /// Keys of `inner` are looked for before those of `outer`, which may be the same object. Those of
  /// `skipped` count as absent; RequestError if one is not there.
  ModelConfig(const nlohmann::json& inner, const nlohmann::json& outer, std::string path,
              const std::vector<std::string>& skipped);

  bool has(const char* key) const;

  /// An integer in [1, most], of the first of `keys` that is there. TraceError with the key if it
  /// is something else.
  std::optional<std::uint32_t> integer(Keys keys, std::uint64_t most = kMostSide);
  std::uint32_t required(const char* what, Keys keys, std::uint64_t most = kMostSide);
  /// The same, 0 too.
  std::uint32_t count(const char* key, std::uint32_t otherwise);
  /// True if the key is a number other than 1; TraceError if it is no number.
  bool scales(const char* key);
  /// A number in [0, 1].
  std::optional<double> fraction(Keys keys);
  /// That of `key` in the first of `objects` that has it.
  std::optional<double> fraction_in(Keys objects, const char* key);
  bool flag(const char* key, bool otherwise);
  std::string text(Keys keys);
  /// A list of words, or of integers below `most`; empty if the key is not there.
  std::vector<std::string> words(const char* key);
  std::vector<std::uint32_t> integers(const char* key, std::uint64_t most);

  /// An object; TraceError if the key is something else, or not there.
  const nlohmann::json& object(const char* key);

  /// Reads keys that change nothing here, whatever they say.
  void read(Keys keys);

  /// Refuses keys unless they are absent or as the JSON text beside them says.
  void neutral(std::initializer_list<std::pair<const char*, std::string>> keys);

  /// Refuses `key` with what it says; `why`, if there is something to add, follows it in brackets.
  [[noreturn]] void refuse(const char* key, const std::string& why,
                           const std::string& allowed) const;

  /// The keys that nobody read and that are not known to change nothing.
  std::vector<std::string> unread() const;
  void finish(const std::string& type) const;

  const std::string& path() const { return path_; }

  /// Notes a part of the model that is no row.
  void leave_out(std::string part) { left_out_.push_back(std::move(part)); }
  const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  const nlohmann::json& list(const char* key, const char* of);  // empty if it is absent
  const nlohmann::json* find(const char* key) const;            // null if it is absent
  const nlohmann::json* take(const char* key);                  // and marks it

  const nlohmann::json& inner_;
  const nlohmann::json& outer_;
  std::string path_;
  std::set<std::string> skipped_;
  std::set<std::string> read_;
  std::vector<std::string> left_out_;
};

}  // namespace lacuna
