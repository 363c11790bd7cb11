"""Builds the folder that holds a whole Python: interpreter, libraries, packages, compiled.

It runs in the image build, on the distribution whose Python it takes apart; see ``../Dockerfile``.
"""
