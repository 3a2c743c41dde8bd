"""The curator's server: campaigns, their database and pages, and a fleet of simulated devices for trials.

Needs the extra `server`: `pip install "ldptrace[server]"`.
"""
