/** The imports of each node, by name. */
export type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** Circles that cover every node which reaches itself, each as the names along the shortest way around. */
export function findCircles(graph: Graph): string[][] {
  const circles: string[][] = [];
  const covered = new Set<string>();
  for (const start of graph.keys()) {
    if (covered.has(start)) continue;
    const circle = shortestWay(graph, start, start);
    if (!circle) continue;
    for (const name of circle) covered.add(name);
    circles.push(circle);
  }
  return circles;
}

/** The names from `start` to `end` along the fewest imports, both included. */
function shortestWay(graph: Graph, start: string, end: string): string[] | undefined {
  const ways: string[][] = [[start]];
  const visited = new Set<string>();
  for (const way of ways) {
    for (const next of graph.get(way.at(-1) ?? '') ?? []) {
      if (next === end) return [...way, end];
      if (visited.has(next)) continue;
      visited.add(next);
      ways.push([...way, next]);
    }
  }
  return undefined;
}
