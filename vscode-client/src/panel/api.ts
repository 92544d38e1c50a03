// The webview's only door: messages to the host, and what is kept over a reload of the page.

import type { FromPanel } from "../shared/messages";

/** What survives when the page is made anew; facts do not, they are asked for again. */
export interface Kept {
  sessionId?: string;
  draft?: string;
  /** Ids of cards that are open. */
  open?: string[];
}

export interface Api {
  postMessage(message: FromPanel): void;
  getState(): Kept | undefined;
  setState(state: Kept): void;
}

declare function acquireVsCodeApi(): Api;

/** It may be asked for only once in the life of a page. */
export const api = (): Api => acquireVsCodeApi();
