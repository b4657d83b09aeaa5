"""The recipes of Spack and EasyBuild for a release: those of the tree, with its version and the checksum of its sources."""
from pathlib import Path

PACKAGING = Path(__file__).resolve().parents[1]
OF_MAIN = '    version("main", branch="main")\n'


def write_recipes(into, version, checksum):
    """Their paths."""
    spack = into / "package.py"
    recipe = (PACKAGING / "spack/package.py").read_text(encoding="utf-8")
    spack.write_text(recipe.replace(OF_MAIN, f'{OF_MAIN}    version("{version}", sha256="{checksum}")\n'),
                     encoding="utf-8")
    template, = (PACKAGING / "easybuild").glob("*.eb.in")
    easybuild = into / template.name.removesuffix(".in").replace("VERSION", version)
    recipe = template.read_text(encoding="utf-8")
    easybuild.write_text(recipe.replace("@VERSION@", version).replace("@SHA256@", checksum), encoding="utf-8")
    return spack, easybuild
