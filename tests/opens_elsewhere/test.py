"""Other programs open a profile without Halcyon's code, and Halcyon reads it without MPI."""
import re

import halcyon_test
from halcyon_test import EXAMPLES, HALCYON, output_of


class OpensElsewhere(halcyon_test.Behaviour):

    def setUp(self):
        super().setUp()
        self.profile = self.record(2, [EXAMPLES / "halo_c", "50"])

    def test_the_command_is_not_linked_to_mpi(self):
        self.assertEqual(re.findall(r"libmpi\S*|libopen-\S*", output_of(["ldd", HALCYON])), [])

    def test_report_and_info_work_where_no_mpi_can_be_found(self):
        for command in ("report", "info"):
            finished = self.halcyon(command, "run.h5", PATH="/nowhere")
            self.assertEqual((finished.status, finished.errors), (0, ""), finished)

    def test_h5py_sees_a_description_units_and_a_dimension_on_every_column(self):
        import h5py
        with h5py.File(self.directory / "run.h5") as file:
            columns = [data for data in file.values() if not data.attrs.get("CLASS", b"") == b"DIMENSION_SCALE"]
            self.assertGreater(len(columns), 20)
            for column in columns:
                self.assertIn("description", column.attrs, column.name)
                self.assertEqual(len(column.dims[0]), 1, column.name)
                if h5py.check_string_dtype(column.dtype) is None:
                    self.assertIn("units", column.attrs, column.name)

    def test_xarray_opens_it_with_named_dimensions_and_units(self):
        try:
            import xarray
        except ImportError:
            self.skipTest("no xarray")
        with xarray.open_dataset(self.directory / "run.h5") as data:
            self.assertEqual(data["duration"].dims, ("segment",))
            self.assertEqual(data["duration"].attrs["units"], "s")
            self.assertEqual(data["total_bytes_sent"].dims, ("rank",))
            self.assertEqual(data.sizes["segment"], self.profile.segments)
            self.assertEqual(data.attrs["command"], self.profile.attributes["command"])
            self.assertAlmostEqual(float(data["duration"].sum()), float(data.attrs["run_time_seconds"]), places=3)

    def test_pandas_gets_a_row_a_segment_through_xarray(self):
        try:
            import xarray
        except ImportError:
            self.skipTest("no xarray")
        with xarray.open_dataset(self.directory / "run.h5") as data:
            frame = data[["duration", "boundary_wait", "last_rank"]].to_dataframe()
            self.assertEqual(len(frame), self.profile.segments)


if __name__ == "__main__":
    halcyon_test.main()
