"""What every server of the package needs: requests within limits, answers and problems, and the way a server is run.

Needs the extra `server`: `pip install "ldptrace[server]"`.
"""
