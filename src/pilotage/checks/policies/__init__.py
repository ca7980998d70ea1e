"""Checks of one object as admission policies of Kubernetes (ValidatingAdmissionPolicy).

Each policy is a file beside this one: `check`, `kinds`, `variables`, `holds` (CEL that is true when all is
well, with a message), `unseen` (what the check sees and the policy cannot), `unseen_fixtures`.
"""
