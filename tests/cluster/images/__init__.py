"""Builds the images that the tests on a cluster run, also where no image registry is reached.

``docker build`` and the same Dockerfiles serve everybody else; see ``sandbox-image/README.md``.
"""
