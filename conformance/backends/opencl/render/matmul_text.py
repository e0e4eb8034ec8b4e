"""A product of matrices as OpenCL C: blocks of both sides that stay in the caches, and sums that stay in registers."""

from __future__ import annotations

from conformance.backends.opencl.graph.node import Launch
from conformance.backends.opencl.render import matmul_form
from conformance.backends.opencl.render.forms import Form
from conformance.backends.opencl.render.matmul_form import WIDTH
from conformance.backends.opencl.render.vectors import Vectors
from conformance.cases.schedule.kernel_body import Load


class Multiplied(Vectors):
    """The statements of a kernel that is a product of matrices.

    A work-item has some rows of the result and one vector of columns or two. It fetches a block of the right side,
    and one of the left where that lies in no good order, and adds what they give before it fetches the next.
    """

    def __init__(self, launch: Launch, found: Form) -> None:
        """Take the product of a launch; raise ``ValueError`` where it is none."""
        super().__init__(launch, found)
        product = found.product
        if product is None:
            raise ValueError("the launch is no product of matrices")
        self._of, self._height = product, matmul_form.height(launch, product)
        self._tall, self._wide_by = (tile := matmul_form.tile(launch)).tall, tile.vectors
        self._block = matmul_form.DEEP if product.packed is None else matmul_form.BOTH

    def _body(self) -> list[str]:
        of, index, wide, many = self._of, self._index, self._wide_by, self._height
        rows, deep = self._launch.extents[of.row], self._launch.extents[of.deep]
        before = tuple(range(of.row))
        lanes = [(r, j) for r in range(self._tall) for j in range(wide)]
        packed = [] if of.packed is None else [f"  float pack[{many * self._block}];"]
        lines = [
            f"  const {index} g = get_global_id(2), top = get_global_id(0) * {many};",
            *self.unravelled(before),
            f"  const {index} side = get_global_id(1) * {WIDTH * wide};",
            f"  const int height = min({many}, (int)({rows} - top));",
            f"  float16 sums[{wide * many}], block[{wide * self._block}];",
            *packed,
            f"  for (int u = 0; u < {wide * many}; ++u) sums[u] = (float16)({self._identity(of.fold)});",
            f"  for ({index} base = 0; base < {deep}; base += {self._block}) {{",
            f"    const int much = min({self._block}, (int)({deep} - base)), whole = much / {WIDTH} * {WIDTH};",
            *(self._turned() if of.turned else self._fetched()),
            *self._packed(),
            f"    for (int down = 0; down < height; down += {self._tall}) {{",
            "      float16 " + ", ".join(f"s{r}{j} = sums[{wide} * (down + {r}) + {j}]" for r, j in lanes) + ";",
            # A row that is not there is computed as the last one is, and not stored.
            *(f"      const {index} row{r} = min(top + down + {r}, ({index}){rows - 1});" for r in range(self._tall)),
            f"      for (int t = 0; t < much; ++t) {{ const {index} i{of.deep} = base + t;",
            *(f"        const float16 b{j} = block[{wide} * t + {j}];" for j in range(wide)),
        ]
        for r in range(self._tall):
            added = " ".join(f"s{r}{j} = (s{r}{j} + (a * b{j}));" for j in range(wide))
            row = f"const {index} i{of.row} = row{r};" if of.packed is None else ""
            lines.append(f"        {{ {row} const float16 a = (float16)({self._left(r)}); {added} }}")
        lines += ["      }", *(f"      sums[{wide} * (down + {r}) + {j}] = s{r}{j};" for r, j in lanes), "    } }"]
        every = frozenset((*before, of.row, of.column))
        lines += [
            f"  for (int r = 0; r < height; ++r) for (int j = 0; j < {wide}; ++j) {{",
            f"    const {index} i{of.row} = top + r, i{of.column} = side + {WIDTH} * j;",
        ]
        self._named, self._written = {of.fold: f"sums[{wide} * r + j]"}, {of.fold}
        return [*lines, *self._stretch(of.column, every, "    "), "  }"]

    def _left(self, r: int) -> str:
        """Return an element of the left side, in row ``r`` of those whose sums lie in registers."""
        of = self._of
        if of.packed is None:
            return f"r{self._slot(of.left)}[{self._at(of.left)}]"
        return (
            f"pack[t * {self._height} + down + {r}]"
            if of.packed == of.row
            else f"pack[(down + {r}) * {self._block} + t]"
        )

    def _fetched(self) -> list[str]:
        """Return the statements that fetch or compute a block of the right side, vector by vector."""
        of, index, wide = self._of, self._index, self._wide_by
        return [
            f"    for (int t = 0; t < much; ++t) for (int j = 0; j < {wide}; ++j) {{",
            f"      const {index} i{of.deep} = base + t, i{of.column} = side + {WIDTH} * j;",
            *self._computed(of.right, of.column, f"block[{wide} * t + j] = {{}};"),
            "    }",
        ]

    def _turned(self) -> list[str]:
        """Return the statements that fetch or compute a block of a right side whose columns lie side by side: tiles."""
        of, index, wide = self._of, self._index, self._wide_by
        return [
            f"    for (int t = 0; t < whole; t += {WIDTH}) for (int j = 0; j < {wide}; ++j) {{ float16 tile[{WIDTH}];",
            f"      for (int u = 0; u < {WIDTH}; ++u) {{",
            f"      const {index} i{of.deep} = base + t, i{of.column} = side + {WIDTH} * j + u;",
            *self._computed(of.right, of.deep, "tile[u] = {};"),
            "      }",
            "      turn16(tile);",
            f"      for (int u = 0; u < {WIDTH}; ++u) block[{wide} * (t + u) + j] = tile[u]; }}",
            f"    for (int t = whole; t < much; ++t) for (int u = 0; u < {WIDTH * wide}; ++u) {{",
            f"      const {index} i{of.deep} = base + t, i{of.column} = side + u;",
            *self._computed(of.right, None, f"((float*)block)[{WIDTH * wide} * t + u] = {{}};"),
            "    }",
        ]

    def _packed(self) -> list[str]:
        """Return the statements that fetch or compute a block of the left side, nothing where it is read in place."""
        of, index = self._of, self._index
        if of.packed is None:
            return []
        along_row = of.packed == of.row
        place = f"t * {self._height} + r" if along_row else f"r * {self._block} + t"
        last = self._launch.extents[of.row] - 1
        vector, single = f"vstore16({{}}, 0, pack + {place});", f"pack[{place}] = {{}};"
        # Rows behind the last are filled too, as sums are made of them.
        high = f"(height + {self._tall - 1}) / {self._tall} * {self._tall}"
        full = f"height / {WIDTH} * {WIDTH}"
        row = f"i{of.row} = min(top + r, ({index}){last})"
        steps = (f"r += {WIDTH}", "++t") if along_row else ("++r", f"t += {WIDTH}")
        rest = (full, "0") if along_row else ("0", "whole")
        by_vector = (full, "much") if along_row else (high, "whole")
        return [
            f"    for (int t = 0; t < {by_vector[1]}; {steps[1]}) for (int r = 0; r < {by_vector[0]}; {steps[0]}) {{",
            f"      const {index} i{of.deep} = base + t, {row};",
            *self._computed(of.left, of.packed, vector),
            "    }",
            f"    for (int t = {rest[1]}; t < much; ++t) for (int r = {rest[0]}; r < {high}; ++r) {{",
            f"      const {index} i{of.deep} = base + t, {row};",
            *self._computed(of.left, None, single),
            "    }",
        ]

    def _computed(self, number: int, along: int | None, stored: str) -> list[str]:
        """Return the statements that compute a side at a point, or vectors of it along an axis, and store it."""
        of, before = self._of, set(self._written)
        self._along = along
        found = self._scope([number], frozenset((*range(of.column + 1), of.deep)), "      ")
        value = f"v{number}" if along is None else self._wide(number)
        self._along, self._written = None, before
        return [*found, "      " + stored.format(value)]

    def _slot(self, number: int) -> int:
        line = self._lines[number]
        assert isinstance(line, Load)
        return self._slots[self._launch.reads[line.access][0]]

    def _at(self, number: int) -> str:
        """Return where a load finds its element."""
        line = self._lines[number]
        assert isinstance(line, Load)
        (only,) = self._launch.reads[line.access][1]
        return self._place(only)
