"""Which cases a backend refuses as unsupported, and why: backend -> pattern of "<op>/<case>" -> reason.

A case that is refused and not listed fails, and so does a listed case that is not refused.
"""

REFUSALS: dict[str, dict[str, str]] = {
    "cpu": {},
    "nvidia": {},
    "metax": {},
    "tilelang": {},
}
