"""Everything that is generated, as texts by path below the repository's root."""

from collections.abc import Iterable

from proctor.api.base import GROUP
from proctor.api.catalog import CatalogEntry
from proctor.api.record import record_schemas
from proctor.schema.crd import custom_resource_definition
from proctor.schema.criteria import criterion_fields
from proctor.schema.editor import manifest_schema
from proctor.schema.emit import json_text, markdown_text, yaml_text
from proctor.schema.kinds import KINDS
from proctor.schema.reference import reference_page

CRD_FOLDERS = ("crds", "charts/proctor/files/crds")


def generated_files(catalog: Iterable[CatalogEntry]) -> dict[str, str]:
    """Text of every generated file; ``catalog`` is that of the built-ins."""
    entries = tuple(catalog)
    fields = criterion_fields(entries)
    files: dict[str, str] = {}
    for kind in KINDS:
        text = yaml_text(custom_resource_definition(kind, fields))
        for folder in CRD_FOLDERS:
            files[f"{folder}/{kind.plural}.{GROUP}.yaml"] = text
        page = reference_page(kind, entries)
        files[f"docs/reference/{kind.name.lower()}.md"] = markdown_text(page)
    files["docs/schemas/evalrun.json"] = json_text(manifest_schema(KINDS[0], entries))
    for name, schema in record_schemas().items():
        files[f"docs/schemas/record-{name}.json"] = json_text(schema)
    return files
