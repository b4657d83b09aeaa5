#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "cli/disturbers/kinds.hpp"

namespace halcyon::cli {
namespace {

constexpr std::size_t written_block_bytes = std::size_t{1} << 20;
constexpr int blocks_of_a_file = 64;
constexpr int blocks_between_syncs = 4;

// A file that no directory lists. If the file system cannot create a file without a name, its name is removed at once.
int nameless_file() {
  if (const int file = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); file >= 0) return file;
  std::string name = "./.halcyon-disturb-XXXXXX";
  const int file = mkostemp(name.data(), O_CLOEXEC);
  if (file >= 0) unlink(name.c_str());
  return file;
}

struct Writer {
  explicit Writer(int opened) : file(opened), block(written_block_bytes) {
    // Not all zero: some file systems do not write blocks of zeros.
    for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<char>(i * 2654435761u >> 7);
  }
  int file;
  std::vector<char> block;
  int written = 0;
};

Failure cannot_write() { return {std::string("cannot write in the current directory: ") + std::strerror(errno)}; }

}  // namespace

int disk_workers() { return 2; }

Outcome<Piece> disk_work(const WorkerPlace&) {
  const int file = nameless_file();
  if (file < 0) return cannot_write();
  const std::shared_ptr<Writer> writer = std::make_shared<Writer>(file);
  return Piece([writer]() -> Outcome<std::uint64_t> {
    const off_t place =
        static_cast<off_t>(writer->written % blocks_of_a_file) * static_cast<off_t>(written_block_bytes);
    const ssize_t wrote = pwrite(writer->file, writer->block.data(), written_block_bytes, place);
    if (wrote < 0) return cannot_write();
    if (++writer->written % blocks_between_syncs == 0 && fsync(writer->file) != 0) return cannot_write();
    return static_cast<std::uint64_t>(wrote);
  });
}

}  // namespace halcyon::cli
