"""How a mechanism looks: shapes of bodies, joints, pictures."""
