"""all-MiniLM-L6-v2 as an int8 ONNX graph, made from its float weights without torch.

Weights are int8 in 7 bits with a scale for each output; activations are quantised at run time with a scale for each
token. One scale for the whole tensor, which is what `quantize_dynamic` makes, lets a text's vector depend on the texts
it shares a batch with (cosine 0.990 between alone and in a batch of 32; here 1.000) and is further from the original
(0.992; here 0.995). Seven bits, because two 8-bit products overflow the 16-bit sums of CPUs without VNNI, and the
vectors would then depend on the machine.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

DIMENSIONS: Final = 384
MAX_TOKENS: Final = 256
_LAYERS: Final = 6
_HEADS: Final = 12
_LAYER_NORM_EPSILON: Final = 1e-12
_ROW_MAX: Final = 127
_WEIGHT_MAX: Final = 63
_ZERO_POINT: Final = 128
_OPSET: Final = 20
_IR_VERSION: Final = 10

Array = NDArray[Any]


def build(weights: Mapping[str, Array]) -> ModelProto:
    """The graph: token ids and mask in, unit vectors (masked mean of the last layer) out."""
    return _Graph(weights).build()


class _Graph:
    def __init__(self, weights: Mapping[str, Array]) -> None:
        self._weights = weights
        self._constants: dict[str, TensorProto] = {}
        self._nodes: list[NodeProto] = []

    def build(self) -> ModelProto:
        mask = self._op("Cast", ["attention_mask"], "mask", to=TensorProto.FLOAT)
        hidden = self._embeddings()
        bias = self._attention_bias(mask)
        for index in range(_LAYERS):
            hidden = self._layer(hidden, bias, f"encoder.layer.{index}.")
        self._pool(hidden, mask)
        int64, shape = TensorProto.INT64, ["batch", "tokens"]
        graph = helper.make_graph(
            self._nodes,
            "all-MiniLM-L6-v2",
            [helper.make_tensor_value_info(name, int64, shape) for name in ("input_ids", "attention_mask")],
            [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", DIMENSIONS])],
            list(self._constants.values()),
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION)

    def _op(self, kind: str, inputs: Sequence[str], name: str, **attributes: Any) -> str:
        self._nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def _const(self, name: str, value: Any) -> str:
        if name not in self._constants:
            self._constants[name] = numpy_helper.from_array(np.asarray(value, order="C"), name)
        return name

    def _ints(self, *values: int) -> str:
        return self._const("ints" + "_".join(map(str, values)), np.array(values, np.int64))

    def _float(self, value: float) -> str:
        return self._const(f"float{value}", np.array(value, np.float32))

    def _quantised(self, name: str, matrix: Array, limit: int, *, transpose: bool = False) -> tuple[str, str]:
        """An int8 matrix and the scale of each of its rows, which become columns when it is transposed."""
        scale = np.abs(matrix).max(axis=1, keepdims=True) / limit
        whole = np.round(matrix / scale).astype(np.int8)
        if transpose:
            whole, scale = whole.T, scale.T
        return self._const(name + ".int8", whole), self._const(name + ".scale", scale.astype(np.float32))

    def _embeddings(self) -> str:
        words, scales = self._quantised("words", self._weights["embeddings.word_embeddings.weight"], _ROW_MAX)
        whole = self._op("Cast", [self._op("Gather", [words, "input_ids"], "word.int8")], "word", to=TensorProto.FLOAT)
        word = self._op("Mul", [whole, self._op("Gather", [scales, "input_ids"], "word.scale")], "word.scaled")
        # Every token is of type 0 when there is one text, so that row is part of the position.
        table = self._weights["embeddings.position_embeddings.weight"][:MAX_TOKENS]
        table = table + self._weights["embeddings.token_type_embeddings.weight"][0]
        tokens = self._op("Shape", ["input_ids"], "tokens", start=1, end=2)
        position = self._op(
            "Slice", [self._const("positions", table), self._ints(0), tokens, self._ints(0)], "position"
        )
        return self._layer_norm(self._op("Add", [word, position], "embedded"), "embeddings.LayerNorm")

    def _attention_bias(self, mask: str) -> str:
        hidden = self._op("Mul", [self._op("Sub", [mask, self._float(1.0)], "mask.off"), self._float(1e4)], "mask.low")
        return self._op("Unsqueeze", [hidden, self._ints(1, 2)], "attention.bias")

    def _layer_norm(self, x: str, name: str) -> str:
        scale, bias = (self._const(f"{name}.{part}", self._weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self._op("LayerNormalization", [x, scale, bias], name, axis=-1, epsilon=_LAYER_NORM_EPSILON)

    def _linear(self, x: str, name: str, weight: Array, bias: Array) -> str:
        matrix, scale = self._quantised(name, weight, _WEIGHT_MAX, transpose=True)
        largest = self._op("ReduceMax", [self._op("Abs", [x], name + ".abs"), self._ints(-1)], name + ".max")
        # A row of nothing but zeros has no scale; it keeps a tiny one, and stays zero.
        largest = self._op("Max", [largest, self._float(1e-9)], name + ".some")
        row_scale = self._op("Div", [largest, self._float(float(_ROW_MAX))], name + ".row")
        rounded = self._op("Round", [self._op("Div", [x, row_scale], name + ".div")], name + ".round")
        shifted = self._op("Add", [rounded, self._float(float(_ZERO_POINT))], name + ".shift")
        row = self._op("Cast", [shifted], name + ".uint8", to=TensorProto.UINT8)
        zero = self._const("zero_point", np.array(_ZERO_POINT, np.uint8))
        product = self._op("MatMulInteger", [row, matrix, zero], name + ".product")
        result = self._op("Cast", [product], name + ".float", to=TensorProto.FLOAT)
        result = self._op("Mul", [self._op("Mul", [result, row_scale], name + ".rows"), scale], name + ".scaled")
        return self._op("Add", [result, self._const(name + ".bias", bias)], name + ".out")

    def _parameters(self, name: str) -> tuple[Array, Array]:
        return self._weights[name + ".weight"], self._weights[name + ".bias"]

    def _layer(self, x: str, bias: str, at: str) -> str:
        context = self._attention(x, bias, at)
        dense = self._linear(context, at + "attended", *self._parameters(at + "attention.output.dense"))
        x = self._layer_norm(self._op("Add", [dense, x], at + "sum1"), at + "attention.output.LayerNorm")
        inner = self._linear(x, at + "inner", *self._parameters(at + "intermediate.dense"))
        outer = self._linear(
            self._op("Gelu", [inner], at + "gelu"), at + "outer", *self._parameters(at + "output.dense")
        )
        return self._layer_norm(self._op("Add", [outer, x], at + "sum2"), at + "output.LayerNorm")

    def _attention(self, x: str, bias: str, at: str) -> str:
        """The context of each token; query, key and value are one multiplication, the query's scale part of it."""
        head = DIMENSIONS // _HEADS
        parts = [self._parameters(f"{at}attention.self.{part}") for part in ("query", "key", "value")]
        factors = (head**-0.5, 1.0, 1.0)
        weight = np.concatenate([factor * part[0] for factor, part in zip(factors, parts, strict=True)])
        offset = np.concatenate([factor * part[1] for factor, part in zip(factors, parts, strict=True)])
        joined = self._linear(x, at + "qkv", weight.astype(np.float32), offset.astype(np.float32))
        names = [at + "query", at + "key", at + "value"]
        self._nodes.append(helper.make_node("Split", [joined], names, axis=-1, num_outputs=3))
        shape = self._ints(0, 0, _HEADS, head)
        query, key, value = (
            self._op("Transpose", [self._op("Reshape", [name, shape], name + ".heads")], name + ".turned", perm=perm)
            for name, perm in zip(names, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]), strict=True)
        )
        scores = self._op("Add", [self._op("MatMul", [query, key], at + "scores"), bias], at + "masked")
        shares = self._op("Softmax", [scores], at + "shares", axis=-1)
        turned = self._op(
            "Transpose", [self._op("MatMul", [shares, value], at + "mixed")], at + "back", perm=[0, 2, 1, 3]
        )
        return self._op("Reshape", [turned, self._ints(0, 0, DIMENSIONS)], at + "context")

    def _pool(self, x: str, mask: str) -> None:
        """The sum of the tokens that are there; the mean's divisor goes when the length becomes one."""
        kept = self._op("Mul", [x, self._op("Unsqueeze", [mask, self._ints(2)], "mask.column")], "kept")
        total = self._op("ReduceSum", [kept, self._ints(1)], "total", keepdims=0)
        self._op("LpNormalization", [total], "vectors", axis=-1, p=2)
