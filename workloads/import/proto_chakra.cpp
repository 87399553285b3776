// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>

#include <limits>
#include <string>

#include "workloads/import/chakra_graph.hpp"
#include "workloads/trace/problem.hpp"

namespace lacuna {
namespace {

using google::protobuf::io::CodedInputStream;

// What a field holds, by the low bits of its tag.
enum WireType : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// Reads the messages of mlcommons/chakra field by field; fields that are not known are skipped.
class ChakraReader {
 public:
  ChakraReader(const ImportFile& file)
      : file_(file),
        stream_(
            reinterpret_cast<const std::uint8_t*>(file.text.data()),  // NOLINT(*-reinterpret-cast)
            static_cast<int>(file.text.size())) {}

  ChakraGraph read() {
    bool first = true;
    while (stream_.CurrentPosition() < static_cast<int>(file_.text.size())) {
      const auto limit = enter();
      if (first) {
        skip_message();  // metadata of the whole trace
        first = false;
      } else {
        graph_.nodes.push_back(read_node());
      }
      leave(limit);
    }
    return std::move(graph_);
  }

 private:
  [[noreturn]] void fail(const std::string& found) const {
    throw_problem({fmt::format("{}, byte {}", file_.path, stream_.CurrentPosition()), "E206", "",
                   found, "a Chakra execution trace", ""});
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    if (!stream_.ReadVarint64(&value)) fail("a number that is cut off");
    return value;
  }

  // Into a message, or into packed numbers, that its length precedes.
  CodedInputStream::Limit enter() {
    std::uint32_t length = 0;
    if (!stream_.ReadVarint32(&length)) fail("a length that is cut off");
    const auto left = static_cast<std::size_t>(stream_.BytesUntilLimit() >= 0
                                                   ? stream_.BytesUntilLimit()
                                                   : static_cast<int>(file_.text.size()) -
                                                         stream_.CurrentPosition());
    if (length > left) fail(fmt::format("a length of {} with {} bytes left", length, left));
    return stream_.PushLimit(static_cast<int>(length));
  }

  void leave(CodedInputStream::Limit limit) {
    if (stream_.BytesUntilLimit() != 0) fail("a message that does not fill its length");
    stream_.PopLimit(limit);
  }

  std::string text() {
    const auto limit = enter();
    std::string result;
    if (!stream_.ReadString(&result, stream_.BytesUntilLimit())) fail("text that is cut off");
    leave(limit);
    return result;
  }

  bool more() const { return stream_.BytesUntilLimit() > 0; }

  std::uint32_t tag() {
    std::uint32_t value = 0;
    if (!stream_.ReadVarint32(&value) || (value >> 3U) == 0) fail("a tag that is none");
    return value;
  }

  void skip(std::uint32_t wire) {
    std::uint64_t wide = 0;
    std::uint32_t narrow = 0;
    switch (wire) {
      case kVarint:
        varint();
        return;
      case kFixed64:
        if (!stream_.ReadLittleEndian64(&wide)) fail("a number that is cut off");
        return;
      case kFixed32:
        if (!stream_.ReadLittleEndian32(&narrow)) fail("a number that is cut off");
        return;
      case kBytes: {
        const auto limit = enter();
        if (!stream_.Skip(stream_.BytesUntilLimit())) fail("a field that is cut off");
        leave(limit);
        return;
      }
      default:
        fail(fmt::format("wire type {}", wire));
    }
  }

  void skip_message() {
    while (more()) skip(tag() & 7U);
  }

  // One number, or many packed together.
  void read_ids(std::uint32_t wire, ChakraNode& node) {
    if (wire == kVarint) {
      node.dependencies.push_back(varint());
      return;
    }
    if (wire != kBytes) fail("dependencies that are no numbers");
    const auto limit = enter();
    while (more()) node.dependencies.push_back(varint());
    leave(limit);
  }

  ChakraNode read_node() {
    enum Field { kId = 1, kName = 2, kType = 3, kCtrl = 4, kData = 5, kDuration = 7, kAttr = 10 };
    ChakraNode node;
    while (more()) {
      const std::uint32_t read = tag();
      const std::uint32_t wire = read & 7U;
      const std::uint32_t field = read >> 3U;
      if (field == kId && wire == kVarint) {
        node.id = varint();
      } else if (field == kName && wire == kBytes) {
        node.name = text();
      } else if (field == kType && wire == kVarint) {
        set_type(varint(), node);
      } else if (field == kCtrl || field == kData) {
        read_ids(wire, node);
      } else if (field == kDuration && wire == kVarint) {
        node.duration_us = varint();
      } else if (field == kAttr && wire == kBytes) {
        const auto limit = enter();
        read_attribute(node);
        leave(limit);
      } else {
        skip(wire);
      }
    }
    return node;
  }

  void set_type(std::uint64_t type, ChakraNode& node) const {
    constexpr std::uint64_t kTypes = 8;
    if (type >= kTypes) fail(fmt::format("a node of type {}", type));
    node.type = static_cast<ChakraNode::Type>(type);
  }

  // A name and one value, of which only whole numbers are used: int32 in field 7, int64 in 9,
  // uint32 in 11, uint64 in 13, sint32 in 15, sint64 in 17, fixed ones from 19 to 25.
  void read_attribute(ChakraNode& node) {
    std::string name;
    std::uint64_t value = 0;
    bool has_value = false;
    while (more()) {
      const std::uint32_t read = tag();
      const std::uint32_t wire = read & 7U;
      const std::uint32_t field = read >> 3U;
      std::uint32_t narrow = 0;
      constexpr std::uint32_t kFirstFixed = 19;
      constexpr std::uint32_t kLastFixed = 25;
      const bool fixed = field >= kFirstFixed && field <= kLastFixed;
      if (field == 1 && wire == kBytes) {
        name = text();
      } else if (wire == kVarint && (field == 7 || field == 9 || field == 11 || field == 13)) {
        value = varint();
        has_value = true;
      } else if (wire == kVarint && (field == 15 || field == 17)) {
        const std::uint64_t zigzag = varint();
        value = zigzag >> 1U;
        has_value = (zigzag & 1U) == 0;  // not a negative one
      } else if (fixed && wire == kFixed64) {
        has_value = stream_.ReadLittleEndian64(&value);
        if (!has_value) fail("a number that is cut off");
      } else if (fixed && wire == kFixed32) {
        has_value = stream_.ReadLittleEndian32(&narrow);
        if (!has_value) fail("a number that is cut off");
        value = narrow;
      } else {
        skip(wire);
      }
    }
    if (has_value) set_attribute(node, name, value);
  }

  const ImportFile& file_;
  CodedInputStream stream_;
  ChakraGraph graph_;
};

}  // namespace

void import_chakra(const ImportFile& file, ImportContext& context) {
  add_graph(file, ChakraReader(file).read(), context);
}

}  // namespace lacuna
