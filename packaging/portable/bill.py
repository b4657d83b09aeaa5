"""The bill of materials of the portable release, as SPDX 2.3: what is in it, of which version, license and checksum."""
import hashlib
import json
import re
import time
import uuid
from pathlib import Path

from linked_in import COMPILER, HEADERS, MIRROR, SOURCES

UPLOT = Path(__file__).resolve().parents[2] / "third_party/uplot/uPlot.iife.min.js"


def package(name, version, license_, location, sha256):
    return {"SPDXID": f"SPDXRef-{name}", "name": name, "versionInfo": version, "downloadLocation": location,
            "filesAnalyzed": False, "licenseConcluded": license_, "licenseDeclared": license_,
            "copyrightText": "NOASSERTION", "checksums": [{"algorithm": "SHA256", "checksumValue": sha256}]}


def of_debian(part):
    # Sources are linked in as they were published, but for those to which Debian's corrections are applied: a version
    # that names them would tell those who look for known faults that these are mended.
    changed = part not in SOURCES or part.corrections
    version = part.version if changed else re.sub(r"^\d+:|-[^-]*$", "", part.version)
    described = package(part.name, version, part.license, MIRROR, part.sha256)
    described["packageFileName"] = part.file
    if part.corrections:
        described["sourceInfo"] = f"with the patches of {part.packaging}, SHA-256 {part.corrections}"
    return described


def of_architecture(architecture):
    """What is not the same as for others."""
    for part in architecture.headers:
        described = of_debian(part)
        yield {**described, "SPDXID": f"{described['SPDXID']}-{architecture.debian}",
               "comment": f"for {architecture.name}"}


def bill_of_materials(version, date, commit, architectures):
    halcyon = package("halcyon", version, "BSD-3-Clause", "NOASSERTION", "")
    del halcyon["checksums"]
    halcyon["sourceInfo"] = f"git commit {commit}"
    uplot_version = re.search(r"\(v([\d.]+)\)", UPLOT.read_text(encoding="utf-8"))[1]
    uplot = package("uplot", uplot_version, "MIT", f"https://www.npmjs.com/package/uplot/v/{uplot_version}",
                    hashlib.sha256(UPLOT.read_bytes()).hexdigest())
    runtime = package("libcxx-and-libunwind", COMPILER.split()[0].replace("==", " "), "Apache-2.0 WITH LLVM-exception",
                      "https://pypi.org/project/ziglang", COMPILER.split("sha256:")[1])
    parts = [*map(of_debian, (*SOURCES, *HEADERS)), runtime, uplot]
    parts += [part for architecture in architectures for part in of_architecture(architecture)]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-halcyon")]
    relations += [("SPDXRef-halcyon", "CONTAINS", part["SPDXID"]) for part in parts]
    name = f"halcyon-{version}"
    described = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
        "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(date)),
                         "creators": ["Organization: The Halcyon authors"]},
        "packages": [halcyon, *parts],
        "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
                          for one, kind, other in relations]}
    # What SPDX 2.3 (clause 6.5) gives to creators without a website. The same contents have the same name.
    described["documentNamespace"] = (
        f"https://spdx.org/spdxdocs/{name}-{uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(described))}")
    return json.dumps(described, indent=1) + "\n"
