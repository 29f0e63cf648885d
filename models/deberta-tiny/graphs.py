"""Graphs of a few nodes, one for each way in which exports differ.

They classify by arithmetic on the ids (see _logits), so a test knows what each
has to answer, and reads the ids, the mask and the type ids that it was given.
"""

import numpy as np
from onnx import TensorProto, external_data_helper, helper, numpy_helper

from graph import finish

_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def write(folder):
    """Write all of them into folder."""
    folder.mkdir(parents=True, exist_ok=True)

    def save(name, proto):
        (folder / f"{name}.onnx").write_bytes(proto.SerializeToString(deterministic=True))

    save("plain", classifier())
    save("int32", classifier(id_type=TensorProto.INT32))
    save("fp16", classifier(half=True))
    save("two_labels", classifier(classes=2))
    save("four_labels", classifier(classes=4))
    save("one_output", classifier(classes=1))
    save("other_name", classifier(output="output_0"))
    save("pooled_too", classifier(output="output_0", extra=[("pooler_output", 64)]))
    save("two_candidates", classifier(output="output_0", extra=[("output_1", 3)]))
    save("unknown_input", classifier(inputs=(*_INPUTS[:2], "position_ids")))
    save("float_ids", classifier(id_type=TensorProto.FLOAT))
    for name, location in (("external", "external.onnx_data"), ("outside", "../outside.onnx_data")):
        proto = classifier()
        waves = next(c for c in proto.graph.initializer if c.name == "waves")
        external_data_helper.set_external_data(waves, location, offset=0, length=len(waves.raw_data))
        if name == "external":
            (folder / location).write_bytes(waves.raw_data)
        waves.ClearField("raw_data")
        waves.data_location = TensorProto.EXTERNAL
        save(name, proto)


def classifier(classes=3, inputs=_INPUTS, id_type=TensorProto.INT64, output="logits", half=False, extra=()):
    """Return the model; extra outputs are (name, columns) of zeros."""
    number = TensorProto.FLOAT16 if half else TensorProto.FLOAT
    nodes, constants = _logits(classes, inputs, output, number)
    outputs = [helper.make_tensor_value_info(output, number, ["batch", classes])]
    for name, columns in extra:
        constants.append(numpy_helper.from_array(np.zeros((1, columns), np.float32), f"{name}_zeros"))
        nodes.append(helper.make_node("MatMul", ["column", f"{name}_zeros"], [name], name=name))
        outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", columns]))
    return finish(
        "classifier",
        nodes,
        [helper.make_tensor_value_info(name, id_type, ["batch", "sequence"]) for name in inputs],
        outputs,
        constants,
    )


def _logits(classes, inputs, output, number):
    """logits[c] = 4 sin(s (c + 1) / 100), s the sum of mask * (id + 7 * type)."""
    constants = [
        numpy_helper.from_array(np.array([[(c + 1) / 100 for c in range(classes)]], np.float32), "waves"),
        numpy_helper.from_array(np.float32(7), "seven"),
        numpy_helper.from_array(np.float32(4), "four"),
        numpy_helper.from_array(np.array([1], np.int64), "axis"),
    ]
    nodes = [helper.make_node("Cast", [name], [f"{name}_float"], to=TensorProto.FLOAT) for name in inputs]
    ids = "input_ids_float"
    if "token_type_ids" in inputs:
        nodes.append(helper.make_node("Mul", ["token_type_ids_float", "seven"], ["types"]))
        nodes.append(helper.make_node("Add", [ids, "types"], ["typed"]))
        ids = "typed"
    nodes += [
        helper.make_node("Mul", [ids, "attention_mask_float"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "axis"], ["column"], keepdims=1),
        helper.make_node("MatMul", ["column", "waves"], ["angles"]),
        helper.make_node("Sin", ["angles"], ["sines"]),
        helper.make_node("Mul", ["sines", "four"], ["scores"]),
        helper.make_node("Cast", ["scores"], [output], to=number),
    ]
    return nodes, constants
