"""The curator's server: campaigns, their database, their pages, and a fleet of devices to try it with.

Needs the extra `server`: `pip install "ldptrace[server]"`.
"""
