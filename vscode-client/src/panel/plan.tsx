// The agent's list of what is to be done.

import type { TodoItem } from "../wire/types";
import { useStore, useView } from "./use";
import { Fold, Icon } from "./widgets";

const ICONS: Record<TodoItem["state"], string> = {
  open: "circle-large-outline",
  active: "circle-large-filled",
  done: "check",
};

export function Plan() {
  const store = useStore();
  const { items, current } = useView(({ state }) => ({
    items: state.todo,
    current: state.todoTurn === state.turn,
  }));
  useView((view) => view.version); // it opens and closes
  const done = items.filter((item) => item.state === "done").length;
  const over = done === items.length;
  // A list that is done is of no use to the turns after it.
  if (!items.length || (over && !current)) return null;
  const id = over ? "plan-done" : "plan";
  return (
    <section class="plan" aria-label="Plan">
      <Fold
        open={store.isOpen(id, !over)}
        onToggle={(open) => store.setOpen(id, open)}
        summary={
          <span class="plan-head">
            <b>Plan</b>{" "}
            <span class="muted">
              · {done} of {items.length}
            </span>
          </span>
        }
      >
        <ul>
          {items.map((item, index) => (
            <li key={index} class={item.state}>
              <Icon name={ICONS[item.state] ?? ICONS.open} />
              <span class="plan-text" dir="auto">
                {item.text}
              </span>
              <span class="unseen">({item.state})</span>
            </li>
          ))}
        </ul>
      </Fold>
    </section>
  );
}
