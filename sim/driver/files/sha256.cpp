// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/files/sha256.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <fstream>
#include <memory>

#include "sim/base/error.hpp"

namespace lacuna {

namespace {

/// A sum to which bytes are added by pieces.
class Sum {
 public:
  Sum() { check(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr)); }

  void add(const char* bytes, std::size_t size) {
    check(EVP_DigestUpdate(context_.get(), bytes, size));
  }

  std::string digits() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned size = 0;
    check(EVP_DigestFinal_ex(context_.get(), bytes.data(), &size));
    std::string hex;
    for (unsigned i = 0; i < size; ++i) hex += fmt::format("{:02x}", bytes.at(i));
    return hex;
  }

 private:
  static void check(int done) {
    if (done != 1) throw InternalError("OpenSSL gives no SHA-256");
  }

  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

}  // namespace

std::string sha256(const std::string& text) {
  Sum sum;
  sum.add(text.data(), text.size());
  return sum.digits();
}

std::string sha256_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw RequestError(fmt::format("{}: cannot be read", path));
  std::string piece(std::size_t{1} << 20U, '\0');
  Sum sum;
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())), file.gcount() > 0) {
    sum.add(piece.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) throw RequestError(fmt::format("{}: cannot be read", path));
  return sum.digits();
}

}  // namespace lacuna
