// The webview's only door: messages to the host, and what is kept over a reload of the page.

import type { Chip, FromPanel } from "../shared/messages";

/** What survives when the page is made anew; facts do not, they are asked for again. */
export interface Kept {
  sessionId?: string;
  draft?: string;
  chips?: Chip[];
  /** What is written in sessions that are not shown, by their ids; the latest last. */
  drafts?: Record<string, Written>;
  /** Ids of cards that the person opened, and of those that they closed. */
  open?: string[];
  shut?: string[];
  /** The item at the top for someone who reads further up, and how far it is from there. */
  anchor?: Anchor | undefined;
}

export interface Written {
  draft: string;
  chips: Chip[];
}

export interface Anchor {
  id: string;
  offset: number;
}

export interface Api {
  postMessage(message: FromPanel): void;
  getState(): Kept | undefined;
  setState(state: Kept): void;
}

declare function acquireVsCodeApi(): Api;

/** It may be asked for only once in the life of a page. */
export const api = (): Api => acquireVsCodeApi();
