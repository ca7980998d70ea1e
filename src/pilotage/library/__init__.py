"""The library: incident reports as structured, bilingual records that can be searched and trusted."""
