// The few controls there are, as the editor has them.

import type { ComponentChildren, JSX } from "preact";
import { escapes, isComposing } from "./focus";

export function Icon({ name, spin }: { name: string; spin?: boolean }) {
  return (
    <span
      class={`codicon codicon-${name}${spin ? " codicon-modifier-spin" : ""}`}
      aria-hidden="true"
    />
  );
}

export function Button(props: {
  children: ComponentChildren;
  onClick: () => void;
  kind?: "primary" | "secondary" | "link";
  disabled?: boolean;
  title?: string;
}) {
  return (
    <button
      type="button"
      class={`button ${props.kind ?? "secondary"}`}
      onClick={props.onClick}
      disabled={props.disabled}
      title={props.title}
    >
      {props.children}
    </button>
  );
}

export function IconButton(props: {
  icon: string;
  label: string;
  onClick: () => void;
  disabled?: boolean;
  pressed?: boolean;
}) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={props.label}
      aria-pressed={props.pressed}
      title={props.label}
      onClick={props.onClick}
      disabled={props.disabled}
    >
      <Icon name={props.icon} />
    </button>
  );
}

/** A text that is longer may have to be scrolled, also with the keyboard, in characters. */
const LONG = 400;

export function Banner(props: {
  icon: string;
  kind: "error" | "warning" | "info";
  text: string;
  children?: ComponentChildren;
}) {
  return (
    <div class={`banner ${props.kind}`} role="group" aria-label={props.text}>
      <Icon name={props.icon} />
      <span class="banner-text" dir="auto" tabIndex={props.text.length > LONG ? 0 : undefined}>
        {props.text}
      </span>
      {props.children && <span class="banner-actions">{props.children}</span>}
    </div>
  );
}

/** One line that is sent with Enter, but never while letters are composed. */
export function Field(props: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  onEnter: () => void;
  onEscape?: () => void;
  focus?: boolean;
}) {
  const key = (event: KeyboardEvent): void => {
    if (isComposing(event)) return;
    if (event.key === "Enter") {
      event.preventDefault();
      if (!event.repeat) props.onEnter();
    } else if (props.onEscape && escapes(event)) {
      props.onEscape();
    }
  };
  return (
    <input
      aria-label={props.label}
      placeholder={props.label}
      dir="auto"
      value={props.value}
      ref={props.focus ? focusOnce : null}
      onInput={(event) => props.onChange(event.currentTarget.value)}
      onKeyDown={key}
    />
  );
}

/** Of a field that the person asked for. */
function focusOnce(field: HTMLInputElement | null): void {
  field?.focus();
}

/** A part that opens and closes, and stays as the person left it. */
export function Fold(props: {
  open: boolean;
  onToggle: (open: boolean) => void;
  summary: ComponentChildren;
  children: ComponentChildren;
  class?: string;
}) {
  const toggle: JSX.ToggleEventHandler<HTMLDetailsElement> = (event) => {
    if (event.currentTarget.open !== props.open) props.onToggle(event.currentTarget.open);
  };
  return (
    <details class={props.class} open={props.open} onToggle={toggle}>
      <summary>{props.summary}</summary>
      {props.open && props.children}
    </details>
  );
}
