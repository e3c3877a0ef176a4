"""Names of the machines that come with strut, each with one line about it, and of the studies.

Plain data: `strut list` prints it without importing or building a machine. The walkers take their
`description` from here.
"""

SYSTEM_DESCRIPTIONS = {
    "bouncing-ball": "ball on a floor; a run ends where its bounces accumulate",
    "compass": "compass gait: two straight legs on point feet",
    "compass-driven": "compass gait with motors in hip and ankle",
    "compass-duindam": "Duindam's compass: point feet that land, hold and lift",
    "dribbel": "Dribbel: knees that lock, one hip motor; walks down 3 degrees by itself",
    "kneed": "knees that lock when straight, point feet",
    "pendulum": "point mass on a rod, with damping and a motor",
    "point-3d": "hip mass on massless legs in space that steps where it is told; falls sideways by itself",
    "rabbit": "RABBIT: a torso on two legs with knees, motors in hips and knees, point feet",
    "rijt": "van de Rijt's planar humanoid: motors in hips and knees, point feet; needs a controller",
    "rimless-wheel": "spokes around a mass, rolling down a slope",
    "round-foot": "straight legs that roll on curved feet (g = 1)",
    "runner": "torso on two legs with knees that runs: motors in hips and knees, a flight in every step",
    "saurel-a": "Saurel's M_A: human legs that do not bend, and a pelvis",
    "saurel-b": "Saurel's M_B: human legs with knees, and a pelvis",
    "saurel-c": "Saurel's M_C: straight legs and a torso with a head",
    "saurel-d": "Saurel's M_D: straight legs, a torso and a head that nods",
    "saurel-e": "Saurel's M_E: straight legs, a torso and arms, in space",
    "simplest": "the simplest walker: a hip mass on massless legs (g = 1)",
    "slip": "spring-mass runner with a fixed angle of attack",
    "trunk-3d": "two legs and a trunk in space, motors at the hip; needs a controller, falls by itself",
    "van-der-pol": "nonlinear oscillator with a limit cycle",
}
"""One line about every system, by its name in `walkers.CATALOGUE`."""

MECHANISM_DESCRIPTIONS = {
    "coman": "humanoid COMAN: 23 motors with springs, servos that hold it, soft ground; it stands",
    "coman-planar": "COMAN's legs in a plane on short feet, rigid ground; needs a controller",
    "human": "human in a plane: motors in hips, knees and ankles, toes, soft ground; needs a controller",
}
"""One line about every mechanism, by its name in `walkers.MECHANISMS`."""

STUDY_NAMES = (
    "dallali-generation",
    "dallali-ground",
    "dallali-knee",
    "dallali-sway",
    "dallali-walk",
    "duindam-bungee",
    "duindam-compass",
    "duindam-dribbel",
    "duindam-foot-placement",
    "duindam-gait-search",
    "duindam-springs",
    "duindam-tracking",
    "garcia-simplest",
    "goswami-bifurcation",
    "kieboom-camel",
    "kieboom-coman",
    "kieboom-descent",
    "kieboom-exoskeleton",
    "kieboom-gaits",
    "kieboom-gradients",
    "kieboom-human",
    "kieboom-landings",
    "kieboom-metamorphic",
    "kieboom-perturbed",
    "kieboom-pushes",
    "kieboom-tasks",
    "kieboom-topologies",
    "rijt-limits",
    "rijt-sweeps",
    "saurel-actuators",
    "saurel-table1",
    "rijt-baseline",
    "rijt-final",
)
"""Every study, by its name in `studies.STUDIES`."""
