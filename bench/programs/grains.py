"""Grains that fall on a wall, by ESyS-Particle: one worker and the master."""
from esys.lsm import GravityPrms, LsmMpi, NRotElasticPrms, NRotElasticWallPrms
from esys.lsm.util import Vec3, BoundingBox
from esys.lsm.geometry import CubicBlock

sim = LsmMpi(numWorkerProcesses=1, mpiDimList=[1, 1, 1])
sim.initNeighbourSearch(particleType="NRotSphere", gridSpacing=2.5, verletDist=0.5)
sim.setNumTimeSteps(12000)
sim.setTimeStepSize(1e-4)
sim.setSpatialDomain(BoundingBox(Vec3(-20, -20, -20), Vec3(20, 20, 20)))
sim.createParticles(CubicBlock(dimCount=[5, 5, 5], radius=0.5))
sim.createWall(name="floor", posn=Vec3(0, -10, 0), normal=Vec3(0, 1, 0))
sim.createInteractionGroup(NRotElasticWallPrms(name="bounce", wallName="floor", normalK=10000.0))
sim.createInteractionGroup(NRotElasticPrms(name="touch", normalK=10000.0))
sim.createInteractionGroup(GravityPrms(name="earth", acceleration=Vec3(0, -9.81, 0)))
sim.run()
