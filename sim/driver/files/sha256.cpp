// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/files/sha256.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string_view>

#include "sim/base/error.hpp"

namespace lacuna {

namespace {

// FIPS 180-4, section 4.2.2: the fractions of the cube roots of the first 64 primes
constexpr std::array<std::uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State = std::array<std::uint32_t, 8>;

constexpr std::uint32_t turn(std::uint32_t x, unsigned n) { return x >> n | x << (32U - n); }

void add_block(State& state, const char* block) {
  std::array<std::uint32_t, 64> w{};
  for (std::size_t i = 0; i < 64; ++i) {
    w.at(i / 4) = w.at(i / 4) << 8U | static_cast<unsigned char>(block[i]);
  }
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t a = w.at(i - 15);
    const std::uint32_t b = w.at(i - 2);
    w.at(i) = w.at(i - 16) + (turn(a, 7) ^ turn(a, 18) ^ a >> 3U) + w.at(i - 7) +
              (turn(b, 17) ^ turn(b, 19) ^ b >> 10U);
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t t1 = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) +
                             kRound.at(i) + w.at(i);
    const std::uint32_t t2 =
        (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const State add = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state.at(i) += add.at(i);
}

constexpr State kFirst = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/// Adds all whole blocks of `text`; what is behind them is `rest`.
void add_blocks(State& state, std::string_view text, std::string_view& rest) {
  std::size_t done = 0;
  for (; done + 64 <= text.size(); done += 64) add_block(state, text.data() + done);
  rest = text.substr(done);
}

/// The digits after the last block, which is not whole, of `size` bytes in all.
std::string digits(State& state, std::string_view rest, std::uint64_t size) {
  // the rest, a one, zeros, and the length in bits
  std::string tail = std::string(rest) + '\x80';
  while (tail.size() % 64 != 56) tail += '\0';
  const std::uint64_t bits = size * 8;
  for (unsigned byte = 8; byte-- > 0;) tail += static_cast<char>(bits >> (8 * byte) & 0xffU);
  for (std::size_t at = 0; at < tail.size(); at += 64) add_block(state, tail.data() + at);
  std::string hex;
  for (const std::uint32_t word : state) hex += fmt::format("{:08x}", word);
  return hex;
}

}  // namespace

std::string sha256(const std::string& text) {
  State state = kFirst;
  std::string_view rest;
  add_blocks(state, text, rest);
  return digits(state, rest, text.size());
}

std::string sha256_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw RequestError(fmt::format("{}: cannot be read", path));
  std::string piece(std::size_t{1} << 20U, '\0');
  State state = kFirst;
  std::string_view rest;
  std::uint64_t size = 0;
  while (rest.empty()) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    const auto got = static_cast<std::size_t>(file.gcount());
    if (got == 0) break;
    size += got;
    add_blocks(state, std::string_view(piece.data(), got), rest);  // a short one is the last
  }
  if (file.bad()) throw RequestError(fmt::format("{}: cannot be read", path));
  return digits(state, rest, size);
}

}  // namespace lacuna
