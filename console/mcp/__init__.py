"""The tools an agent gets over the Model Context Protocol: it searches, keeps notes, and proposes.

Nothing here can decide: no module of this package leads to the commit of a decision (an import
contract of the project). Only :mod:`console.mcp.server` needs the protocol's SDK.
"""
