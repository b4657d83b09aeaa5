"""A profile as h5py reads it, without Halcyon's own reader."""

TOTALS = ("sends_blocking", "sends_nonblocking", "receives_blocking", "receives_nonblocking",
          "collectives_one_to_all", "collectives_all_to_one", "collectives_all_to_all",
          "rma_operations", "file_opens", "file_closes", "reads", "writes",
          "bytes_sent", "bytes_received", "bytes_collective", "rma_bytes", "bytes_read", "bytes_written",
          "device_launches", "device_items", "device_bytes")


class Profile:
    """Attributes and columns of a profile, all read at once."""

    def __init__(self, path):
        import h5py
        with h5py.File(path, "r") as file:
            self.attributes = {name: value.decode() if isinstance(value, bytes) else value
                               for name, value in file.attrs.items()}
            self.columns = {name: data[...] for name, data in file.items() if isinstance(data, h5py.Dataset)}

    @property
    def segments(self):
        return int(self.attributes["segments"])

    @property
    def boundaries(self):
        return self.segments - 1  # MPI_Finalize ends the last segment

    def totals(self, rank):
        return {name: int(self.columns["total_" + name][rank]) for name in TOTALS}

    def nonzero_totals(self, rank):
        return {name: total for name, total in self.totals(rank).items() if total}

    def values(self, feature):
        """The feature's value in each segment, summed over all ranks."""
        bins = self.columns[feature + "_bins"]
        if feature in self.columns:
            return [float(bins[index]) for index in self.columns[feature]]
        return [float(bins[0])] * self.segments  # without an index column all segments are in the one bin

    def sites(self):
        """The call site of each segment's boundary, as (operation, module, offset)."""
        texts = [text.decode() if isinstance(text, bytes) else text for text in self.columns["sites"]]
        indices = self.columns["site"] if "site" in self.columns else [0] * self.segments
        return [split_site(texts[index]) for index in indices]

    def operations(self):
        """The operation that ends each segment, in order."""
        return [operation for operation, _, _ in self.sites()]


def editing(path):
    """The file opened for changes, to be used in a `with` statement."""
    import h5py
    return h5py.File(path, "r+")


def split_site(text):
    operation, _, place = text.partition("@")
    module, _, offset = place.rpartition("+")
    return operation, module or place, offset
