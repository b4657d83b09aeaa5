"""The ground state of silicon by GPAW, in plane waves."""
from ase.build import bulk
from gpaw import GPAW, PW

crystal = bulk("Si", "diamond", 5.43)
crystal.calc = GPAW(mode=PW(200), xc="PBE", kpts=(4, 4, 4), txt=None)
crystal.get_potential_energy()
