"""A record to fill in: every key with what it is for."""

from __future__ import annotations

import re

from pilotage.core.errors import InvalidInput
from pilotage.core.text import kebab
from pilotage.library.record import ID_PATTERN, SCHEMA_VERSION

_TEMPLATE = """\
# One incident. Lines that begin with '#' are advice; keys without a value may stay as they are.
# Check it with: pilotage library validate FILE
schema_version: {version}        # version of this form; leave it
id: {id}        # readable slug, never changed once published
aliases: []        # ids under which the record was known before
status: draft        # draft | reviewed | withdrawn
withdrawn_reason: null        # for a withdrawn record: why, as {{en: …, ko: …}}
visibility: public        # public | private
org: null        # who was hit, as they write their name
org_slug: null        # the same as a slug, such as google-cloud
date: null        # YYYY-MM-DD; write 01 for what is not known
date_kind: null        # incident | published
date_precision: null        # day | month | year | unknown
title:        # effect, because of mechanism; at most 120 characters, no date, no blame
  en: null        # English
  ko: null        # Korean: cause first, noun ending
summary:        # 3 to 6 paragraphs, divided by blank lines: what ran, changed, spread, ended it
  en: null        # as many paragraphs as in ko; write them under '|'
  ko: null        # as many paragraphs as in en
symptoms_text:        # what the pager showed, one symptom a paragraph, no causes
  en: null
  ko: null
trigger:        # the event that started it, not the flaw
  en: null
  ko: null
detection:        # how it was noticed
  en: null
  ko: null
lessons:        # what carries over to others, one a paragraph
  en: null
  ko: null
domain: []        # slugs; see: pilotage library vocab domain
symptoms: []        # slugs; see: pilotage library vocab symptoms
components: []        # slugs; see: pilotage library vocab components
contributing: []        # slugs; see: pilotage library vocab contributing
contributing_notes: []        # factors in words: - {{kind: slug or null, text: {{en: …, ko: …}}}}
root_cause: null        # slug of the primary cause; equals the first of root_causes
root_causes: []        # all causes, primary first: - {{kind: slug, text: {{en: …, ko: …}}}}
detection_kind: null        # slug of how it was detected
severity: unknown        # slug: none | minor | major | critical | unknown
impact:        # who and what was hit
  scope: unknown        # products or systems
  users: unknown        # how many or which users
  region: unknown        # where
  text: null        # one or two sentences as {{en: …, ko: …}}
timeline:        # only what a source states, such as 9m or 3h 54m; measured from the start of the impact
  detected_after: null        # until somebody noticed
  mitigated_after: null        # until users were no longer hit
  resolved_after: null        # until all was normal
events: []        # the timeline: - {{at: 2019-01-18T10:03Z, text: {{en: …, ko: …}}}}
times: null        # zone of the times and what was not converted, as {{en: …, ko: …}}
mechanism: []        # steps: - {{id: slug, kind: …, label: {{en, ko}}, text: {{en, ko}}, leads_to: [ids]}}
# kinds of steps: latent_condition | trigger | propagation | amplification | containment; labels: max. 60
remediation: []        # what was done, failed attempts too: - {{kind: slug, text: {{en: …, ko: …}}}}
action_items: []        # follow-ups: - {{status: done | under_way | planned, text: {{en: …, ko: …}}}}
phrases:        # 4 to 8 short lines, as people would type them while it happens
  en: []        # such as: half the pods get everything
  ko: []        # such as: 특정 파드만 요청이 몰려요
facts: []        # the stated figures, names and times that the text uses
disagreement: null        # where sources differ, as {{en: …, ko: …}}
sources: []        # - {{url: https://…, kind: blog | official-status | …, archived: https://…}}
docs: []        # addresses of documentation that helps
related: []        # ids of incidents that belong together
related_reasons: {{}}        # why, by id: {{other-id: {{en: …, ko: …}}}}
recurrence_of: null        # id of the incident that this one repeats
provenance: {{}}        # by field: {{summary: {{state: stated, confidence: high, source: 1, where: …}}}}
# states: stated | not_stated | editorial; confidence: high | medium | low; sources count from 1
review:        # who wrote and who checked it
  written_by: null        # a team or role, no person
  reviewed_at: null        # YYYY-MM-DD
  reviewed_by: null        # not the writer
updated_at: null        # ISO time of the last change
url: null        # page of the record
"""


def skeleton(id: str) -> str:  # noqa: A002 - the key that it fills
    """A record in YAML to fill in: it can be read as it is, and `validate` tells what to fill in first.

    Args:
        id: of the new record, such as `elastic-2019-01-18-proxy-oom`.

    Raises:
        InvalidInput: the id has a form that no record may have.
    """
    if not re.fullmatch(ID_PATTERN, id):
        offer = re.sub(r"[^a-z0-9-]+", "", kebab(id)).strip("-")[:120]
        raise InvalidInput(
            f"'{id[:80]}' cannot be an id",
            hint=f"Try '{offer}'."
            if offer
            else "Write letters, digits and dashes, such as elastic-2019-01-18-oom.",
        )
    # Quoted where YAML would read a number or a constant.
    plain = id if re.fullmatch(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+", id) else f'"{id}"'
    return re.sub(r" {8}# ", "  # ", _TEMPLATE.format(version=SCHEMA_VERSION, id=plain))
