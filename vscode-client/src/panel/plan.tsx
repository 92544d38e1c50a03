// The agent's list of what is to be done.

import type { TodoItem } from "../wire/types";
import { Icon } from "./widgets";

const ICONS: Record<TodoItem["state"], string> = {
  open: "circle-large-outline",
  active: "circle-large-filled",
  done: "check",
};

export function Plan({ items }: { items: TodoItem[] }) {
  if (!items.length) return null;
  const done = items.filter((item) => item.state === "done").length;
  return (
    <section class="plan" aria-label="Plan">
      <div class="plan-head">
        <b>Plan</b> <span class="muted">· {done} of {items.length}</span>
      </div>
      <ul>
        {items.map((item, index) => (
          <li key={index} class={item.state}>
            <Icon name={ICONS[item.state] ?? "circle-large-outline"} />
            <span>{item.text}</span>
            <span class="unseen">({item.state})</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
