// Tokens, as the provider counted them.

import type { Usage } from "../wire/types";

/** Where counting begins, for a session whose first facts are not seen. */
export interface Beginning {
  /** The first fact that will come. */
  from: number;
  /** The last fact that `usage` and `context` count. */
  seq: number;
  usage?: Usage;
  context?: number;
  title?: string;
}

export function plus(one: Usage | undefined, other: Usage): Usage {
  return {
    input: (one?.input ?? 0) + other.input,
    output: (one?.output ?? 0) + other.output,
    total: (one?.total ?? 0) + other.total,
    cached: (one?.cached ?? 0) + (other.cached ?? 0),
    reasoning: (one?.reasoning ?? 0) + (other.reasoning ?? 0),
  };
}
