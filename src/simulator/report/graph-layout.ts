export interface GraphEdge {
  /** `undefined`: from outside. */
  readonly from: string | undefined;
  readonly to: string;
}

export interface PlacedNode {
  readonly name: string;
  /** From the left, 0 for those that nothing calls. */
  readonly column: number;
  /** From the top; columns are centred, so that halves occur. */
  readonly row: number;
}

export interface GraphLayout {
  readonly nodes: readonly PlacedNode[];
  readonly columnCount: number;
  readonly rowCount: number;
}

const SWEEPS = 6;

/**
 * Places operations in columns, each to the right of all that call it, and within a column near those that it is connected
 * to, so that few calls cross (the barycentre rule of Sugiyama and others, 1981). Calls form no circle.
 */
export function layOut(names: readonly string[], edges: readonly GraphEdge[]): GraphLayout {
  const callersOf = new Map(names.map((name) => [name, [] as string[]]));
  const calleesOf = new Map(names.map((name) => [name, [] as string[]]));
  for (const { from, to } of edges) {
    if (from === undefined) continue;
    callersOf.get(to)?.push(from);
    calleesOf.get(from)?.push(to);
  }
  const depths = new Map<string, number>();
  const depthOf = (name: string): number => {
    const known = depths.get(name);
    if (known !== undefined) return known;
    const depth = Math.max(0, ...callersOf.get(name)!.map((caller) => depthOf(caller) + 1));
    depths.set(name, depth);
    return depth;
  };
  const columns: string[][] = [];
  for (const name of names) (columns[depthOf(name)] ??= []).push(name);
  const rowCount = Math.max(0, ...columns.map(({ length }) => length));
  const rows = new Map<string, number>();
  const place = (column: readonly string[]): void => {
    for (const [index, name] of column.entries()) rows.set(name, index + (rowCount - column.length) / 2);
  };
  columns.forEach(place);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const neighboursOf = sweep % 2 === 0 ? callersOf : calleesOf;
    for (const column of sweep % 2 === 0 ? columns : columns.toReversed()) {
      const wish = new Map(
        column.map((name) => [
          name,
          meanOf(
            neighboursOf.get(name)!.map((other) => rows.get(other)!),
            rows.get(name)!,
          ),
        ]),
      );
      column.sort((a, b) => wish.get(a)! - wish.get(b)!);
      place(column);
    }
  }
  return {
    nodes: columns.flatMap((column, index) => column.map((name) => ({ name, column: index, row: rows.get(name)! }))),
    columnCount: columns.length,
    rowCount,
  };
}

function meanOf(values: readonly number[], otherwise: number): number {
  return values.length === 0 ? otherwise : values.reduce((sum, value) => sum + value, 0) / values.length;
}
