// The types of the wire, made by docs/generate.py from the types of the server. Do not edit.

/** A question to the person; `digest` binds the answer to exactly this subject. */
export interface ApprovalAsked {
  approvalId: string;
  callId: string;
  path?: string[];
  subject: Record<string, unknown>;
  digest: string;
  choices: string[];
}

/**
 * `turnbuckle.approve` and `turnbuckle.reject`: an id, or nothing if just one is open.
 *
 * Without an id, `approve` only shows the question again. `answer` is that to a question,
 * `remember` allows the same subject for the rest of the session.
 */
export interface ApprovalCommandParams {
  approvalId?: string;
  note?: string;
  answer?: string;
  remember?: "session";
}

/** Nothing of the question is open any more. */
export interface ApprovalDecided {
  approvalId: string;
  outcome: "allowed" | "rejected" | "cancelled" | "unavailable";
  by: string;
  note?: string;
  answer?: string;
  remember?: string;
}

/** One hunk of a change was decided; the rest stays open. */
export interface ApprovalHunk {
  approvalId: string;
  hunkId: string;
  decision: "accepted" | "rejected";
}

/**
 * Answer an approval; the first answer wins.
 *
 * With `hunks` only the named hunks are decided and the others stay open. `edits` are whole texts
 * of files, by URI, that the person changed in a proposed change; they count where it is allowed.
 * `answer` is that to a question. `remember` allows the same subject for the rest of the session.
 */
export interface ApproveParams {
  approvalId: string;
  decision?: "allow" | "reject";
  hunks?: Record<string, boolean>;
  edits?: Record<string, string>;
  answer?: string;
  note?: string;
  remember?: "session";
}

/** `accepted` is false when it was settled already. */
export interface ApproveResult {
  accepted: boolean;
}

/** `turnbuckle.ask`: submit and return at once; `diagnostics` as the client has them. */
export interface AskParams {
  prompt?: string;
  uri?: string;
  range?: Range;
  diagnostics?: Record<string, unknown>[];
  whenBusy?: "queue" | "steer" | "reject";
}

/** The session and the key of the message that was sent. */
export interface AskResult {
  sessionId: string;
  key: string;
}

/** What the model said in one turn of the event loop. */
export interface AssistantChunk {
  turn: number;
  step: number;
  text?: string;
  reasoning?: string;
  toolCalls?: CallDelta[];
}

/** A whole answer; `finish` is the provider's word, or `truncated`. */
export interface AssistantMessage {
  turn: number;
  step: number;
  content: string;
  reasoning?: string;
  toolCalls?: Call[];
  finish: string;
  usage?: Usage;
  interrupted?: boolean;
}

/** One tool call of an answer; `arguments` is the raw string that the model wrote. */
export interface Call {
  callId: string;
  name: string;
  arguments: string;
}

/** A piece of a tool call while it streams. */
export interface CallDelta {
  index: number;
  name?: string;
  arguments?: string;
}

/** Cancel the running turn; what waits is dropped too, unless `keepQueue`. */
export interface CancelParams {
  sessionId: string;
  keepQueue?: boolean;
}

/** `turnbuckle.acceptAll`: a change, those of a session, or nothing for the only one. */
export interface ChangeCommandParams {
  changeId?: string;
  sessionId?: string;
}

/** What a command came to: outcomes of the domain are results, not errors. */
export interface CommandResult {
  outcome: string;
  message: string;
}

/** Something the person pointed at or showed, as it was when the message was sent. */
export interface Context {
  kind: "file" | "selection" | "diagnostics" | "terminal" | "text" | "image";
  uri?: string;
  range?: Record<string, unknown>;
  version?: number;
  text?: string;
  image?: Image;
}

/** Something the person points at; the text of an open document is taken from the mirror. */
export interface ContextItem {
  kind: "file" | "selection" | "diagnostics" | "terminal" | "text";
  uri?: string;
  range?: Range;
  version?: number;
  text?: string;
}

/** Old tool results are shown shortened from now on. */
export interface ContextPruned {
  results: Pruned[];
}

/** The model is shown what it was shown at seq `to`; undone by a later one. */
export interface ContextRewound {
  to: number;
}

/** A summary stands for the messages with seq in `covers`, both ends included. */
export interface ContextSummary {
  covers: [number, number];
  text: string;
  usage?: Usage;
}

/**
 * Hand over a provider's key; without `key` the one that was handed over is forgotten.
 *
 * It is kept in memory only, never logged, stored or echoed, and used from the next request on.
 */
export interface CredentialsParams {
  provider: string;
  key?: string;
}

/** What came of it, as seen by looking; `after` is the digest of the text that stands now. */
export interface EditApplied {
  callId: string;
  uri: string;
  after?: string;
  hunks: string[];
  outcome: string;
}

/** Hunks are about to be applied; `before` is the digest of the kept before-image, if any. */
export interface EditApplying {
  callId: string;
  uri: string;
  before?: string;
  hunks: string[];
}

/**
 * Hunks that had been applied are gone again; `by` is `person` or `rewind`.
 *
 * `before` is the digest of the kept text that stood there until then, `after` that of the text
 * that stands now; either is absent where there is no file, or where it is not known.
 */
export interface EditUndone {
  callId: string;
  uri: string;
  hunks: string[];
  by: string;
  before?: string;
  after?: string;
}

/**
 * What the next request of a session is sent with; `window` in tokens.
 *
 * `price` is there where the person has set one. Unknown fields are to be skipped.
 */
export interface EffectiveConfig {
  model?: string;
  provider?: string;
  window?: number;
  price?: ModelPrice;
}

/** How a turn ended: `reason` of blocked and stopped, `cause` of aborted, `failure` of error. */
export interface End {
  kind: "completed" | "blocked" | "stopped" | "max-tokens" | "aborted" | "error" | "interrupted";
  reason?: string;
  cause?: string;
  failure?: Failure;
}

/**
 * What went wrong, for the person; `retry_after` in seconds.
 *
 * The kinds up to `protocol` come from a model; `model` is a model that is not there, `hook` a
 * plugin that threw, `store` a log that could not be written, `internal` a fault of ours.
 */
export interface Failure {
  kind: "auth" | "quota" | "rate-limit" | "overflow" | "server" | "timeout" | "transport" | "empty" | "protocol" | "model" | "hook" | "store" | "internal";
  message: string;
  provider?: string;
  attempt?: number;
  status?: number;
  retryAfter?: number;
}

/**
 * `turnbuckle.acceptFile`, `…rejectFile`: a file, of all changes or of one.
 *
 * Nothing means the only file that is open.
 */
export interface FileCommandParams {
  uri?: string;
  changeId?: string;
  note?: string;
}

/** Something is allowed from now on, for the session. */
export interface GrantAdded {
  grantId: string;
  subject: Record<string, unknown>;
}

/** A grant holds no longer. */
export interface GrantRevoked {
  grantId: string;
}

/** What is allowed for the session, oldest first. */
export interface GrantsResult {
  grants: SessionGrant[];
}

/** Ask about it again from now on. */
export interface GrantsRevokeParams {
  sessionId: string;
  grantId: string;
}

/** `revoked` is false when it held no longer. */
export interface GrantsRevokeResult {
  revoked: boolean;
}

/**
 * `turnbuckle.acceptHunk`, `…rejectHunk`, `…undoHunk`: a hunk, or nothing for the only one.
 *
 * Those that can be undone are the ones that were applied and still stand.
 */
export interface HunkCommandParams {
  hunkId?: string;
  note?: string;
}

/** What to do with one hunk; `undo` takes back one that was accepted and applied. */
export interface HunkDecision {
  hunkId: string;
  action: "accept" | "reject" | "undo";
}

/**
 * What came of one decision: as it was `decided`, or why not.
 *
 * An application is verified later; its outcome is a fact of the session.
 */
export interface HunkOutcome {
  hunkId: string;
  outcome: "accepted" | "rejected" | "undone" | "settled" | "unknown" | "stale" | "failed";
  message?: string;
}

/** A picture, whose bytes are kept beside the log under their digest; `size` in bytes. */
export interface Image {
  digest: string;
  mimeType: string;
  size: number;
}

/**
 * A picture: either its bytes in base64 as `data` with their type, or, where this session was
 * shown it before, its `digest` as the facts name it.
 */
export interface ImagePart {
  type: "image";
  mimeType?: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
  data?: string;
  digest?: string;
}

/** A message waits: for a turn of its own, or for the next step. */
export interface InboxAdded {
  key: string;
  target: "turn" | "step";
  input: string;
  context?: Context[];
  source?: "user" | "plugin" | "context";
}

/** A message that still waits was edited. */
export interface InboxChanged {
  key: string;
  input: string;
}

/** Messages that will not enter any more. */
export interface InboxDropped {
  keys: string[];
  why: string;
}

/** Change the words of a message that still waits, or take it out with `remove: true`. */
export interface InboxEditParams {
  sessionId: string;
  key: string;
  input?: Text[];
  remove?: boolean;
}

/** `changed` is false when the message waits no longer; it is as it was sent then. */
export interface InboxEditResult {
  changed: boolean;
}

/**
 * An attempt failed; `retry_at` in milliseconds since 1970.
 *
 * `usage` is there where an answer came and was paid for, but was of no use.
 */
export interface LlmFailed {
  attempt: number;
  failure: Failure;
  retryAt?: number;
  usage?: Usage;
}

/**
 * A request goes out now; `window` in tokens, `why` only for summary requests.
 *
 * `digest` is that of the request as it was sent, so that a rebuild from the log can be proven.
 */
export interface LlmStream {
  turn: number;
  step: number;
  attempt: number;
  model: string;
  window?: number;
  why?: string;
  patch?: Patch;
  digest: string;
}

/**
 * A model that could answer; `window` in tokens, `unavailable` says why it cannot be used.
 *
 * `source` is what makes it one: `configured` in the settings, a `key` of its provider, a server
 * that runs on this `machine`, or `built-in`; `listed` if its provider was asked for its models.
 */
export interface ModelEntry {
  name: string;
  provider: string;
  window?: number;
  current: boolean;
  source: "configured" | "key" | "machine" | "built-in" | "listed";
  unavailable?: string;
}

/** What a million tokens cost, in `currency`; `cached` as `input` where it is absent. */
export interface ModelPrice {
  input: number;
  output: number;
  cached?: number;
  currency: string;
}

/** With `provider`, that one is asked for all the models that it offers. */
export interface ModelsParams {
  provider?: string;
}

/** The models that could answer, the current one first, and the providers that are known. */
export interface ModelsResult {
  models: ModelEntry[];
  providers?: ProviderEntry[];
}

/** `turnbuckle.reloadPlugins`, `turnbuckle.newSession`: nothing. */
export interface NoParams {
}

/** No data. */
export interface Nothing {
}

/** What a layer changed in the history for one request: `messages` for `[start, end)`. */
export interface Patch {
  start: number;
  end: number;
  messages: Record<string, unknown>[];
}

/** A plugin's own fact, of type `plugin/<name>`; readers that do not know it skip it. */
export interface PluginFact {
  name: string;
  data: Record<string, unknown>;
}

/** A zero-based line and character. */
export interface Position {
  line: number;
  character: number;
}

/**
 * A provider that is known by name.
 *
 * `key` says where its key came from, if there is one: the `environment`, or the `memory` of the
 * server; a server of this `machine` needs none. `variable` is where a key can be put, `keysAt`
 * the page where people get one. `unavailable` says why a server of this machine offers nothing.
 */
export interface ProviderEntry {
  provider: string;
  title: string;
  baseUrl: string;
  key: "absent" | "environment" | "memory" | "needless";
  variable?: string;
  keysAt?: string;
  unavailable?: string;
}

/** The shortened content of the tool result at `seq`. */
export interface Pruned {
  seq: number;
  content: string;
}

/** An LSP range, as the client sends it, in the negotiated position encoding. */
export interface Range {
  start: Position;
  end: Position;
}

/** What stands before the messages of a request; written only when it changes. */
export interface RequestHeader {
  config: Record<string, unknown>;
  system: string;
  tools: Record<string, unknown>[];
  why: "initial" | "change" | "resume";
}

/** One proposed change; `approvalId` is absent once it was decided. */
export interface ReviewChange {
  changeId: string;
  sessionId: string;
  approvalId?: string;
  files: ReviewFile[];
}

/**
 * The hunks of one file; `digest` is that of the text that the change was made for.
 *
 * `newUri` is where a file that is renamed goes.
 */
export interface ReviewFile {
  uri: string;
  newUri?: string;
  kind: "create" | "modify" | "delete" | "rename";
  digest?: string;
  hunks: ReviewHunk[];
}

/**
 * One hunk; `range` is where it stands in the current text, in the negotiated encoding.
 *
 * `stale` hunks have lost their text; undoing what was typed can bring it back.
 */
export interface ReviewHunk {
  hunkId: string;
  state: "open" | "stale" | "accepted" | "rejected" | "undone";
  range: Range;
  oldText: string;
  newText: string;
}

/** The changes of a session, those of a file, or all that are open. */
export interface ReviewListParams {
  sessionId?: string;
  uri?: string;
}

/** Changes, oldest first. */
export interface ReviewListResult {
  changes: ReviewChange[];
}

/** Decisions, each about one hunk; they are taken together. */
export interface ReviewResolveParams {
  decisions: HunkDecision[];
}

/** One outcome a decision, in their order. */
export interface ReviewResolveResult {
  outcomes: HunkOutcome[];
}

/** Server to client, for one that announces `save`: save these documents now. */
export interface SaveParams {
  uris: string[];
}

/** What was saved, and what could not be. */
export interface SaveResult {
  saved?: string[];
  failed?: string[];
}

/**
 * `turnbuckle.cancel`, `…resume`, `…showTranscript`: a session, or nothing.
 *
 * Nothing means the only one that runs; for the other two the session that commands go on in, or
 * the only one that is open, or, to resume where none is, the last one of the workspace folder.
 * What is resumed is a turn that was broken off; where there is none, commands go on there.
 */
export interface SessionCommandParams {
  sessionId?: string;
}

/**
 * What compaction came to; tokens as they are estimated.
 *
 * `outcome` is `compacted`, or `nothing` with the reason in `message`.
 */
export interface SessionCompactResult {
  outcome: "compacted" | "nothing";
  message: string;
  before: number;
  after: number;
}

/**
 * Choose for one session, from its next request on; what is absent stays.
 *
 * In mode `ask`, the only one, nothing changes before it is accepted.
 */
export interface SessionConfigureParams {
  sessionId: string;
  model?: string;
  mode?: "ask";
}

/** The first fact, at seq 0; `cwd` and what else is a place is a URI. */
export interface SessionCreated {
  version: number;
  id: string;
  cwd?: string;
  parent?: string;
}

/**
 * One stored session; `updated` in milliseconds since 1970, `match` the line that was found.
 *
 * `damaged` says that its file cannot be read to the end.
 */
export interface SessionEntry {
  sessionId: string;
  title?: string;
  cwd?: string;
  parent?: string;
  updated: number;
  turns: number;
  match?: string;
  damaged?: boolean;
}

/** Subscribe: replay after `after` (a seq), or only the last `turns` turns, then live. */
export interface SessionEventsParams {
  sessionId: string;
  token: number | string;
  after?: number;
  turns?: number;
}

/** `from` is the first fact that will be sent, `seq` the last one there is now. */
export interface SessionEventsResult {
  from: number;
  seq: number;
}

/** End the subscription that uses this token; nothing travels on it after the answer. */
export interface SessionEventsStopParams {
  token: number | string;
}

/** A whole session as text for people (`markdown`) or for programs (`json`). */
export interface SessionExportParams {
  sessionId: string;
  format?: "markdown" | "json";
}

/** The text, and a name that a file with it could have. */
export interface SessionExportResult {
  text: string;
  name: string;
}

/** A child with the log up to the end of this turn; 0 is the beginning. */
export interface SessionForkParams {
  sessionId: string;
  turn: number;
}

/** The child, which is not open yet. */
export interface SessionForkResult {
  sessionId: string;
}

/**
 * Something that is allowed for the session; `since` in milliseconds since 1970.
 *
 * `subject` is `{kind: "command", command, cwd}`, `{kind: "change", uri}` or
 * `{kind: "read", uri}`.
 */
export interface SessionGrant {
  grantId: string;
  subject: Record<string, unknown>;
  since: number;
}

/**
 * The sessions on disk, newest first: those of a folder, those that hold all words of `query`.
 *
 * `query` is looked for in titles and in what the person and the model said. `cursor` is that of
 * the page before.
 */
export interface SessionListParams {
  cwd?: string;
  query?: string;
  cursor?: string;
}

/** One page of sessions; `cursor` is there while more follow. */
export interface SessionListResult {
  sessions: SessionEntry[];
  cursor?: string;
}

/** Open a session: a new one, or with `sessionId` one from disk; `cwd` is a folder's URI. */
export interface SessionOpenParams {
  sessionId?: string;
  cwd?: string;
}

/**
 * The open session; `seq` is its last fact, −1 while it has none.
 *
 * `readOnly` says that another process writes it, or that its file is `damaged`, which then says
 * where. `interrupted` says that its last turn was cut off and can be resumed. `usage` are the
 * tokens of the whole session up to `seq`, `context` those of the last request and its answer:
 * where a client begins to count.
 */
export interface SessionOpenResult {
  sessionId: string;
  seq: number;
  readOnly: boolean;
  damaged?: string;
  title?: string;
  config: EffectiveConfig;
  interrupted?: boolean;
  usage?: Record<string, unknown>;
  context?: number;
}

/** Names one session. */
export interface SessionParams {
  sessionId: string;
}

/** Facts with `from` ≤ seq ≤ `to`, for older pages. */
export interface SessionReadParams {
  sessionId: string;
  from: number;
  to: number;
}

/**
 * The facts as they travel on a token, in order; fewer than asked for where they are large.
 *
 * The next page begins after the last one's seq.
 */
export interface SessionReadResult {
  events: Record<string, unknown>[];
}

/** The same of a session that was opened or gone on with; without an id if there is none. */
export interface SessionResult {
  outcome: string;
  message: string;
  sessionId?: string;
}

/**
 * Take the model's view back to before this turn; `undo` takes the last rewind back, files too.
 *
 * With `files: "restore"` the files that the agent wrote since then are put back, too.
 */
export interface SessionRewindParams {
  sessionId: string;
  turn?: number;
  undo?: boolean;
  files?: "keep" | "restore";
}

/** The files that were put back, and those that were not. */
export interface SessionRewindResult {
  restored: string[];
  skipped: SkippedFile[];
}

/** What lists call the session. */
export interface SessionTitle {
  title: string;
}

/** `turnbuckle.showDiff`: the change of a hunk, a change, or nothing for the only open one. */
export interface ShowDiffParams {
  hunkId?: string;
  changeId?: string;
}

/** A file that was left as it is, and why. */
export interface SkippedFile {
  uri: string;
  why: string;
}

/** The step is over; `tool_calls` is how many calls it ran. */
export interface StepEnd {
  turn: number;
  step: number;
  toolCalls: number;
}

/** One model request and its calls begin; steps count from 1 in each turn. */
export interface StepStart {
  turn: number;
  step: number;
}

/** A piece of what the person wrote. */
export interface Text {
  type: "text";
  text: string;
}

/** One line of the agent's list. */
export interface TodoItem {
  text: string;
  state: "open" | "active" | "done";
}

/** The agent's list, whole. */
export interface TodoWrite {
  items: TodoItem[];
}

/** A call is taken up; nothing of it has run yet. */
export interface ToolCall {
  turn: number;
  step: number;
  callId: string;
  name: string;
  arguments: string;
}

/** What a call came to; every call has exactly one. `code` only where `is_error`. */
export interface ToolResult {
  turn: number;
  step: number;
  callId: string;
  content: string;
  isError: boolean;
  code?: string;
  meta?: Record<string, unknown>;
}

/** The body starts right after this; `session_id` is that of a child. */
export interface ToolStart {
  callId: string;
  attempt: number;
  sessionId?: string;
}

/** A turn is over. */
export interface TurnEnd {
  turn: number;
  end: End;
}

/**
 * Send a message; answered when its turn has ended.
 *
 * `key` is the client's own id of the message: sending it again joins the same turn.
 * `resume: true`, instead of input, continues an interrupted turn.
 */
export interface TurnParams {
  sessionId: string;
  key: string;
  input?: (Text | ImagePart)[];
  context?: ContextItem[];
  resume?: boolean;
  whenBusy?: "queue" | "steer" | "reject";
  partialResultToken?: number | string;
  workDoneToken?: number | string;
}

/** How the turn ended; it carries no text. `end` and `usage` as in the `turn/end` fact. */
export interface TurnResult {
  turn: number;
  end: Record<string, unknown>;
  usage?: Record<string, unknown>;
  seq: number;
}

/** A turn opens; turns count from 1 and never go back. */
export interface TurnStart {
  turn: number;
}

/**
 * `turnbuckle.undoTurn`: this turn and all after it, or the last one.
 *
 * A session, or nothing if just one has turns to take back.
 */
export interface UndoTurnParams {
  sessionId?: string;
  turn?: number;
}

/** Tokens of one answer, as the provider counted them. */
export interface Usage {
  input: number;
  output: number;
  total: number;
  cached?: number;
  reasoning?: number;
}

/** Input that the model sees, with a picture at most; `key` names the inbox message it was. */
export interface UserMessage {
  turn: number;
  step: number;
  key?: string;
  content: string;
  source?: "user" | "plugin" | "context";
  image?: Image;
}

/**
 * Notes about all sessions and files of this client come on this token from now on.
 *
 * `session/changed {sessionId, parent?, title, state, approvals, hunks}` with `state` idle,
 * running or waiting, and `review/changed {uri}`. `turnbuckle/session/events/stop` ends them.
 */
export interface WatchParams {
  token: number | string;
}

export interface Requests {
  "turnbuckle/session/open": { params: SessionOpenParams; result: SessionOpenResult };
  "turnbuckle/session/list": { params: SessionListParams; result: SessionListResult };
  "turnbuckle/session/events": { params: SessionEventsParams; result: SessionEventsResult };
  "turnbuckle/session/events/stop": { params: SessionEventsStopParams; result: Nothing };
  "turnbuckle/session/read": { params: SessionReadParams; result: SessionReadResult };
  "turnbuckle/session/fork": { params: SessionForkParams; result: SessionForkResult };
  "turnbuckle/session/rewind": { params: SessionRewindParams; result: SessionRewindResult };
  "turnbuckle/session/configure": { params: SessionConfigureParams; result: EffectiveConfig };
  "turnbuckle/session/compact": { params: SessionParams; result: SessionCompactResult };
  "turnbuckle/session/close": { params: SessionParams; result: Nothing };
  "turnbuckle/session/delete": { params: SessionParams; result: Nothing };
  "turnbuckle/session/export": { params: SessionExportParams; result: SessionExportResult };
  "turnbuckle/watch": { params: WatchParams; result: Nothing };
  "turnbuckle/turn": { params: TurnParams; result: TurnResult };
  "turnbuckle/cancel": { params: CancelParams; result: Nothing };
  "turnbuckle/inbox/edit": { params: InboxEditParams; result: InboxEditResult };
  "turnbuckle/approve": { params: ApproveParams; result: ApproveResult };
  "turnbuckle/grants": { params: SessionParams; result: GrantsResult };
  "turnbuckle/grants/revoke": { params: GrantsRevokeParams; result: GrantsRevokeResult };
  "turnbuckle/review/list": { params: ReviewListParams; result: ReviewListResult };
  "turnbuckle/review/resolve": { params: ReviewResolveParams; result: ReviewResolveResult };
  "turnbuckle/models": { params: ModelsParams; result: ModelsResult };
  "turnbuckle/credentials": { params: CredentialsParams; result: Nothing };
}

export interface Asked {
  "turnbuckle/save": { params: SaveParams; result: SaveResult };
}

export interface Commands {
  "turnbuckle.ask": { params: AskParams; result: AskResult };
  "turnbuckle.approve": { params: ApprovalCommandParams; result: CommandResult };
  "turnbuckle.reject": { params: ApprovalCommandParams; result: CommandResult };
  "turnbuckle.cancel": { params: SessionCommandParams; result: CommandResult };
  "turnbuckle.reloadPlugins": { params: NoParams; result: CommandResult };
  "turnbuckle.acceptHunk": { params: HunkCommandParams; result: CommandResult };
  "turnbuckle.rejectHunk": { params: HunkCommandParams; result: CommandResult };
  "turnbuckle.acceptFile": { params: FileCommandParams; result: CommandResult };
  "turnbuckle.rejectFile": { params: FileCommandParams; result: CommandResult };
  "turnbuckle.acceptAll": { params: ChangeCommandParams; result: CommandResult };
  "turnbuckle.undoHunk": { params: HunkCommandParams; result: CommandResult };
  "turnbuckle.undoTurn": { params: UndoTurnParams; result: CommandResult };
  "turnbuckle.showDiff": { params: ShowDiffParams; result: CommandResult };
  "turnbuckle.newSession": { params: NoParams; result: SessionResult };
  "turnbuckle.resume": { params: SessionCommandParams; result: SessionResult };
  "turnbuckle.showTranscript": { params: SessionCommandParams; result: CommandResult };
}

export interface Facts {
  "approval/asked": ApprovalAsked;
  "approval/decided": ApprovalDecided;
  "approval/hunk": ApprovalHunk;
  "assistant/chunk": AssistantChunk;
  "assistant/message": AssistantMessage;
  "context/pruned": ContextPruned;
  "context/rewound": ContextRewound;
  "context/summary": ContextSummary;
  "edit/applied": EditApplied;
  "edit/applying": EditApplying;
  "edit/undone": EditUndone;
  "grant/added": GrantAdded;
  "grant/revoked": GrantRevoked;
  "inbox/added": InboxAdded;
  "inbox/changed": InboxChanged;
  "inbox/dropped": InboxDropped;
  "llm/failed": LlmFailed;
  "llm/stream": LlmStream;
  "request/header": RequestHeader;
  "session/created": SessionCreated;
  "session/title": SessionTitle;
  "step/end": StepEnd;
  "step/start": StepStart;
  "todo/write": TodoWrite;
  "tool/call": ToolCall;
  "tool/result": ToolResult;
  "tool/start": ToolStart;
  "turn/end": TurnEnd;
  "turn/start": TurnStart;
  "user/message": UserMessage;
}

/** A fact as it travels: `seq` counts from 0, `time` is in milliseconds since 1970. */
export type Fact = {
  [T in keyof Facts]: { seq: number; time: number; type: T; data: Facts[T] };
}[keyof Facts];
