type Secret = { createdAt: string; expiresAt: string | null; revokedAt: string | null };

export function secretsValidAt<S extends Secret>(secrets: readonly S[], receivedAt: string): S[] {
  const at = Date.parse(receivedAt);
  return secrets.filter(({ createdAt, expiresAt, revokedAt }) => {
    const ends = [expiresAt, revokedAt].flatMap((end) => (end === null ? [] : [Date.parse(end)]));
    return Date.parse(createdAt) <= at && ends.every((end) => end > at);
  });
}
