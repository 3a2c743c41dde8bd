"""The shuffler: an independent server that mixes sealed reports and forgets who sent them.

Needs the extra `server`: `pip install "ldptrace[server]"`.
"""
