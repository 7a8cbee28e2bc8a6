/** A released delivery that has not arrived by then is at another worker, or waits behind a backlog. */
const expectedForMs = 5_000;

/** Deliveries that were released into a lane and have not reached their endpoint's slots yet, by endpoint. */
export class ExpectedDeliveries {
  /** `until`: `performance.now()`, ms. */
  readonly #expected = new Map<string, { count: number; until: number }>();

  /** `count` is a fraction where several workers share the released deliveries. */
  expect(endpointId: string, count: number): void {
    this.#expected.set(endpointId, {
      count: this.of(endpointId) + count,
      until: performance.now() + expectedForMs,
    });
  }

  /** Any delivery of the endpoint counts: a released one is not marked. */
  arrived(endpointId: string): void {
    const expected = this.#expected.get(endpointId);
    if (!expected) return;
    expected.count -= 1;
    if (expected.count <= 0) this.#expected.delete(endpointId);
  }

  of(endpointId: string): number {
    const expected = this.#expected.get(endpointId);
    if (!expected) return 0;
    if (expected.until > performance.now()) return expected.count;
    this.#expected.delete(endpointId);
    return 0;
  }

  total(): number {
    return [...this.#expected.keys()].reduce((sum, endpointId) => sum + this.of(endpointId), 0);
  }
}
