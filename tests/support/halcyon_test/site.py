"""What the operator of a site installs: copies of the files of packaging/, in which the own places are named."""
import re
from pathlib import Path

from .places import BUILD, HALCYON, LIBRARY

FILES = ("task_prolog", "epilog", "halcyon-collect", "halcyon-ledger")


def installed_at(directory, spool):
    """Puts them there, with this spool, and for the programs of the build."""
    directory = Path(directory)
    directory.mkdir()
    for name in FILES:
        text = (BUILD / "packaging/site" / name).read_text()
        for what, place in (("spool", spool), ("halcyon", HALCYON), ("preload", LIBRARY)):
            text = re.sub(rf"^(set {what} |{what}=)/.*$", rf"\g<1>{place}", text, flags=re.M)
        (directory / name).write_text(text)
        (directory / name).chmod(0o755)
    return directory
