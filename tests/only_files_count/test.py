"""Pipes, sockets, devices and what the kernel makes up (/proc, /sys) are no files: neither in counts nor in times."""
import halcyon_test
from halcyon_test import PROGRAMS

FILE_COUNTS = ("file_opens", "file_closes", "reads", "writes", "bytes_read", "bytes_written")


class OnlyFilesCount(halcyon_test.Behaviour):

    def test_what_is_no_file_is_not_counted_and_waiting_for_it_is_no_file_io(self):
        profile = self.record(1, [PROGRAMS / "descriptors", "no_files"])
        self.assertEqual({name: profile.totals(0)[name] for name in FILE_COUNTS}, dict.fromkeys(FILE_COUNTS, 0))
        self.assertEqual([float(seconds) for seconds in profile.columns["last_rank_file_io"] if seconds], [])

    def test_a_descriptor_that_is_used_again_counts_as_what_it_is_now(self):
        profile = self.record(1, [PROGRAMS / "descriptors", "reused"])
        opens, closes, writes = map(int, (self.directory / "expected").read_text().split())
        totals = profile.totals(0)
        self.assertEqual([totals["file_opens"], totals["file_closes"], totals["writes"]], [opens, closes, writes])
        self.assertEqual(totals["bytes_written"], writes)


if __name__ == "__main__":
    halcyon_test.main()
