"""What devices and curators share: limits, canonical documents, problems and the bytes of a report.

The normative text is in the folder `protocol/` at the top of the repository. Standard library only.
"""
