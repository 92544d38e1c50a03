// What the panel (a webview) and the extension host say to each other.
//
// The panel holds no truth: it reduces the log's facts, which the host passes on in batches, and
// asks for them again whenever it was made anew. Requests go through `call`: the host passes those
// on that `CALLS` names, and answers each exactly once.

import type { EffectiveConfig, Fact, Requests, Usage } from "../wire/types";

/** The version of these messages; a panel of another version is loaded again. */
export const VERSION = 1;

/** Values without `seq` on a subscription: shown now, never kept. */
export type Note =
  | { type: "tool/output"; data: { callId: string; text: string } }
  | { type: "status"; data: { text: string; until?: number } }
  | { type: "live"; data: { seq: number } };

/** What travels on a subscription; types that are not known are skipped by readers. */
export type Value = Fact | Note;

/** The requests to the server that a panel may make. */
export const CALLS = [
  "turnbuckle/session/open",
  "turnbuckle/session/list",
  "turnbuckle/session/read",
  "turnbuckle/session/fork",
  "turnbuckle/session/rewind",
  "turnbuckle/session/configure",
  "turnbuckle/session/compact",
  "turnbuckle/session/delete",
  "turnbuckle/turn",
  "turnbuckle/cancel",
  "turnbuckle/inbox/edit",
  "turnbuckle/approve",
  "turnbuckle/grants",
  "turnbuckle/grants/revoke",
  "turnbuckle/models",
] as const satisfies readonly (keyof Requests)[];

export type Call = (typeof CALLS)[number];

/** Something the person points at, shown as a chip above the composer until it is sent. */
export interface Chip {
  id: string;
  kind: "file" | "selection" | "diagnostics" | "terminal" | "text" | "image";
  label: string;
  /** What a screen reader and a tooltip say. */
  detail: string;
  uri?: string;
  range?: { start: Position; end: Position };
  version?: number;
  text?: string;
  /** A picture: its type and its bytes in base64, or the digest of one that was sent before. */
  mimeType?: string;
  data?: string;
  digest?: string;
}

export interface Position {
  line: number;
  character: number;
}

/** The state of the server's process, as the person should see it. */
export interface ServerState {
  state: "starting" | "running" | "stopped" | "failed";
  message?: string;
}

export interface PanelSettings {
  sendKey: "enter" | "ctrlEnter";
  showThinking: "collapsed" | "off" | "full";
  trusted: boolean;
  /** The names of folders that a session can be opened in, and their URIs. */
  folders: { name: string; uri: string }[];
}

/** The session that the panel shows; its facts follow. */
export interface ShownSession {
  sessionId: string;
  seq: number;
  /** The first fact that will come; older ones can be read. */
  from: number;
  readOnly: boolean;
  damaged?: string;
  title?: string;
  interrupted?: boolean;
  config: EffectiveConfig;
  /** The tokens of the whole session up to `seq`, and those of the context then. */
  usage?: Usage;
  context?: number;
  folder?: string;
}

/** What a session that is open does now, for the list of sessions. */
export interface SessionNote {
  sessionId: string;
  state: "idle" | "running" | "waiting";
}

export type ToPanel =
  | { type: "hello"; version: number; settings: PanelSettings; server: ServerState }
  | { type: "settings"; settings: PanelSettings }
  | { type: "server"; server: ServerState }
  /** Show this session from its facts; `instead` of one that is gone, of which the draft is kept. */
  | { type: "session"; session: ShownSession; instead?: string }
  /** Facts and notes in their order; `batch` is to be acknowledged. */
  | { type: "values"; sessionId: string; batch: number; values: Value[] }
  | { type: "chips"; chips: Chip[] }
  /** All sessions that are open anywhere in this window. */
  | { type: "sessions"; sessions: SessionNote[] }
  /** The files for `findFiles` with this id. */
  | { type: "found"; id: number; chips: Chip[] }
  /** Put this into the composer, and focus it if asked. */
  | { type: "compose"; text: string; focus: boolean }
  | { type: "focus" }
  | { type: "answer"; id: number; result: unknown }
  | { type: "refused"; id: number; code: number; message: string; kind?: string }
  | { type: "ping"; at: number };

export type FromPanel =
  /** Sent once the panel can take messages; what it showed before it was made anew, if anything. */
  | { type: "ready"; version: number; sessionId?: string }
  | { type: "ack"; batch: number }
  | { type: "call"; id: number; method: Call; params: Record<string, unknown> }
  /** Show another session, or a new one without an id. */
  | { type: "show"; sessionId?: string; folder?: string }
  | { type: "do"; action: Action }
  | { type: "pong"; at: number };

/** What the host does for the panel in the editor. */
export type Action =
  | { do: "openFile"; uri: string; line?: number }
  | { do: "insertCode"; text: string }
  | { do: "copy"; text: string }
  | { do: "openLink"; href: string }
  | { do: "review"; approvalId: string }
  | { do: "addContext" }
  | { do: "findFiles"; id: number; query: string }
  | { do: "drop"; uris: string[] }
  | { do: "connect" }
  | { do: "demo" }
  | { do: "export"; sessionId: string }
  | { do: "showLog" }
  | { do: "restart" }
  | { do: "openSettings" };
