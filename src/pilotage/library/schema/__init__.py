"""JSON Schema of a record: made from the model, shipped as `record.schema.json`."""
