"""The bundled records, one YAML file each, named by their id."""
