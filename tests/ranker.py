"""A reranking model for qmd, made of the starter model: the same layers, with one number for a pair of texts on top."""

from pathlib import Path

import gguf
import numpy as np

NOT_COPIED = ("GGUF.", "general.architecture", "bert.pooling_type")


def write_ranker(source: Path, target: Path) -> None:
    """Write `target`; what it ranks first means nothing, but qmd can load and ask it."""
    reader, writer = gguf.GGUFReader(source), gguf.GGUFWriter(target, "bert")
    for field in reader.fields.values():
        if not field.name.startswith(NOT_COPIED):
            kind, *inner = field.types
            writer.add_key_value(field.name, field.contents(), kind, sub_type=inner[-1] if inner else None)
    writer.add_pooling_type(gguf.PoolingType.RANK)
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
    width = reader.fields["bert.embedding_length"].contents()
    writer.add_tensor("cls.output.weight", np.linspace(-0.1, 0.1, width, dtype=np.float32).reshape(1, width))
    writer.add_tensor("cls.output.bias", np.zeros(1, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
