const patternLengthMax = 255;
const patternsMax = 100;

/**
 * Whether one of an endpoint's patterns matches this event type. No pattern, and `*`, match every webhook, also one without
 * a type; `payment.*` matches `payment.captured` and `payment.refund.created`, not `payment`.
 */
export function matchesEventTypes(patterns: readonly string[], eventType: string | null): boolean {
  if (patterns.length === 0) return true;
  return patterns.some((pattern) => {
    if (pattern === '*') return true;
    if (eventType === null) return false;
    if (!pattern.endsWith('.*')) return pattern === eventType;
    const prefix = pattern.slice(0, -1);
    return eventType.length > prefix.length && eventType.startsWith(prefix);
  });
}

/** The distinct patterns of a comma-separated list such as `payment.*,order.paid`. Throws RangeError with the reason. */
export function parseEventTypes(list: string): string[] {
  const patterns = [...new Set(list.split(',').map((item) => item.trim()))];
  if (patterns.length > patternsMax) {
    throw new RangeError(`an endpoint has at most ${patternsMax} event types, not ${patterns.length}`);
  }
  for (const pattern of patterns) {
    const problem = patternProblem(pattern);
    if (problem) throw new RangeError(problem);
  }
  return patterns;
}

function patternProblem(pattern: string): string | null {
  if (pattern === '') return "an event type is empty: name each one, or use '*' for all";
  if (pattern.length > patternLengthMax) {
    return `an event type has at most ${patternLengthMax} characters, not ${pattern.length}`;
  }
  if (/\p{Cc}/u.test(pattern) || !pattern.isWellFormed()) {
    return `the event type ${JSON.stringify(pattern)} has a control character`;
  }
  if (pattern === '*') return null;
  const literal = pattern.endsWith('.*') ? pattern.slice(0, -2) : pattern;
  if (literal === '' || literal.includes('*')) {
    return `in ${JSON.stringify(pattern)} the '*' may only stand alone or at the end after a dot, as in payment.*`;
  }
  return null;
}
