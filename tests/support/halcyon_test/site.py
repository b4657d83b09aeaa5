"""What the operator of a site installs: copies of the files of packaging/, in which the places are those of the test."""
import re
from pathlib import Path

from .places import BUILD, HALCYON, LIBRARY


def installed_at(directory, spool):
    """Puts them there, with this spool, and for the programs of the build."""
    directory = Path(directory)
    directory.mkdir()
    (directory / "spool").write_text(f"{spool}\n")
    for source in (BUILD / "packaging/site").iterdir():
        text = source.read_text().replace("/etc/halcyon/spool", str(directory / "spool"))
        text = text.replace("/run/", f"{directory}/")
        for what, place in (("halcyon", HALCYON), ("preload", LIBRARY)):
            text = re.sub(rf"^{what}=.*$", f"{what}={place}", text, flags=re.M)
        text = re.sub(r'pathJoin\(here, ".*"\)', f'"{LIBRARY}"', text)
        (directory / source.name).write_text(text)
        (directory / source.name).chmod(0o755)
    return directory
