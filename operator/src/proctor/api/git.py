"""How a process that fetches a repository learns who it is. Standard library only.

The variables stand below ``redaction.SECRET_PREFIX``, so that their values are taken out of all
that it says.
"""

GIT_USERNAME, GIT_PASSWORD = "GIT_USERNAME", "GIT_PASSWORD"
GIT_PROXY = "GIT_PROXY"
"""URL of a proxy, with user name and password where it asks for them."""

GIT_AUTHORITIES = "GIT_AUTHORITIES"
"""Certificates in PEM that are trusted besides the system's."""

GIT_AUTHORITIES_FILE = "GIT_AUTHORITIES_FILE"
"""A file of them, in place of their text: a variable holds at most 128 KiB, a system's has more."""

USERNAME_KEY, PASSWORD_KEY, AUTHORITIES_KEY = "username", "password", "ca.crt"
"""Keys of the Secret that ``workspace.git.secretRef`` names."""

FETCH_SECONDS = 240
"""For one repository, once it is asked for."""

DEFAULT_USERNAME = "git"
"""Servers that take an access token for the password look at no user name, and want one."""
