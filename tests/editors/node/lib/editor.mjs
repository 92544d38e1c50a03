/** An editor as a plain protocol client: it shares no code with the server. */

import path from "node:path";
import { pathToFileURL } from "node:url";
import {
  ApplyWorkspaceEditRequest,
  CodeActionRequest,
  DidChangeTextDocumentNotification,
  DidOpenTextDocumentNotification,
  ExecuteCommandRequest,
  ExitNotification,
  InitializeRequest,
  InitializedNotification,
  ProgressType,
  ShowDocumentRequest,
  ShowMessageNotification,
  ShowMessageRequest,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
  WorkDoneProgress,
  WorkDoneProgressCreateRequest,
  createProtocolConnection,
} from "vscode-languageserver-protocol/node";

import { Model } from "./model.mjs";
import { Server, folder, stored } from "./process.mjs";
import { Session } from "./session.mjs";
import { edited } from "./text.mjs";
import { Seen, within } from "./wait.mjs";

/** What an editor without a plugin of ours can do. */
export const PLAIN = {
  general: { positionEncodings: ["utf-16"] },
  workspace: { applyEdit: true, workspaceEdit: { documentChanges: true }, workspaceFolders: true },
  window: { workDoneProgress: true, showDocument: { support: true } },
  textDocument: { codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: [] } } } },
};

/** What an editor says whose plugin shows events and answers approvals. */
export const EVENTS = {
  ...PLAIN,
  experimental: { turnbuckle: { protocolVersions: [1], events: {} } },
};

/** One editor, its server, and the model that the server asks. */
export class Editor {
  prompts = new Seen(); // {message, actions} of window/showMessageRequest
  messages = new Seen(); // texts of window/showMessage
  shown = new Seen(); // URIs of window/showDocument
  edits = new Seen(); // params of workspace/applyEdit
  work = new Seen(); // {token, value} of work-done progress
  documents = new Map();
  #subscriptions = 0;

  /** What the person answers to a prompt: a title, null, or an error to throw. */
  answer = () => null;
  /** When a progress that the server asks for is there; by default at once. */
  progress = () => undefined;
  /** What becomes of an edit; by default it is made. */
  apply = (params) => this.make(params.edit);

  /** Starts a server with a model of its own, unless one is given, and shakes hands. */
  static async start(t, { capabilities = EVENTS, ours, model, state, at, ...more } = {}) {
    const editor = new Editor();
    editor.folder = at ?? (await folder(t));
    editor.state = state ?? (await folder(t));
    editor.model = model ?? (await Model.start(t));
    const env = {
      TURNBUCKLE_BASE_URL: editor.model.url,
      TURNBUCKLE_API_KEY: "key-of-the-tests",
      TURNBUCKLE_MODEL: "played",
      ...more.env,
    };
    editor.server = new Server(t, editor.state, { env });
    const { stdout, stdin } = editor.server.process;
    editor.listen(stdout, stdin);
    await editor.initialize(capabilities, ours);
    return editor;
  }

  get root() {
    return pathToFileURL(this.folder).href;
  }

  uri(name) {
    return pathToFileURL(path.join(this.folder, name)).href;
  }

  listen(from, to) {
    const reader = new StreamMessageReader(from);
    this.connection = createProtocolConnection(reader, new StreamMessageWriter(to));
    const on = (type, handle) => this.connection.onRequest(type, handle);
    on(ShowMessageRequest.type, (params, token) => {
      this.prompts.add({ ...params, token });
      return this.answer(params, token);
    });
    on(ApplyWorkspaceEditRequest.type, (params) => {
      this.edits.add(params);
      return this.apply(params);
    });
    on(ShowDocumentRequest.type, ({ uri }) => {
      this.shown.add(uri);
      return { success: true };
    });
    on(WorkDoneProgressCreateRequest.type, ({ token }) => {
      const add = (value) => this.work.add({ token, value });
      this.connection.onProgress(WorkDoneProgress.type, token, add);
      return this.progress(token);
    });
    this.connection.onNotification(ShowMessageNotification.type, ({ message }) =>
      this.messages.add(message),
    );
    this.connection.listen();
  }

  async initialize(capabilities, ours) {
    this.initialized = await this.request(InitializeRequest.type, {
      processId: process.pid,
      clientInfo: { name: "a plain client" },
      rootUri: this.root,
      workspaceFolders: [{ uri: this.root, name: "work" }],
      capabilities,
      ...(ours && { initializationOptions: { turnbuckle: ours } }),
    });
    await this.connection.sendNotification(InitializedNotification.type, {});
  }

  request(type, ...rest) {
    const answer = this.connection.sendRequest(type, ...rest);
    return within(
      Promise.race([answer, this.server.ended()]),
      `the answer to ${type.method ?? type}`,
    );
  }

  notify(type, params) {
    return this.connection.sendNotification(type, params);
  }

  /** A new session, or one from disk; with a subscription unless that is not wanted. */
  async session(params = {}, { subscribed = true } = {}) {
    const opened = await this.request("turnbuckle/session/open", params);
    const session = new Session(this, opened);
    if (subscribed) await session.subscribe();
    return session;
  }

  nextToken() {
    this.#subscriptions += 1;
    return `events-${this.#subscriptions}`;
  }

  onValues(token, take) {
    return this.connection.onProgress(new ProgressType(), token, take);
  }

  approve(params) {
    return this.request("turnbuckle/approve", params);
  }

  command(command, ...args) {
    return this.request(ExecuteCommandRequest.type, { command, arguments: args });
  }

  codeActions(uri, range, context = {}) {
    const params = { textDocument: { uri }, range, context: { diagnostics: [], ...context } };
    return this.request(CodeActionRequest.type, params);
  }

  // -- documents ---------------------------------------------------------------------------------

  /** Opens a document, and gives its URI. */
  async opens(name, text, version = 1) {
    const uri = this.uri(name);
    this.documents.set(uri, { version, text });
    const textDocument = { uri, languageId: "plaintext", version, text };
    await this.notify(DidOpenTextDocumentNotification.type, { textDocument });
    return uri;
  }

  text(uri) {
    return this.documents.get(uri).text;
  }

  /** Changes a document as typing does. */
  async change(uri, contentChanges) {
    const document = this.documents.get(uri);
    document.version += 1;
    document.text = edited(document.text, contentChanges, this.encoding);
    const textDocument = { uri, version: document.version };
    await this.notify(DidChangeTextDocumentNotification.type, { textDocument, contentChanges });
  }

  /** Makes a workspace edit in the open documents, if it was made for the texts that they have. */
  async make({ documentChanges, changes = {} }) {
    const plain = ([uri, edits]) => ({ textDocument: { uri, version: null }, edits });
    for (const { textDocument, edits } of documentChanges ?? Object.entries(changes).map(plain)) {
      const { version } = this.documents.get(textDocument.uri);
      if (textDocument.version !== null && textDocument.version !== version) {
        return { applied: false, failureReason: "it is old" };
      }
      // The last first, so that each range still means what it meant.
      const changes = edits.map(({ range, newText }) => ({ range, text: newText })).reverse();
      await this.change(textDocument.uri, changes);
    }
    return { applied: true };
  }

  get encoding() {
    return this.initialized.capabilities.positionEncoding;
  }

  /** The facts of a session as they stand on disk. */
  stored(sessionId) {
    return stored(this.state, sessionId);
  }

  /** Leaves as the protocol says, and gives the server's exit code. */
  async leave() {
    await this.request(ShutdownRequest.type);
    await this.notify(ExitNotification.type);
    return this.server.code();
  }
}
