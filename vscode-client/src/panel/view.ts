// All that the panel knows, as components see it.

import { emptyState, type SessionState } from "../session/state";
import type {
  Chip,
  PanelSettings,
  ServerState,
  SessionNote,
  ShownSession,
} from "../shared/messages";
import type { Older } from "./older";

export type Page = "chat" | "sessions" | "grants";

export interface View {
  settings: PanelSettings;
  server: ServerState;
  session: ShownSession | undefined;
  state: SessionState;
  /** Grows with every change of `state`, which is one object all along. */
  version: number;
  older: Older;
  chips: Chip[];
  draft: string;
  page: Page;
  /** What sessions do now, as far as they are open. */
  notes: SessionNote[];
  /** The turn that the person stopped, with its session. */
  stopping: string | undefined;
  /** Whether a message waits for a session to be there. */
  waits: boolean;
  /** What the person should be told now, beside the transcript. */
  problem: string | undefined;
}

const NO_SETTINGS: PanelSettings = {
  sendKey: "enter",
  showThinking: "collapsed",
  trusted: true,
  folders: [],
};

/** What tells two chips apart: the place and the words, not when they were made. */
export function placeOf(chip: Chip): string {
  const { kind, uri, range, text, data, digest } = chip;
  return JSON.stringify([kind, uri, range, text, data, digest]);
}

/** What is known before the host has said anything. */
export function blank(draft: string, chips: Chip[]): View {
  return {
    settings: NO_SETTINGS,
    server: { state: "starting" },
    session: undefined,
    state: emptyState(),
    version: 0,
    older: { items: [], from: 0 },
    chips,
    draft,
    page: "chat",
    notes: [],
    stopping: undefined,
    waits: false,
    problem: undefined,
  };
}
