"""Where generations are evaluated: in this process, in others, on a cluster; one file each."""

from strut.evolve.workers.processes import Processes
from strut.evolve.workers.ray_workers import RayWorkers
from strut.evolve.workers.threads import Threads
from strut.evolve.workers.workers import Workers

__all__ = ["Processes", "RayWorkers", "Threads", "Workers"]
