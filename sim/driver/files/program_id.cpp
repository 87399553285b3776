// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/files/program_id.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "sim/driver/files/locations.hpp"
#include "sim/driver/files/sha256.hpp"

namespace lacuna {

namespace {

constexpr std::size_t kLongestProgram = std::size_t{1} << 32U;

struct Search {
  std::uintptr_t code;  // an address within the object that is meant
  std::string id;
};

bool holds(const dl_phdr_info& object, std::uintptr_t code) {
  for (std::size_t i = 0; i < object.dlpi_phnum; ++i) {
    const auto& segment = object.dlpi_phdr[i];
    const std::uintptr_t start = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && code >= start && code < start + segment.p_memsz) return true;
  }
  return false;
}

/// The build ID among the notes from `notes` on; empty if it is not there.
std::string id_among(const unsigned char* notes, std::size_t size) {
  const auto whole = [](std::size_t bytes) { return (bytes + 3) / 4 * 4; };
  ElfW(Nhdr) head = {};
  for (std::size_t at = 0; at + sizeof head <= size;) {
    std::memcpy(&head, notes + at, sizeof head);
    const std::size_t name = at + sizeof head;
    const std::size_t content = name + whole(head.n_namesz);
    const std::size_t next = content + whole(head.n_descsz);
    if (next > size) return "";
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == sizeof "GNU" &&
        std::memcmp(notes + name, "GNU", sizeof "GNU") == 0) {
      std::string id;
      for (std::size_t i = 0; i < head.n_descsz; ++i)
        id += fmt::format("{:02x}", notes[content + i]);
      return id;
    }
    at = next;
  }
  return "";
}

int look(dl_phdr_info* object, std::size_t /*size*/, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (!holds(*object, search.code)) return 0;
  for (std::size_t i = 0; i < object->dlpi_phnum && search.id.empty(); ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto start = object->dlpi_addr + segment.p_vaddr;
    // NOLINTNEXTLINE(*-reinterpret-cast,performance-no-int-to-ptr): where the loader put it
    search.id = id_among(reinterpret_cast<const unsigned char*>(start), segment.p_memsz);
  }
  return 1;
}

}  // namespace

std::string program_id() {
  // NOLINTNEXTLINE(*-reinterpret-cast): an address of this object
  Search search{reinterpret_cast<std::uintptr_t>(&program_id), ""};
  dl_iterate_phdr(&look, &search);
  return search.id.empty() ? sha256(read_text(own_file(), kLongestProgram)) : search.id;
}

}  // namespace lacuna
