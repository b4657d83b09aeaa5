"""The JSON Schemas of docs/schema: whether a document follows one, and the keys that one knows."""
import json

from .places import SOURCE

try:
    import jsonschema
except ImportError:
    jsonschema = None  # nothing is checked; tests/documented_keys says so

DIRECTORY = SOURCE / "docs" / "schema"


def checks_schemas():
    return jsonschema is not None


def schema_of(name):
    return json.loads((DIRECTORY / f"{name}.json").read_text())


def check_schema(document, name):
    """Checks that the document follows docs/schema/NAME.json, which allows no other keys."""
    if jsonschema is None:
        return
    schemas = {schema["$id"]: schema for schema in map(schema_of, (path.stem for path in DIRECTORY.glob("*.json")))}
    schema = schema_of(name)
    resolver = jsonschema.RefResolver(schema["$id"], schema, store=schemas)
    checks = jsonschema.Draft202012Validator(schema, resolver=resolver)
    if not checks.is_valid(document):
        error = jsonschema.exceptions.best_match(checks.iter_errors(document))
        raise AssertionError(f"against docs/schema/{name}.json: {error.json_path}: {error.message}")


def keys_of_schema(name):
    """Paths of all leaves that a document may have, as docs/json.md writes them."""
    def keys(schema, of, path):
        if "$ref" in schema:
            other, _, pointer = schema["$ref"].partition("#")
            root = schema_of(other.removesuffix(".json")) if other else of
            target = root
            for word in pointer.strip("/").split("/"):
                target = target[word]
            found = keys(target, root, path)
            return found | keys({"properties": schema["properties"]}, of, path) if "properties" in schema else found
        if "anyOf" in schema:
            return set().union(*(keys(one, of, path) for one in schema["anyOf"] if one != {"type": "null"}))
        if "properties" in schema:
            return set().union(*(keys(inner, of, f"{path}.{key}" if path else key)
                                 for key, inner in schema["properties"].items()))
        return keys(schema["items"], of, path + "[]") if "items" in schema else {path}
    schema = schema_of(name)
    if "anyOf" in schema:  # one object, or a list of them
        schema = {**schema["anyOf"][0], "$defs": schema["$defs"]}
    return keys(schema, schema, "") if schema.get("type") != "array" else keys(schema["items"], schema, "")
