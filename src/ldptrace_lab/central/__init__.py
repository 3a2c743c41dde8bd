"""Methods that need a trusted curator: somebody who sees every trajectory and publishes with noise.

They protect people from readers of the result, not from the curator. They are here to be compared with.
"""
