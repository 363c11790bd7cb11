"""What grade, command line, operator and results server say to each other. Standard library only.

A *folder* (a record, a bundle of tasks) is stored as its parts, each under its SHA-256, and a
manifest that names them; the folder's digest is the manifest's SHA-256. Whoever sends one asks with
the manifest first, is told which parts are missing, sends those, and asks again::

    PUT {base}/{digest}                  the manifest -> 200 stored, 202 {"missing": [sha256, ...]}
    PUT {base}/{digest}/parts/{sha256}   one part -> 204; 412: the manifest is not known

Asking again is always safe, and a server that lost its index meanwhile wants the manifest again.
The base is ``RECORDS``, on the port for trials; on the other port people read from ``records_of`` a
namespace and send to ``bundles_of`` one, from which the operator reads.
"""

import re
from urllib.parse import quote

AUDIENCE = "proctor-results"
"""Of the tokens that the results server takes."""

TOKEN_HEADER = "X-Proctor-Token"
"""Of people: the API server's proxy takes ``Authorization`` for itself."""

RECORDS = "/proctor/v1/records"
NAMESPACES = "/proctor/v1/namespaces"

RECORD = "record"
BUNDLE = "bundle"
"""The kinds of folder."""

THERE_IS_NO = "there is no"
NO_BUNDLE = f"{THERE_IS_NO} {BUNDLE}"
"""How the answer 404 begins when the namespace has no such folder; a 404 that says anything else is
of a server that knows no bundles."""

MANIFEST_FIRST = 412
"""Status for a part of a folder that was never offered, or whose index was lost since."""

MANIFEST_BYTES = 8 << 20
"""The largest manifest that is read."""

MAX_BUNDLE_BYTES = 8 << 20
"""The parts of a bundle together: the operator reads all of them at once."""

DIGEST_SCHEME = "sha256:"
"""Before a folder's digest where people, specs and statuses write it."""

_DIGEST = re.compile(r"[0-9a-f]{64}")


def is_digest(text: str) -> bool:
    """Whether it is a SHA-256 as it is written here."""
    return _DIGEST.fullmatch(text) is not None


def written_digest(digest: str) -> str:
    """A folder's digest as people, specs and statuses write it."""
    return f"{DIGEST_SCHEME}{digest}"


def bundles_of(namespace: str) -> str:
    """Path of a namespace's bundles: people send them, the operator reads them."""
    return f"{NAMESPACES}/{quote(namespace, safe='')}/bundles"


def records_of(namespace: str) -> str:
    """Path of a namespace's records, for people."""
    return f"{NAMESPACES}/{quote(namespace, safe='')}/records"
