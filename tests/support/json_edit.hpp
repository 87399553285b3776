// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace lacuna::test {

/// The JSON object `text` with `value`, JSON too, as its member `key`, in place of what it had. The
/// key may stand nowhere else in the text.
inline std::string with_member(std::string text, const std::string& key, const std::string& value) {
  const std::string name = '"' + key + '"';
  const std::size_t at = text.find(name);
  if (at == std::string::npos) return text.insert(text.find('{') + 1, name + ": " + value + ", ");
  const std::size_t start = text.find(':', at) + 1;
  std::size_t end = start;
  bool quoted = false;
  for (int depth = 0; quoted || depth > 0 || (text[end] != ',' && text[end] != '}'); ++end) {
    if (text[end] == '"') quoted = !quoted;
    if (text[end] == '{' || text[end] == '[') ++depth;
    if (text[end] == '}' || text[end] == ']') --depth;
  }
  return text.replace(start, end - start, ' ' + value);
}

}  // namespace lacuna::test
