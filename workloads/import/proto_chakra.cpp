// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/unknown_field_set.h>

#include <optional>
#include <string>
#include <string_view>

#include "workloads/import/chakra_graph.hpp"
#include "workloads/trace/diagnostic.hpp"

namespace lacuna {
namespace {

using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;
using google::protobuf::io::CodedInputStream;

CodedInputStream stream_of(std::string_view bytes) {
  const auto* const data =
      reinterpret_cast<const std::uint8_t*>(bytes.data());  // NOLINT(*-reinterpret-cast)
  return CodedInputStream(data, static_cast<int>(bytes.size()));
}

/// Reads the messages of mlcommons/chakra, each behind its length; fields that are not known are
/// passed over.
class ChakraReader {
 public:
  explicit ChakraReader(const ImportFile& file) : file_(file) {}

  ChakraGraph read() {
    CodedInputStream stream = stream_of(file_.text);
    while (stream.CurrentPosition() < static_cast<int>(file_.text.size())) {
      std::uint32_t length = 0;
      std::string message;
      if (!stream.ReadVarint32(&length) || !stream.ReadString(&message, static_cast<int>(length))) {
        fail("is cut off");
      }
      if (count_++ != 0) graph_.nodes.push_back(node_of(message));  // first what is of all nodes
    }
    return std::move(graph_);
  }

 private:
  [[noreturn]] void fail(const std::string& found) const {
    throw_diagnostic(file_.path, "E206", fmt::format("message {}: {}", count_, found),
                     "a Chakra execution trace");
  }

  template <class Take>
  void for_each_field(const std::string& message, const Take& take) const {
    UnknownFieldSet fields;
    if (!fields.ParseFromString(message)) fail("bytes that are no fields");
    for (int i = 0; i < fields.field_count(); ++i) take(fields.field(i));
  }

  std::uint64_t number(const UnknownField& field) const {
    if (field.type() != UnknownField::TYPE_VARINT)
      fail(fmt::format("field {} is no number", field.number()));
    return field.varint();
  }

  const std::string& bytes(const UnknownField& field) const {
    if (field.type() != UnknownField::TYPE_LENGTH_DELIMITED)
      fail(fmt::format("field {} is a number", field.number()));
    return field.length_delimited();
  }

  /// One number, or many packed together.
  void take_ids(const UnknownField& field, ChakraNode& node) const {
    if (field.type() == UnknownField::TYPE_VARINT) {
      node.dependencies.push_back(field.varint());
      return;
    }
    const std::string& packed = bytes(field);
    CodedInputStream stream = stream_of(packed);
    while (stream.CurrentPosition() < static_cast<int>(packed.size())) {
      node.dependencies.emplace_back();
      if (!stream.ReadVarint64(&node.dependencies.back())) fail("dependencies that are cut off");
    }
  }

  ChakraNode node_of(const std::string& message) const {
    enum Field { kId = 1, kName = 2, kType = 3, kCtrl = 4, kData = 5, kDuration = 7, kAttr = 10 };
    constexpr std::uint64_t kTypes = 8;
    ChakraNode node;
    for_each_field(message, [&](const UnknownField& field) {
      const int which = field.number();
      if (which == kId) node.id = number(field);
      if (which == kName) node.name = bytes(field);
      if (which == kDuration) node.duration_us = number(field);
      if (which == kCtrl || which == kData) take_ids(field, node);
      if (which == kAttr) take_attribute(bytes(field), node);
      if (which != kType) return;
      if (number(field) >= kTypes) fail(fmt::format("a node of type {}", number(field)));
      node.type = static_cast<ChakraNode::Type>(number(field));
    });
    return node;
  }

  /// The value of an attribute if it is a whole number: int32 in field 7, int64 in 9, uint32 in 11,
  /// uint64 in 13, sint32 in 15, sint64 in 17 and not negative, fixed ones from 19 to 25.
  static std::optional<std::uint64_t> whole(const UnknownField& field) {
    constexpr int kFirst = 7;
    constexpr int kFirstZigzag = 15;
    constexpr int kFirstFixed = 19;
    constexpr int kLast = 25;
    const int which = field.number();
    if (which < kFirst || which > kLast) return std::nullopt;
    if (which >= kFirstFixed && field.type() == UnknownField::TYPE_FIXED64) return field.fixed64();
    if (which >= kFirstFixed && field.type() == UnknownField::TYPE_FIXED32) return field.fixed32();
    if (field.type() != UnknownField::TYPE_VARINT || which % 2 == 0 || which >= kFirstFixed)
      return std::nullopt;
    const std::uint64_t value = field.varint();
    if (which < kFirstZigzag) return value;
    return value % 2 == 0 ? std::optional(value / 2) : std::nullopt;
  }

  void take_attribute(const std::string& message, ChakraNode& node) const {
    std::string name;
    std::optional<std::uint64_t> value;
    for_each_field(message, [&](const UnknownField& field) {
      if (field.number() == 1) name = bytes(field);
      if (const auto read = whole(field)) value = read;
    });
    if (value) set_attribute(node, name, *value);
  }

  const ImportFile& file_;
  std::size_t count_ = 0;  // of messages
  ChakraGraph graph_;
};

}  // namespace

bool is_chakra(std::string_view bytes) {
  CodedInputStream stream = stream_of(bytes);
  std::uint32_t length = 0;
  while (stream.CurrentPosition() < static_cast<int>(bytes.size())) {
    if (!stream.ReadVarint32(&length) || !stream.Skip(static_cast<int>(length))) return false;
  }
  return !bytes.empty();
}

void import_chakra(const ImportFile& file, ImportContext& context) {
  add_graph(file, ChakraReader(file).read(), context);
}

}  // namespace lacuna
