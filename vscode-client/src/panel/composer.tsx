// Where the person writes: the message, what it points at, the model, and how full the context is.

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { PanelSettings } from "../shared/messages";
import { Boundary } from "./boundary";
import { goToQuestion, isComposing } from "./focus";
import { Meter, ModelPicker } from "./models";
import { send } from "./sending";
import { StateLine } from "./stateline";
import { Suggestions, useSuggestions } from "./suggestions";
import { useStore, useView } from "./use";
import { Waiting } from "./waiting";
import { Icon, IconButton } from "./widgets";

/** The most that the field grows to, in pixels. */
const TALLEST = 240;

export function Composer() {
  const store = useStore();
  const { draft, settings, busy } = useView((view) => ({
    draft: view.draft,
    settings: view.settings,
    busy: view.state.running !== undefined,
  }));
  const field = useRef<HTMLTextAreaElement>(null);
  const suggestions = useSuggestions(field);

  useEffect(() => store.onFocus(() => field.current?.focus()), [store]);
  useLayoutEffect(() => grow(field.current), [draft]);

  const submit = (steer: boolean): void => {
    if (suggestions.runSlash()) return;
    if (draft.trim() && settings.trusted) store.whenShown(() => send(store, steer));
  };
  const key = (event: KeyboardEvent): void => {
    if (isComposing(event) || suggestions.key(event)) return;
    if (event.key === "ArrowUp" && event.altKey) {
      event.preventDefault();
      goToQuestion();
    } else if (event.key === "Enter" && sends(event, settings.sendKey)) {
      event.preventDefault();
      if (!event.repeat) submit(busy && steers(event, settings.sendKey));
    }
  };
  const how = settings.sendKey === "enter" ? "Enter" : "Ctrl+Enter";
  return (
    <section class="composer-frame" aria-label="Message">
      <StateLine />
      <Boundary>
        <Waiting />
      </Boundary>
      <div class="composer">
        <Suggestions {...suggestions} />
        <Chips />
        <textarea
          ref={field}
          rows={1}
          aria-label="Message to the agent"
          aria-autocomplete="list"
          aria-controls="composer-list"
          aria-activedescendant={suggestions.active}
          placeholder={placeholder(settings.trusted, busy)}
          dir="auto"
          value={draft}
          disabled={!settings.trusted}
          onInput={(event) =>
            suggestions.write(event.currentTarget.value, event.currentTarget.selectionStart)
          }
          onKeyDown={key}
          onBlur={suggestions.dismiss}
        />
        <div class="composer-foot">
          <ModelPicker />
          <Meter />
          {busy && (
            <button
              type="button"
              class="steer"
              aria-label="Steer"
              title="Steer: the running turn reads it before its next step (Alt+Enter)"
              disabled={!draft.trim()}
              onClick={() => submit(true)}
            >
              <Icon name="debug-step-into" />
            </button>
          )}
          <button
            type="button"
            class="send"
            aria-label={busy ? "Queue" : "Send"}
            title={busy ? `Queue for the next turn (${how})` : `Send (${how})`}
            disabled={!draft.trim() || !settings.trusted}
            onClick={() => submit(false)}
          >
            <Icon name="arrow-up" />
          </button>
        </div>
      </div>
    </section>
  );
}

function placeholder(trusted: boolean, busy: boolean): string {
  if (!trusted) return "Trust this workspace to ask the agent";
  return busy ? "Queue the next message, or steer" : "Ask, or say what to change";
}

function Chips() {
  const store = useStore();
  const chips = useView((view) => view.chips);
  return (
    <div class="chips">
      <button
        type="button"
        class="chip add"
        title="Add files, problems or the selection; paste pictures; drop files here while Shift is held"
        onClick={() => store.do({ do: "addContext" })}
      >
        <Icon name="add" /> Context
      </button>
      {chips.map((chip) => (
        <span class="chip" key={chip.id} title={chip.detail}>
          {chip.data !== undefined && (
            <img class="chip-picture" src={`data:${chip.mimeType};base64,${chip.data}`} alt="" />
          )}
          <span class="chip-text" dir="auto">
            {chip.label}
          </span>
          <IconButton
            icon="close"
            label={`Remove ${chip.label}`}
            onClick={() => {
              store.removeChip(chip.id);
              store.focus();
            }}
          />
        </span>
      ))}
    </div>
  );
}

function sends(event: KeyboardEvent, sendKey: PanelSettings["sendKey"]): boolean {
  if (event.shiftKey) return false;
  return sendKey === "enter" || event.ctrlKey || event.metaKey || event.altKey;
}

/** The key that steers is the one that is not needed for sending. */
function steers(event: KeyboardEvent, sendKey: PanelSettings["sendKey"]): boolean {
  return event.altKey || (sendKey === "enter" && (event.ctrlKey || event.metaKey));
}

function grow(field: HTMLTextAreaElement | null): void {
  if (!field) return;
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight, TALLEST)}px`;
}
