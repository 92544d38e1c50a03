// Which facts a session stands on after it was taken back, and after that was undone.

export interface Rewind {
  seq: number;
  to: number;
}

/**
 * The stretches of `seq` that do not count: both ends excluded, as (to, seq) of each rewind that
 * still holds. A rewind to before an earlier one undoes that one.
 */
export function gone(rewinds: readonly Rewind[]): [number, number][] {
  const stretches: [number, number][] = [];
  let upTo = Number.POSITIVE_INFINITY;
  for (const rewind of [...rewinds].reverse()) {
    if (rewind.seq > upTo) continue;
    upTo = Math.min(rewind.to, rewind.seq - 1);
    stretches.push([upTo, rewind.seq]);
  }
  return stretches;
}

export function isGone(seq: number, stretches: readonly [number, number][]): boolean {
  return stretches.some(([after, before]) => after < seq && seq < before);
}
